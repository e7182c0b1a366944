// Package api has the handlers for programs, and for the forms that browsers post to the same addresses: questions
// (ask, agent, query), runs and their commands, conversations and their queues, documents and uploads, searches,
// feedback and exports. Handlers has one method for each address, next to the types of its bodies, which package
// openapi describes.
//
// A request is authorised by the guard and has its user. The response is JSON, a file, a stream of events, or for a
// browser's form a redirect or a fragment of the page. A handler returns its error, and package server encodes it
// for the client; a chat.Error's code determines the status (httpio.Status).
//
// The files: ask, agent and query start runs; runs, events and approve read and control them; steer repeats one from
// a step. sessions, session_tools, retrieval and queue are about conversations; upload, add_page, share, samples,
// documents and watched about documents; search, gather and retrieve_trace about passages; tables, standing, places
// and shares about their namesakes; export, feedback and health are the rest.
//
// It must access data only through a Scope, the request's user, and must not render pages: package page supplies the
// responses to forms.
package api

import (
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"

	"github.com/footnote/footnote/agent/grid"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources/addpage"
	"github.com/footnote/footnote/corpus/sources/follow"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/find"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/modelchoice"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/server/shares"
	"github.com/footnote/footnote/views"
)

// Handlers serves the API's routes. Browsers that post a form to one of them get a page or a fragment.
//
// All fields are set once and then only read, so it is safe for concurrent use.
type Handlers struct {
	Store     chat.Store
	Feed      *chat.Feed
	Library   *corpus.Library
	Runs      Runs
	Logs      *runlog.Reader
	Questions *ask.Questions
	Searcher  *find.Searcher
	Shares    *shares.Desk     // creates and opens links to answers
	Places    *follow.Follower // follows places
	Pages     *addpage.Adder   // imports web pages
	Models    modelchoice.Desk // selects the answering model
	Keeper    Keeper           // stores questions that are asked again
	Webhooks  Webhooks         // sends their changes
	Tables    *grid.Filler     // creates and fills tables over documents
	Gatherer  Gather           // lets the agent search for POST /agent/retrieve; nil: a plain search
	// a failed agent has no plain search as fallback
	GatherAlone bool
	// FallbackScore is the minimum similarity, 0–1, of the semantic search that is Gatherer's fallback.
	FallbackScore float64
	Checker       Checker // lets a language model check search results
	// returns the system message for a budget, for histories of sessions; nil: no system message
	Rules   func(chat.Budget) string
	Checks  []Check
	Samples fs.FS // the documents that POST /documents/samples adds; nil: none
	Version string
	Commit  string // of the build
	Date    string // of the commit

	Bodies  httpio.Bodies
	Streams *httpio.Streams
	Metrics *httpio.Metrics
	Guard   *httpio.Guard
	Limits  httpio.Limits
	Log     *slog.Logger

	// AskedFragment sends the turn of a new run to the page's script.
	AskedFragment func(httpio.Context, chat.Run) error
	// UploadRefused sends the page of refused files to a form; taken is the number of accepted ones.
	UploadRefused func(c httpio.Context, status, taken int, refused []views.RefusedFile) error
}

// Runs controls the runs.
//
// Its methods fail with chat.CodeNotFound for a run, or a queued question, that the user does not have.
type Runs interface {
	// Cancel cancels a run; a finished one fails with chat.CodeConflict.
	Cancel(ctx context.Context, s chat.Scope, runID string) error
	// AnswerNow makes a run answer from its results so far; a finished run fails with chat.CodeConflict.
	AnswerNow(ctx context.Context, s chat.Scope, runID string) error
	// Approve lets a pending call run, with another input if one is given. It fails with chat.CodeNotFound for a
	// call that was never pending, chat.CodeConflict if it was decided or its run is over, and chat.CodeInvalid for
	// an input that the tool does not accept.
	Approve(ctx context.Context, s chat.Scope, runID, callID string, input json.RawMessage) error
	// Deny prevents a pending call from running; the model gets the denial as its result.
	Deny(ctx context.Context, s chat.Scope, runID, callID string) error
	// Rerun starts a sibling of a finished run: it copies the steps up to a tool call, repeats that call with
	// another input, and continues.
	Rerun(
		ctx context.Context, s chat.Scope, runID, callID string, input json.RawMessage, key string,
	) (run chat.Run, fresh bool, err error)
	// Enqueue queues a question until its session's run is over.
	Enqueue(ctx context.Context, s chat.Scope, req chat.RunRequest) (chat.Queued, error)
	// SendNow moves a queued question to the front and ends the run under way: with answer, by an answer from its
	// results so far.
	SendNow(ctx context.Context, s chat.Scope, sessionID, id string, answer bool) error
	// Resend sends a session's first queued question if nothing blocks it.
	Resend(ctx context.Context, s chat.Scope, sessionID string)
}
