// Package modelchoice says which model answers, finds others on this machine, and lets those who may choose one of
// them.
package modelchoice

import (
	"context"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// Choice is the body of PUT /model: one of a server on this machine, by its port, or one of a service,
// by its name; the service "offline" is none at all.
type Choice struct {
	// Where a server of models listens on this machine: one of those that GET /model looks at. 0: none, a service is
	// meant.
	Port int `json:"port,omitempty" api:"min=0,max=65535"`
	// One of those that GET /model lists; "offline": none, rules answer.
	Service string `json:"service,omitempty" api:"max=20"`
	Model   string `json:"model,omitempty" api:"max=200"` // Its name there; empty: the service's usual one.
	Key     string `json:"key,omitempty" api:"max=400"`   // The service's key. No answer ever holds it.
}

// Tried is the answer of PUT /model: what was found of the model that answers from now on.
type Tried struct {
	Model  string `json:"model"`   // The model that answers from now on.
	Tools  bool   `json:"tools"`   // It calls tools; else rules search for it.
	TookMS int64  `json:"took_ms"` // How long its reply took.
}

// Found is the answer of GET /model.
type Found struct {
	Answering string    `json:"answering"` // The model of questions that name none; "offline": rules.
	Servers   []Server  `json:"servers"`   // The servers of models that were found on this machine.
	Services  []Service `json:"services"`  // The services that answer with a key.
	// Why the model that answers can't be used now; empty: it may.
	Trouble string `json:"trouble"`
	// Why the user can't choose; empty: they can.
	Locked string `json:"locked"`
}

// Server is a server of models that was found on this machine.
type Server struct {
	Program string  `json:"program"` // What usually listens at its port.
	Port    int     `json:"port"`    // Where it listens.
	Models  []Model `json:"models"`  // What it has.
}

// Model is what a server says of a model; what it does not say is left out.
type Model struct {
	Name      string `json:"name"`              // Its name at the server.
	Size      string `json:"size,omitempty"`    // Its parameters, like 8.2B.
	Bytes     int64  `json:"bytes,omitempty"`   // Of its file.
	Context   int    `json:"context,omitempty"` // Tokens that it can read at once.
	Tools     *bool  `json:"tools,omitempty"`   // It can call tools; left out: the server does not say.
	Loaded    bool   `json:"loaded"`            // It is in memory.
	Answering bool   `json:"answering"`         // It is the one that answers.
	Suggested bool   `json:"suggested"`         // Of all that were found the one that suits best.
}

// Service is a service elsewhere that answers whoever has a key.
type Service struct {
	Service string `json:"service"` // For the choice.
	Name    string `json:"name"`    // For people.
	Model   string `json:"model"`   // The one that is taken when none is named.
}

// Desk finds models and changes which one answers. The zero value can't: the settings say which.
type Desk struct {
	Find func(ctx context.Context) Found
	// Choose tries a model, and has it answer from then on if it does.
	Choose func(ctx context.Context, choice Choice) (Tried, error)
	// Operators are the users who may choose where users have keys.
	Operators []string
}

// Locked says why a request can't choose a model; empty: it can. Without keys it can where nobody but the local user
// reaches the server.
func (d Desk) Locked(c httpio.Context, guard *httpio.Guard) string {
	user := httpio.Scope(c).User
	switch {
	case d.Choose == nil:
		return "Several servers share this library: their settings say which model answers."
	case guard.KeyNeeded():
		if slices.Contains(d.Operators, user) {
			return ""
		}
		return "Whoever runs this server chooses the model, or lets you do it (FOOTNOTE_OPERATORS)."
	case !guard.ByLocalUser(c.Request()):
		return "Other machines reach this server: its settings say which model answers."
	}
	return ""
}

// Look is what GET /model answers, for a request.
func (d Desk) Look(c httpio.Context, guard *httpio.Guard, answering string) Found {
	if why := d.Locked(c, guard); why != "" {
		return Found{Answering: answering, Servers: []Server{}, Services: []Service{}, Locked: why}
	}
	found := d.Find(c.Request().Context())
	found.Answering = answering
	return found
}

// Take chooses a model for a request.
func (d Desk) Take(c httpio.Context, guard *httpio.Guard, choice Choice) (Tried, error) {
	if why := d.Locked(c, guard); why != "" {
		return Tried{}, &chat.Error{Code: chat.CodeForbidden, Message: why}
	}
	return d.Choose(c.Request().Context(), choice)
}
