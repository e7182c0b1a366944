package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/server/httpio"
)

// agentQuestion is the body of POST /agent/chat and /agent/chat/structured.
type agentQuestion struct {
	question
	CitationStyle citationStyle `json:"citation_style"`
}

// agentAnswer is the body of their answers; Response and Citations belong to the first, Answer to the second.
type agentAnswer struct {
	RunID     string          `json:"run_id"`
	SessionID string          `json:"session_id"`
	Status    string          `json:"status"`
	Response  string          `json:"response"`
	Citations []chat.Citation `json:"citations"`
	Sources   []chat.Source   `json:"sources"`
	judged
	RetrievalMode chat.Mode       `json:"retrieval_mode"`
	StopReason    chat.StopReason `json:"stop_reason,omitempty"`
	Tokens        chat.Tokens     `json:"tokens"`
	Cost          *float64        `json:"cost,omitempty"`
	LatencyMS     int64           `json:"latency_ms"`
	Error         *chat.StepError `json:"error,omitempty"`
}

// groundedResponse is an answer with its sources spelled out.
type groundedResponse struct {
	RunID     string           `json:"run_id"`
	SessionID string           `json:"session_id"`
	Status    string           `json:"status"`
	Answer    string           `json:"answer"`
	Sources   []groundedSource `json:"sources"`
	judged
	RetrievalMode chat.Mode       `json:"retrieval_mode"`
	Error         *chat.StepError `json:"error,omitempty"`
}

func (a *apiHandlers) agentChat(c echo.Context) error {
	q, t, err := a.askAndWait(c)
	if err != nil || t == nil {
		return err
	}
	text, citations := t.spoken()
	answer := agentAnswer{
		RunID: t.RunID, SessionID: t.SessionID, Status: apiStatus(t.Status), Response: q.CitationStyle.apply(text, citations, httpio.Origin(c)),
		Citations: citations, Sources: []chat.Source{}, judged: t.judged(), RetrievalMode: t.Mode, Tokens: t.Tokens,
		Cost: t.Cost, LatencyMS: t.LatencyMS, Error: t.Error,
	}
	if a := t.Answer; a != nil && !t.withheld() {
		answer.Sources, answer.StopReason = httpio.NotNil(a.Sources), a.StopReason
	}
	return c.JSON(answerStatus(t), answer)
}

func (a *apiHandlers) agentChatStructured(c echo.Context) error {
	q, t, err := a.askAndWait(c)
	if err != nil || t == nil {
		return err
	}
	text, citations := t.spoken()
	return c.JSON(answerStatus(t), groundedResponse{
		RunID: t.RunID, SessionID: t.SessionID, Status: apiStatus(t.Status), Answer: q.CitationStyle.mark(text, citations),
		Sources: sourcesOf(citations, ""), judged: t.judged(), RetrievalMode: t.Mode, Error: t.Error,
	})
}

// askAndWait starts the run of an agentQuestion and waits for its end. When the client asked for a stream it sends that and
// returns no trace.
func (a *apiHandlers) askAndWait(c echo.Context) (agentQuestion, *trace, error) {
	var q agentQuestion
	if err := a.bodies.ReadJSON(c, &q); err != nil {
		return q, nil, err
	}
	if err := q.CitationStyle.check(); err != nil {
		return q, nil, err
	}
	q.style = q.CitationStyle
	t, err := a.runToEnd(c, q.question, q.CitationStyle.frame(httpio.Origin(c)))
	return q, t, err
}

// runToEnd waits for the end of a question's run, or streams it with frame when the client asked for that.
func (a *apiHandlers) runToEnd(c echo.Context, q question, frame framing) (*trace, error) {
	run, err := a.questions.start(c, q)
	if err != nil {
		return nil, err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	if httpio.WantsStream(c) {
		return nil, httpio.OfRun(run, a.logs.follow(c, run.ID, 0, follower{frame: frame}))
	}
	t, err := a.logs.await(c.Request().Context(), httpio.Scope(c), run)
	if err != nil {
		return nil, httpio.OfRun(run, err)
	}
	return t, httpio.OfRun(run, failure(t))
}

func answerStatus(t *trace) int {
	if t.withheld() {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}
