package server

import (
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/corpus"
	"footnote/server/ask"
	"footnote/server/find"
	"footnote/server/httpio"
	"footnote/server/runlog"
	"footnote/views"
)

// apiHandlers answers the API's own addresses. Browsers that post a form to one of them get a page or a piece of one.
type apiHandlers struct {
	store     chat.Store
	feed      *chat.Feed
	library   *corpus.Library
	runs      runControl
	logs      *runlog.Reader
	questions *ask.Questions
	searcher  *find.Searcher
	gathering gathering                // lets the agent search for POST /agent/retrieve; nil: a plain search
	rules     func(chat.Budget) string // what models are told with a budget, for the histories of sessions; nil: they have no system message
	checks    []Check
	samples   fs.FS // the documents that POST /documents/samples adds; nil: there are none
	version   string

	bodies  httpio.Bodies
	streams *httpio.Streams
	metrics *httpio.Metrics
	guard   *httpio.Guard
	limits  httpio.Limits
	log     *slog.Logger

	// askedFragment answers the page's script with the turn of a new run.
	askedFragment func(echo.Context, chat.Run) error
	// uploadRefused answers a form with the page of files that were not taken; taken is how many others were.
	uploadRefused func(c echo.Context, status, taken int, refused []views.RefusedFile) error
}

// runControl steers the work on questions.
type runControl interface {
	// Cancel stops a run; one that is over already fails with chat.CodeConflict.
	Cancel(ctx context.Context, s chat.Scope, runID string) error
	// AnswerNow makes a run answer from what it has; one that is over already fails with chat.CodeConflict.
	AnswerNow(ctx context.Context, s chat.Scope, runID string) error
	// Approve lets a call that waits for a person run, with another input if one is given. chat.CodeNotFound for one that never waited,
	// chat.CodeConflict for one that was decided or whose run is over, chat.CodeInvalid for an input that the tool does not take.
	Approve(ctx context.Context, s chat.Scope, runID, callID string, input json.RawMessage) error
	// Deny keeps such a call from running; the model is told.
	Deny(ctx context.Context, s chat.Scope, runID, callID string) error
	// Rerun starts a run beside an earlier one that is over: its steps up to a tool call, that call with another input, and what comes of it.
	Rerun(ctx context.Context, s chat.Scope, runID, callID string, input json.RawMessage, key string) (run chat.Run, fresh bool, err error)
	// Enqueue lets a question wait until its session's run is over.
	Enqueue(ctx context.Context, s chat.Scope, req chat.RunRequest) (chat.Queued, error)
	// SendNow puts a waiting question first and ends the run under way: with answer, by an answer from what it has.
	SendNow(ctx context.Context, s chat.Scope, sessionID, id string, answer bool) error
	// Resend sends a session's first waiting question if nothing is in its way any more.
	Resend(ctx context.Context, s chat.Scope, sessionID string)
}
