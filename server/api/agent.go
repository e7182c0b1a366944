package api

import (
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// AgentQuestion is the body of POST /agent/chat and /agent/chat/structured.
type AgentQuestion struct {
	ask.Question
	// The format of footnotes: [Source N] with a list of sources at the end (source, the default), or [N] (numeric).
	// A stream's text deltas have [N]; its answer event has the style, source only if it was named. The run, its
	// events and the conversation keep a named style.
	CitationStyle runlog.CitationStyle `json:"citation_style"`
}

// AgentAnswer is the body of their responses; Response and Citations belong to the first, Answer to the second.
type AgentAnswer struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	// How the run ended.
	Status string `json:"status" api:"values=success|cancelled|guardrail_triggered|citation_validation_failed"`
	// The answer, in Markdown with footnotes in the requested style.
	Response  string          `json:"response"`
	Citations []chat.Citation `json:"citations"`
	// The document of each [Source N], in order of the numbers.
	Sources []chat.Source `json:"sources"`
	runlog.Judged
	// The allowed sources of the answer: every document in scope, or the given text alone.
	RetrievalMode chat.Mode       `json:"retrieval_mode" api:"shared"`
	StopReason    chat.StopReason `json:"stop_reason,omitempty"`
	Tokens        chat.Tokens     `json:"tokens"`
	Cost          *float64        `json:"cost,omitempty"`
	LatencyMS     int64           `json:"latency_ms"`
	Error         *chat.StepError `json:"error,omitempty"`
}

// GroundedResponse is an answer with structured sources.
type GroundedResponse struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	// How the run ended.
	Status  string                  `json:"status" api:"values=success|cancelled|guardrail_triggered|citation_validation_failed"`
	Answer  string                  `json:"answer"`
	Sources []runlog.GroundedSource `json:"sources"` // The footnotes with their quotes, in order of their numbers.
	runlog.Judged
	RetrievalMode chat.Mode       `json:"retrieval_mode"`
	Error         *chat.StepError `json:"error,omitempty"`
}

// Chat handles POST /agent/chat: it asks a question and returns the answer with its citations.
//
// The status is 200, also for an answer that the documents have none, or 422 if a guardrail withheld the answer. A
// failed run is a problem with the run's id. With Accept: text/event-stream the response is the stream of the run's
// events.
func (a *Questions) Chat(c httpio.Context) error {
	q, t, err := a.askAndWait(c)
	if err != nil || t == nil {
		return err
	}
	text, citations := t.Spoken()
	answer := AgentAnswer{
		RunID: t.RunID, SessionID: t.SessionID, Status: runlog.APIStatus(t.Status),
		Response:  q.CitationStyle.Apply(text, citations, httpio.Origin(c)),
		Citations: citations, Sources: sourcesOf(citations), Judged: t.Judged(),
		RetrievalMode: t.Mode, Tokens: t.Tokens,
		Cost: t.Cost, LatencyMS: t.LatencyMS, Error: t.Error,
	}
	if t.Answer != nil && !t.Withheld() {
		answer.StopReason = t.Answer.StopReason
	}
	return c.JSON(answerStatus(t), answer)
}

// sourcesOf returns the source of each citation. Several citations may share a document.
func sourcesOf(citations []chat.Citation) []chat.Source {
	sources := make([]chat.Source, 0, len(citations))
	for _, cite := range citations {
		sources = append(sources, chat.Source{
			Number: cite.Number, DocumentID: cite.DocumentID, Title: cite.Title, Filename: cite.Filename,
			SourceURL: cite.SourceURL, Section: cite.Section, URL: cite.URL, Cited: true,
		})
	}
	return sources
}

// ChatStructured handles POST /agent/chat/structured: as Chat, with structured sources.
//
// The links of its sources are relative: base is empty. Footnotes have the requested style, without a list at the
// end, since the sources are a separate field.
func (a *Questions) ChatStructured(c httpio.Context) error {
	q, t, err := a.askAndWait(c)
	if err != nil || t == nil {
		return err
	}
	text, citations := t.Spoken()
	return c.JSON(answerStatus(t), GroundedResponse{
		RunID: t.RunID, SessionID: t.SessionID, Status: runlog.APIStatus(t.Status),
		Answer:  q.CitationStyle.Mark(text, citations),
		Sources: runlog.SourcesOf(citations, ""), Judged: t.Judged(), RetrievalMode: t.Mode, Error: t.Error,
	})
}

// askAndWait starts the run of an AgentQuestion and waits for its end. If the client requested a stream, it sends
// that and returns no trace.
//
// The style is validated before the run starts, and stored with the run.
func (a *Questions) askAndWait(c httpio.Context) (AgentQuestion, *runlog.Trace, error) {
	var q AgentQuestion
	if err := a.Bodies.ReadJSON(c, &q); err != nil {
		return q, nil, err
	}
	if err := q.CitationStyle.Check(); err != nil {
		return q, nil, err
	}
	q.Style = string(q.CitationStyle)
	frame := q.CitationStyle.Frame(httpio.Origin(c))
	t, err := a.runToEnd(c, q.Question, func(chat.Run) runlog.Framing { return frame })
	return q, t, err
}

// runToEnd waits for the end of a question's run, or streams it with a frame if the client requested that.
//
// The response is not cacheable: it is one user's, and repeating the question may give another answer. A failure
// after the run's start carries the run.
func (a *Questions) runToEnd(
	c httpio.Context, q ask.Question, frame func(chat.Run) runlog.Framing,
) (*runlog.Trace, error) {
	run, err := a.Questions.Start(c, q)
	if err != nil {
		return nil, err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	if httpio.WantsStream(c) {
		return nil, httpio.OfRun(run, a.Logs.Follow(c, run.ID, 0, runlog.Follower{Frame: frame(run)}))
	}
	t, err := a.Logs.Await(c.Request().Context(), httpio.Scope(c), run)
	if err != nil {
		return nil, httpio.OfRun(run, err)
	}
	return t, httpio.OfRun(run, runlog.FailureOf(t))
}

// answerStatus returns 422 for an answer that a guardrail withheld, else 200.
func answerStatus(t *runlog.Trace) int {
	if t.Withheld() {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}
