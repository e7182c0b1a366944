// Package modelchoice says which model answers, finds others on this machine, and lets those who may choose one of
// them.
package modelchoice

import (
	"context"
	"slices"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/server/httpio"
)

// Choice is the body of PUT /model: one of a server on this machine, by its port, or one of a service,
// by its name; the service "offline" is none at all.
type Choice struct {
	Port    int    `json:"port,omitempty"`
	Service string `json:"service,omitempty"`
	Model   string `json:"model,omitempty"`
	Key     string `json:"key,omitempty"`
}

// Tried is the answer of PUT /model: what was found of the model that answers from now on.
type Tried struct {
	Model  string `json:"model"`
	Tools  bool   `json:"tools"` // it calls tools; else rules search for it
	TookMS int64  `json:"took_ms"`
}

// Found is the answer of GET /model.
type Found struct {
	Answering string    `json:"answering"` // the model of questions that name none; "offline": rules
	Servers   []Server  `json:"servers"`
	Services  []Service `json:"services"`
	// why the model that answers can't be used now, so that rules answer; empty: nothing is known against it
	Trouble string `json:"trouble"`
	// why the user can't choose another; empty: they can
	Locked string `json:"locked"`
}

// Server is a server of models that was found on this machine.
type Server struct {
	Program string  `json:"program"`
	Port    int     `json:"port"`
	Models  []Model `json:"models"`
}

// Model is what a server says of a model; what it does not say is left out.
type Model struct {
	Name      string `json:"name"`
	Size      string `json:"size,omitempty"` // its parameters, like 8.2B
	Bytes     int64  `json:"bytes,omitempty"`
	Context   int    `json:"context,omitempty"` // tokens
	Tools     *bool  `json:"tools,omitempty"`
	Loaded    bool   `json:"loaded"`
	Answering bool   `json:"answering"` // it is the one that answers
	Suggested bool   `json:"suggested"` // of all that were found the one that suits best
}

// Service is a service elsewhere that answers whoever has a key.
type Service struct {
	Service string `json:"service"`
	Name    string `json:"name"`
	Model   string `json:"model"` // that is taken when none is named
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
func (d Desk) Locked(c echo.Context, guard *httpio.Guard) string {
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
func (d Desk) Look(c echo.Context, guard *httpio.Guard, answering string) Found {
	if why := d.Locked(c, guard); why != "" {
		return Found{Answering: answering, Servers: []Server{}, Services: []Service{}, Locked: why}
	}
	found := d.Find(c.Request().Context())
	found.Answering = answering
	return found
}

// Take chooses a model for a request.
func (d Desk) Take(c echo.Context, guard *httpio.Guard, choice Choice) (Tried, error) {
	if why := d.Locked(c, guard); why != "" {
		return Tried{}, &chat.Error{Code: chat.CodeForbidden, Message: why}
	}
	return d.Choose(c.Request().Context(), choice)
}
