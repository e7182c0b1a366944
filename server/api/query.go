package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/find"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/text/sse"
)

// retrieveTime is the timeout of POST /agent/retrieve. A search takes far less; an agent that searches may exceed it
// and is cancelled.
const retrieveTime = 30 * time.Second

// AgentQuery is the body of POST /agent/query.
type AgentQuery struct {
	Question  string `json:"question" api:"need,filled,max=chat.MaxQuestion"`
	Namespace string `json:"namespace" api:"form=namespace"`
	// Additional text to answer from, besides the documents, which are searched as usual. Statements supported by it
	// alone have no footnote.
	Context *string        `json:"context" api:"filled,max=chat.MaxContext"`
	Config  chat.RunConfig `json:"config"`
	History [][]string     `json:"history" api:"pairs"` // Earlier turns as [question, answer], oldest first.
	// The conversation to continue. An unknown ID starts a new one; without an ID one is generated. IDs are unique per
	// user.
	SessionID string `json:"session_id" api:"form=maybe"`
	// The set of the model's tools, with its limits and its temperature. Default: react, unless the settings name
	// another than cursor.
	Toolset string `json:"toolset"`
}

// AgentResponse is its response, with the whole trace of the run.
type AgentResponse struct {
	ID        string `json:"id"` // The run ID: GET /agent/runs/{id} returns the run.
	SessionID string `json:"session_id"`
	// How the run ended.
	Status    string          `json:"status" api:"values=success|cancelled|guardrail_triggered|citation_validation_failed"`
	Question  string          `json:"question"`
	Answer    string          `json:"answer"`
	Citations []queryCitation `json:"citations"`
	Steps     []queryStep     `json:"steps"`
	// The number of steps, including phases without a tool; max_steps limits steps_used.
	TotalSteps          int `json:"total_steps"`
	StepsUsed           int `json:"steps_used"`            // model turns, limited by max_steps
	TotalRetrievalCalls int `json:"total_retrieval_calls"` // Calls to search and read tools.
	runlog.Judged
	StopReason     chat.StopReason `json:"stop_reason,omitempty"`
	TotalLatencyMS int64           `json:"total_latency_ms"` // The run's duration, in milliseconds.
	LLMTokensUsed  int             `json:"llm_tokens_used"`  // Input and output tokens of the model.
	Cost           *float64        `json:"cost,omitempty"`
	Error          *chat.StepError `json:"error,omitempty"`
}

// queryCitation is a citation under this API's names, with its number and link.
type queryCitation struct {
	Number         int     `json:"number"`
	ChunkID        string  `json:"chunk_id"`
	DocumentID     string  `json:"document_id"`
	ContentSnippet string  `json:"content_snippet"` // The quote.
	Relevance      string  `json:"relevance"`       // A sentence about the quote's support for the answer.
	Score          float64 `json:"score"`
	Title          string  `json:"title"`
	SourceURL      string  `json:"source_url,omitempty"`
	URL            string  `json:"url"`
	Added          bool    `json:"added,omitempty"`
}

// Query handles POST /agent/query: it asks a thorough question and returns the answer with the run's steps.
//
// It is for programs that keep the conversation themselves: the request has the history. The status is that of POST
// /agent/chat. A stream ends with the whole response after run_done.
func (a *Questions) Query(c httpio.Context) error {
	var body AgentQuery
	if err := a.Bodies.ReadJSON(c, &body); err != nil {
		return err
	}
	history, err := questionPairs(body.History)
	if err != nil {
		return err
	}
	q := ask.Question{
		Message: body.Question, SessionID: body.SessionID, Namespace: body.Namespace,
		Toolset: body.Toolset, Config: body.Config, AddedContext: body.Context, Thorough: true, History: history,
	}
	t, err := a.runToEnd(c, q, func(run chat.Run) runlog.Framing {
		return a.queryFrame(c.Request().Context(), httpio.Scope(c), run.ID)
	})
	if err != nil || t == nil {
		return err
	}
	return c.JSON(answerStatus(t), newAgentResponse(t))
}

// newAgentResponse converts a finished run to this API's names.
func newAgentResponse(t *runlog.Trace) AgentResponse {
	text, citations := t.Spoken()
	res := AgentResponse{
		ID: t.RunID, SessionID: t.SessionID, Status: runlog.APIStatus(t.Status), Question: t.Question, Answer: text,
		Citations: httpio.Each(citations, func(cite chat.Citation) queryCitation {
			return queryCitation{
				Number: cite.Number, ChunkID: cite.ChunkID, DocumentID: cite.DocumentID, ContentSnippet: cite.Quote,
				Relevance: relevanceOf(cite), Score: cite.Score, Title: cite.Title,
				SourceURL: cite.SourceURL, URL: cite.URL, Added: cite.Added,
			}
		}), Steps: querySteps(t.Steps), TotalSteps: len(t.Steps),
		TotalRetrievalCalls: t.RetrievalCalls(),
		Judged:              t.Judged(), TotalLatencyMS: t.LatencyMS, LLMTokensUsed: t.Tokens.In + t.Tokens.Out,
		Cost: t.Cost, Error: t.Error,
	}
	res.StepsUsed = t.StepsUsed()
	if t.Answer != nil && !t.Withheld() {
		res.StopReason = t.Answer.StopReason
	}
	return res
}

