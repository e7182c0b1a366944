// Package ask parses, validates and starts questions. Every entry point uses it: the API, the page, the API made for
// OpenAI's clients and the Model Context Protocol. It has the forms of a question and its defaults, and builds a
// chat.RunRequest; agent/run validates the request's options.
package ask

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
)

// Questions parses and validates questions and starts their runs. It is safe for concurrent use.
type Questions struct {
	Store   chat.Store
	Runs    Starter
	Bodies  httpio.Bodies
	Streams *httpio.Streams
	Metrics *httpio.Metrics
	Models  func() []string // the available models
}

// Starter starts runs.
type Starter interface {
	// Start stores a run and processes it independently of ctx, which limits only the storing. fresh is false if an
	// earlier run has the request's IdempotencyKey.
	Start(ctx context.Context, user string, req chat.RunRequest) (run chat.Run, fresh bool, err error)
}

// Question is the body of POST /chat. A form has the same fields, and idempotency_key.
type Question struct {
	Message string `json:"message" api:"need,filled,max=chat.MaxQuestion"` // The question.
	// The conversation to continue. An unknown ID starts a new one; without an ID one is generated. IDs are unique per
	// user.
	SessionID string `json:"session_id" api:"form=maybe"`
	// The text to answer from; the documents are not searched. The context of POST /agent/query differs: it adds text
	// to the documents.
	ContextText *string `json:"context_text" api:"filled,max=chat.MaxContext"`
	// Restricts the search to this namespace. Default: all. A namespace without documents is rejected with 404.
	Namespace string `json:"namespace" api:"form=namespace,shared"`
	// Restricts the search to these documents. An unknown ID is rejected with 404.
	DocumentIDs []string `json:"document_ids" api:"max=chat.MaxDocumentIDs,shared"`
	// The set of the model's tools. Default: the server's setting.
	Toolset string         `json:"toolset"`
	Config  chat.RunConfig `json:"config" api:"shared"` // Options of this run.
	// The run to create a sibling of, with the same or another message.
	Sibling string `json:"sibling"`

	// Fields that the handlers add to the request.
	AddedContext *string     `json:"-"` // text to answer from besides the documents
	Thorough     bool        `json:"-"` // turns omitted query decomposition and self-evaluation on
	History      [][2]string `json:"-"` // earlier external turns, as [question, answer]
	Stream       bool        `json:"-"` // the answer is streamed, regardless of the headers
	Instructions string      `json:"-"` // for the model, besides its rules
	Style        string      `json:"-"` // the format of footnotes
	Key          string      `json:"-"` // the Idempotency-Key of a request without one, in a protocol with request ids
}

// Read decodes a question from JSON or from the page's form. It validates only the form of the body; Request
// validates the question.
func (qs *Questions) Read(c httpio.Context) (Question, error) {
	var q Question
	if httpio.MediaType(c) == httpio.TypeJSON {
		err := qs.Bodies.ReadJSON(c, &q)
		return q, err
	}
	if err := qs.Bodies.ReadForm(c); err != nil {
		return q, err
	}
	form := c.Request().PostForm
	q = Question{
		Message: httpio.FormText(form, "message"), SessionID: form.Get("session_id"), Namespace: form.Get("namespace"),
		DocumentIDs: withoutEntry(form["document_ids"], ""), Toolset: form.Get("toolset"), Sibling: form.Get("sibling"),
	}
	q.Config.Model = form.Get("model")
	// an empty form field counts as absent
	if text := httpio.FormText(form, "context_text"); strings.TrimSpace(text) != "" {
		q.ContextText = &text
	}
	qs.inheritOptions(c, form, &q)
	if form.Has("new_session") {
		q.SessionID = ""
	}
	return q, nil
}

// withoutEntry returns a list without an entry. The question box sends an empty entry when no document is ticked.
func withoutEntry(list []string, entry string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == entry })
}

// Start validates a question and starts its run, once for each Idempotency-Key.
func (qs *Questions) Start(c httpio.Context, q Question) (chat.Run, error) {
	if httpio.WantsStream(c) || q.Stream {
		if err := qs.Streams.Check(httpio.Scope(c).User); err != nil {
			return chat.Run{}, err
		}
	}
	return qs.StartFor(c.Request().Context(), httpio.Scope(c), c.Path(), cmp.Or(httpio.IdempotencyKey(c), q.Key), q)
}

// StartFor is Start for a question on any route.
func (qs *Questions) StartFor(ctx context.Context, scope chat.Scope, route, key string, q Question) (chat.Run, error) {
	if qs.Streams.IsDraining() {
		return chat.Run{}, &chat.Error{
			Code: chat.CodeUnavailable, Message: "The server is restarting. Ask again in a few seconds.",
		}
	}
	req, err := qs.checkQuestion(key, q)
	if err != nil {
		return chat.Run{}, err
	}
	run, fresh, err := qs.Runs.Start(ctx, scope.User, req)
	if err != nil {
		return chat.Run{}, err
	}
	if fresh {
		qs.Metrics.RunStarted(route)
	}
	return run, nil
}

// Request validates a question and returns its run's request.
func (qs *Questions) Request(c httpio.Context, q Question) (chat.RunRequest, error) {
	return qs.checkQuestion(httpio.IdempotencyKey(c), q)
}

// checkQuestion builds and validates the request of a question.
func (qs *Questions) checkQuestion(key string, q Question) (chat.RunRequest, error) {
	req := chat.RunRequest{
		SessionID: q.SessionID, Message: q.Message, Namespace: q.Namespace, DocumentIDs: q.DocumentIDs,
		Toolset: q.Toolset, Config: q.Config, History: q.History, Instructions: q.Instructions, CitationStyle: q.Style,
		Sibling: q.Sibling, Thorough: q.Thorough, IdempotencyKey: key,
	}
	if q.ContextText != nil {
		if req.ContextText = *q.ContextText; corpus.Blank(req.ContextText) {
			return req, httpio.Invalid(
				"context_text is empty. Omit it, or send the text to answer from.",
			)
		}
	}
	if q.AddedContext != nil {
		if req.AddedContext = *q.AddedContext; corpus.Blank(req.AddedContext) {
			return req, httpio.Invalid(
				"The context is empty. Leave it out, or send text that the answer may rest on besides the documents.",
			)
		}
	}
	return req, req.Validate()
}

// AskedPage returns the address of the page that follows a question. It contains the run id, so that the page shows
// as new the events before it was loaded. The page's script removes the id from the address: a reload shows a past
// run.
func AskedPage(run chat.Run) string {
	return "/c/" + run.SessionID + "?asked=" + run.ID
}

// stashKey is the context key of a form's question.
const stashKey = "question"

// StashQuestion stores a form's question in the request's context, for the error page.
func StashQuestion(c httpio.Context, q Question) { c.Set(stashKey, q) }

// StashedQuestion returns the question of StashQuestion, if any.
func StashedQuestion(c httpio.Context) (Question, bool) {
	q, ok := c.Get(stashKey).(Question)
	return q, ok
}
