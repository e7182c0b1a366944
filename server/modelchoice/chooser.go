// Package modelchoice returns the answering model, discovers others on this machine, and lets authorised users
// choose one.
package modelchoice

import (
	"context"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/locale"
)

// Choice is the body of PUT /model: a model of a server on this machine, by its port, or of a service, by its name.
// The service "offline" uses no model.
type Choice struct {
	// The port of a local model server from GET /model. 0: use service.
	Port int `json:"port,omitempty" api:"min=0,max=65535"`
	// A model provider from GET /model; "offline": offline mode, without a model.
	Service string `json:"service,omitempty" api:"max=20"`
	Model   string `json:"model,omitempty" api:"max=200"` // The model name; empty: the provider's default.
	Key     string `json:"key,omitempty" api:"max=400"`   // The provider's API key. No response contains it.
}

// Tried is the response of PUT /model: the chosen model and the result of its test.
type Tried struct {
	Model  string `json:"model"`   // The model that answers from now on.
	Tools  bool   `json:"tools"`   // Whether it calls tools; if not, rules search for it.
	TookMS int64  `json:"took_ms"` // How long its reply took.
}

// Found is the response of GET /model.
type Found struct {
	Answering string    `json:"answering"` // The default model; "offline": offline mode.
	Servers   []Server  `json:"servers"`   // The model servers discovered on this machine.
	Services  []Service `json:"services"`  // The model providers that need an API key.
	// The reason why the current model is unavailable; empty: available.
	Trouble locale.Message `json:"trouble"`
	// The reason why the user can't select a model; empty: permitted.
	Locked locale.Message `json:"locked"`
}

// Server is a model server discovered on this machine.
type Server struct {
	Program string  `json:"program"` // The usual program of its port.
	Port    int     `json:"port"`    // Its port.
	Models  []Model `json:"models"`  // Its models.
}

// Model is a server's description of a model; unknown fields are left out.
type Model struct {
	Name      string `json:"name"`              // The model name at the server.
	Size      string `json:"size,omitempty"`    // The number of parameters, for example 8.2B.
	Bytes     int64  `json:"bytes,omitempty"`   // The file size.
	Context   int    `json:"context,omitempty"` // The context window in tokens.
	Tools     *bool  `json:"tools,omitempty"`   // Whether it supports tool calls; absent: unknown.
	Loaded    bool   `json:"loaded"`            // Whether it is loaded in memory.
	Answering bool   `json:"answering"`         // Whether it is the current model.
	Suggested bool   `json:"suggested"`         // The most suitable of all discovered models.
}

// Service is a remote service that needs a key.
type Service struct {
	Service string `json:"service"` // The identifier for the choice.
	Name    string `json:"name"`    // For people.
	Model   string `json:"model"`   // The default model.
}

// Chooser discovers models and changes the answering one. The zero value can't: the settings decide.
type Chooser struct {
	Find func(ctx context.Context) Found
	// Choose tests a model and, if the test succeeds, makes it the answering one.
	Choose func(ctx context.Context, choice Choice) (Tried, error)
	// Operators are the users who may choose if keys are used.
	Operators []string
}

// Locked returns why a request can't choose a model; empty if it can. Without keys it can if only the local user
// reaches the server.
func (ch Chooser) Locked(c httpio.Context, guard *httpio.Guard) locale.Message {
	user := httpio.Scope(c).User
	switch {
	case ch.Choose == nil:
		return "Several servers share this library. The model is set in their settings."
	case guard.KeyNeeded():
		if slices.Contains(ch.Operators, user) {
			return ""
		}
		return "Only operators can choose the model. Ask your administrator for access (FOOTNOTE_OPERATORS)."
	case !guard.ByLocalUser(c.Request()):
		return "Other machines can reach this server, so the model is set in its settings."
	}
	return ""
}

// Describe returns the response of GET /model for a request.
func (ch Chooser) Describe(c httpio.Context, guard *httpio.Guard, answering string) Found {
	if why := ch.Locked(c, guard); why != "" {
		return Found{Answering: answering, Servers: []Server{}, Services: []Service{}, Locked: why}
	}
	found := ch.Find(c.Request().Context())
	found.Answering = answering
	return found
}

// TryChoice chooses a model for a request.
func (ch Chooser) TryChoice(c httpio.Context, guard *httpio.Guard, choice Choice) (Tried, error) {
	if why := ch.Locked(c, guard); why != "" {
		return Tried{}, &chat.Error{Code: chat.CodeForbidden, Message: why}
	}
	return ch.Choose(c.Request().Context(), choice)
}