// questionPairs validates the turns of a request: each is a question and its answer, both not empty.
//
// Footnotes of earlier answers are removed, since their numbers would refer to other passages. The 400 error names
// the invalid entry, counted from 1.
func questionPairs(turns [][]string) ([][2]string, error) {
	list := make([][2]string, 0, len(turns))
	for i, turn := range turns {
		if len(turn) != 2 || corpus.Blank(turn[0]) || corpus.Blank(turn[1]) {
			return nil, httpio.Invalid(
				"history must be a list of [question, answer], both with text. Entry {1} is invalid.", i+1,
			)
		}
		list = append(list, [2]string{turn[0], runlog.WithoutFootnotes(turn[1])})
	}
	return list, nil
}

// relevanceOf returns a sentence about a citation's support for the answer.
func relevanceOf(cite chat.Citation) string {
	where := runlog.PlaceName(cite.Title, cite.Section, " › ")
	switch cite.Check {
	case chat.CheckVerified:
		return "Quoted word for word from " + where
	case chat.CheckApproximate:
		return "Quoted with differences from " + where
	case chat.CheckNotFound:
	}
	return "Ascribed to " + where + ", but the quote was not found there"
}

// RetrieveResponse is the response of POST /agent/retrieve.
type RetrieveResponse struct {
	Query  string  `json:"query"`
	Chunks []chunk `json:"chunks"` // The passages found, best first.
	Total  int     `json:"total"`  // The number of passages.
	// The search strategy: agentic (the steps have the tools), or hybrid, lexical, semantic for a plain search.
	Strategy   string     `json:"strategy"`
	AgentTrace agentTrace `json:"agent_trace"` // The trace of the search.
	Notes      []string   `json:"notes"`
	LatencyMS  int64      `json:"latency_ms"`
}

// chunk is a passage with its retrieval method.
type chunk struct {
	find.SearchResult
	ChunkID    string     `json:"chunk_id"`
	Strategy   string     `json:"strategy"`    // The search strategy.
	AgentTrace chunkTrace `json:"agent_trace"` // The trace of the passage.
}

// newRetrieveResponse returns the passages of a search with its strategy and steps.
func newRetrieveResponse(
	query string, found []find.SearchResult, strategy string, steps []chat.Step, spent chat.Spent, notes []string,
	tookMS int64,
) RetrieveResponse {
	res := RetrieveResponse{
		Query: query, Chunks: make([]chunk, 0, len(found)), Total: len(found), Strategy: strategy,
		AgentTrace: newAgentTrace(query, steps, spent),
		Notes:      httpio.NotNil(notes), LatencyMS: tookMS,
	}
	for _, r := range found {
		res.Chunks = append(res.Chunks, chunk{r, r.Metadata.ChunkID, strategy, res.AgentTrace.of(r.Metadata.ChunkID)})
	}
	return res
}

