package chat

import (
	"bytes"
	"encoding/json"
	"time"
)

// Session is one conversation. TurnCount counts the shown branch only, so it can fall when another branch is shown.
type Session struct {
	ID        string
	User      string
	Title     string // the first question, shortened, until it is renamed
	HeadID    string // the run at the end of the branch that is shown; empty for a session without runs
	TurnCount int    // runs on the shown branch
	CreatedAt time.Time
	UpdatedAt time.Time
	Running   bool      // a run is under way
	DeletedAt time.Time // zero unless hidden, waiting to be purged
}

// Run is one question and the work on it. Runs of a session form a tree: regenerating or editing a question adds a
// sibling (same ParentID); the shown branch goes from the root to Session.HeadID. Its row is the sum of its log for
// lists and searches: status, answer and tokens are set by the appends that hold them, in one transaction.
type Run struct {
	ID        string
	SessionID string
	User      string
	ParentID  string // the run before it on its branch; empty for a first question
	Request   RunRequest
	Status    RunStatus
	Answer    string // the final Markdown; empty until there is one
	CreatedAt time.Time
	EndedAt   time.Time // zero while running
	Tokens    Tokens
	// Unreadable means that the stored request is damaged: Request holds nothing but the session.
	Unreadable bool
}

// Damaged is a run whose stored request could not be decoded. It keeps the session's id so that the tree can be drawn
// around it; its log may still be whole.
func (r Run) Damaged() Run {
	r.Request, r.Unreadable = RunRequest{SessionID: r.SessionID}, true
	return r
}

// RunRequest is all that a run is made from. It is stored with the run, so that a run can be carried on or repeated.
// Its JSON is also what two requests under one Idempotency-Key are compared by (Digest), so a field that is added must
// be left out when empty, or a client that repeats its request over an upgrade is refused.
type RunRequest struct {
	SessionID   string `json:"session_id"`
	Message     string `json:"message"`
	ContextText string `json:"context_text,omitempty"`
	// AddedContext is text that the asker gives besides the documents: the run searches as always and may answer from
	// this text too.
	AddedContext string    `json:"added_context,omitempty"`
	Namespace    string    `json:"namespace,omitempty"`
	DocumentIDs  []string  `json:"document_ids,omitempty"` // narrow the run to these; empty: all in scope
	Toolset      string    `json:"toolset,omitempty"`
	Config       RunConfig `json:"config"`
	// History holds turns from outside, as [question, answer], oldest first. They come before the session's own.
	History [][2]string `json:"history,omitempty"`
	// Instructions are what the asker tells the model besides: a tone, a form, a language. They change no rule.
	Instructions string `json:"instructions,omitempty"`
	// Thorough means that omitted Config.EnableQueryDecomposition and Config.EnableSelfEvaluation are on, unless
	// rules answer.
	Thorough bool `json:"-"`
	// CitationStyle is how the asker wants the answer's footnotes written where a program reads it. The log has [N]
	// whatever it says; empty: [N].
	CitationStyle  string `json:"citation_style,omitempty"`
	IdempotencyKey string `json:"-"` // 1–255 bytes, per user; empty for none
	// Sibling names the run whose place in the tree the new one shares (regenerate, edit). Empty: the new run follows
	// the head.
	Sibling string `json:"sibling,omitempty"`
	// From makes the run repeat an earlier one up to one of its tool calls. Nil: it begins at the beginning.
	From *From `json:"from,omitempty"`
}

// SameAs reports whether two requests ask the same, whatever their keys are. Fields that are not stored, such as the
// key, do not count.
func (r RunRequest) SameAs(other RunRequest) bool {
	mine, err := json.Marshal(r)
	theirs, otherErr := json.Marshal(other)
	return err == nil && otherErr == nil && bytes.Equal(mine, theirs)
}

// From is a tool call of an earlier run that is made again with another input. The new run copies the steps before that
// call into its own log and goes on from there.
type From struct {
	RunID  string          `json:"run_id"`
	CallID string          `json:"call_id"`
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input"`
}

// RunConfig is what a request may set for its own run. Nil means the server's default. Pointers tell an omitted value
// from zero or false, which mean something here.
type RunConfig struct {
	// The model's name.
	Model string `json:"model,omitempty" api:"shared"` // one of those allowed
	// The model's, 0 to 2. A step says so when the model takes none, or less.
	Temperature *float64 `json:"temperature,omitempty" api:"min=0,max=2,shared"`
	// Passed on to the model: the same seed gives the same result where the model can. A model that takes none gets
	// none, and a step says so.
	Seed *int64 `json:"seed,omitempty" api:"shared"`
	// Turns of the model.
	MaxSteps *int `json:"max_steps,omitempty" api:"min=1,max=MostTurnsOrCalls"`
	// Calls of tools that search or read.
	MaxRetrievalCalls *int `json:"max_retrieval_calls,omitempty" api:"min=1,max=MostTurnsOrCalls"`
	// How many passages a search gives.
	RetrievalTopK    *int  `json:"retrieval_top_k,omitempty" api:"min=1,max=50"`
	RequireCitations *bool `json:"require_citations,omitempty"` // Every claim needs a footnote.
	// Have the model judge whether its answer fully addresses the question and which of its sentences the texts it
	// rests on do not say, which costs a call of it; a confidence below 0.5 sends it searching again while the budget
	// lasts. Left out, it is on in POST /agent/query and with the toolsets react and strategy, and elsewhere rules
	// judge. False leaves self_evaluation out.
	EnableSelfEvaluation *bool `json:"enable_self_evaluation,omitempty"`
	// Have the model split the question into parts, which costs a call of it. Left out, it is on in POST /agent/query
	// and with the toolset react, with the toolset strategy for questions that are not simple, and elsewhere rules
	// split complex questions. Without a model rules do it.
	EnableQueryDecomposition *bool `json:"enable_query_decomposition,omitempty"`
	// Put what searches find in order once more: by a reranker if the server has one, else by a closer look at the
	// words. Without it: only if there is a reranker.
	RerankResults *bool `json:"rerank_results,omitempty"`
	// Write the steps of this run to the server's log at its usual level, rather than only when the log is set to
	// debug. The steps themselves are the same.
	VerboseLogging *bool `json:"verbose_logging,omitempty"`
	// True lets the model call tools as it sees fit. False follows the fixed pipeline: search, read, answer. Left out,
	// the server's setting decides. A model that is too weak for tools follows the pipeline in any case.
	UseAgentMode *bool `json:"use_agent_mode,omitempty"`
	// Who chooses the first tools; none: as the server is set.
	Selection    string   `json:"selection,omitempty" api:"values=model|rules|auto"`
	EnabledTools []string `json:"enabled_tools,omitempty" api:"max=50"` // Only these tools, from any toolset.
}