// Retrieve handles POST /agent/retrieve: passages for a program that writes its own answer.
//
// It counts as one search of the user, also if an agent searches. A language model checks the results if the
// settings or the request say so. A search that exceeds retrieveTime fails with chat.CodeTimeout, encoded as 500. If
// the agent fails, a plain search is the fallback, and notes report it.
func (a *Passages) Retrieve(c httpio.Context) error {
	var body find.SearchQuery
	if err := a.Bodies.ReadJSON(c, &body); err != nil {
		return err
	}
	if body.Check == nil {
		retrieved := a.Checker.Check != nil && a.Checker.Retrieved()
		body.Check = &retrieved
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(c.Request().Context(), retrieveTime)
	defer cancel()
	c.SetRequest(c.Request().WithContext(ctx))
	if err := a.Searcher.Spend(ctx, httpio.Scope(c), body); err != nil {
		return err
	}
	res, ok, err := a.gatherResults(c, body, began)
	if err != nil {
		return err
	}
	if ok {
		return c.JSON(http.StatusOK, res)
	}
	var found found
	if res.Query != "" { // the agent searched
		found, err = a.fallBack(c, body)
	} else {
		found, err = a.runSearch(c, body, nil)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &chat.Error{
			Code:    chat.CodeTimeout,
			Message: "The search timed out after 30 seconds. Narrow it with filters, or try again later.",
			Err:     err,
		}
	}
	if err != nil {
		return err
	}
	steps, notes := append(res.AgentTrace.Steps, found.steps()...), append(res.Notes, found.notes...)
	spent := chat.Spent{Tokens: res.AgentTrace.Tokens, Cost: res.AgentTrace.Cost}
	return c.JSON(http.StatusOK, newRetrieveResponse(
		body.Query, found.results, found.strategy, steps, spent.And(found.spent), notes,
		time.Since(began).Milliseconds(),
	))
}

// queryStep is a step in POST /agent/query: the step itself, and the same as an action and an observation.
type queryStep struct {
	chat.Step
	StepNumber  int              `json:"step_number"` // Its position, from 1.
	Action      queryAction      `json:"action"`      // The action and its reason.
	Observation queryObservation `json:"observation"` // The result.
}

// queryAction is a step's action.
type queryAction struct {
	Tool      string          `json:"tool" api:"shared"` // The tool, or the phase of a step without one.
	ToolInput json.RawMessage `json:"tool_input"`        // The tool's input.
	Thought   string          `json:"thought"`           // The model's reason for the step.
}

// queryObservation is a step's result.
type queryObservation struct {
	Result    any     `json:"result"`  // The tool's result; null until the call ends.
	Success   *bool   `json:"success"` // Whether the call succeeded; null while it runs.
	Error     *string `json:"error"`   // null without one
	LatencyMS int64   `json:"latency_ms"`
}

// querySteps converts a run's steps to the form of POST /query.
func querySteps(steps []chat.Step) []queryStep {
	out := make([]queryStep, 0, len(steps))
	for i, s := range steps {
		out = append(out, newQueryStep(s, i+1))
	}
	return out
}

// newQueryStep converts one step; number counts from 1.
//
// An absent input becomes an empty object, and an absent output null, so that clients find both fields.
func newQueryStep(s chat.Step, number int) queryStep {
	q := queryStep{
		Step: s, StepNumber: number,
		Action:      queryAction{Tool: s.Step, ToolInput: s.ToolInput, Thought: s.Thought},
		Observation: queryObservation{LatencyMS: s.DurationMS},
	}
	if s.Status != chat.StatusPending && s.Status != chat.StatusRunning {
		success := s.Status == chat.StatusComplete
		q.Observation.Success = &success
	}
	if len(q.Action.ToolInput) == 0 {
		q.Action.ToolInput = json.RawMessage(`{}`)
	}
	if len(s.ToolOutput) > 0 {
		q.Observation.Result = s.ToolOutput
	}
	if s.Error != nil {
		q.Observation.Error = &s.Error.Message
	}
	return q
}

// responseEvent is the last event in the stream of POST /agent/query. It is not in the run's log and has no number.
const responseEvent = "response"

// queryFrame encodes a run's log for the stream of POST /agent/query: each step also has an action and an
// observation, and the whole response follows run_done.
//
// It keeps state between calls, so each stream needs its own, from the first event.
func (a *Questions) queryFrame(ctx context.Context, scope chat.Scope, runID string) runlog.Framing {
	steps := runlog.Trace{} // keeps each step's number, input and thought
	return func(dst []byte, entry *chat.Entry) ([]byte, error) {
		switch entry.Type {
		case chat.KindReasoningStep:
			if err := steps.Add(entry.Event); err != nil {
				return dst, err
			}
			return stepFrame(&steps, dst, entry)
		case chat.KindStartOver:
			steps = runlog.Trace{}
		case chat.KindRunDone:
			t, err := a.Logs.Trace(ctx, scope, runID)
			if err != nil {
				return dst, err
			}
			body, err := json.Marshal(newAgentResponse(t))
			if err != nil {
				return dst, fmt.Errorf("encode the response: %w", err)
			}
			if dst, err = runlog.ProgramFrame(dst, entry); err != nil {
				return dst, err
			}
			return sse.Append(dst, 0, responseEvent, body), nil
		default: // unchanged
		}
		return runlog.ProgramFrame(dst, entry)
	}
}

// stepFrame encodes a step's event with the additional fields of POST /agent/query.
func stepFrame(t *runlog.Trace, dst []byte, entry *chat.Entry) ([]byte, error) {
	p, err := entry.Event.Payload()
	if err != nil {
		return dst, err
	}
	step, ok := p.(chat.Step)
	if !ok {
		return dst, fmt.Errorf("event %d contains no step", entry.Seq)
	}
	at, known := t.Log.Position(step.CallID)
	if !known {
		return dst, fmt.Errorf("could not add event %d to the trace", entry.Seq)
	}
	q := newQueryStep(t.Steps[at], at+1)
	more, err := json.Marshal(struct {
		StepNumber  int              `json:"step_number"`
		Action      queryAction      `json:"action"`
		Observation queryObservation `json:"observation"`
	}{q.StepNumber, q.Action, q.Observation})
	if err != nil {
		return dst, fmt.Errorf("encode a step: %w", err)
	}
	body := append(bytes.TrimSuffix(bytes.Clone(entry.JSON), []byte("}")), ',')
	return sse.Append(dst, entry.Seq, string(entry.Type), append(body, more[1:]...)), nil
}
