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

// groundedSource is one citation of a grounded answer.
type groundedSource struct {
	Number     int        `json:"number"`
	DocumentID string     `json:"document_id"`
	ChunkID    string     `json:"chunk_id"`
	Title      string     `json:"title"`
	Section    string     `json:"section"`
	Page       int        `json:"page,omitempty"`
	URL        string     `json:"url"`
	SourceURL  string     `json:"source_url,omitempty"`
	Quote      string     `json:"quote"`
	Check      chat.Check `json:"check"`
	Score      float64    `json:"score"`
}

func (s *Server) agentChat(c echo.Context) error {
	q, t, err := s.askAndWait(c)
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

func (s *Server) agentChatStructured(c echo.Context) error {
	q, t, err := s.askAndWait(c)
	if err != nil || t == nil {
		return err
	}
	text, citations := t.spoken()
	return c.JSON(answerStatus(t), groundedResponse{
		RunID: t.RunID, SessionID: t.SessionID, Status: apiStatus(t.Status), Answer: q.CitationStyle.mark(text, citations),
		Sources: sourcesOf(citations, ""), judged: t.judged(), RetrievalMode: t.Mode, Error: t.Error,
	})
}

// sourcesOf spells citations out; base is put before their links.
func sourcesOf(citations []chat.Citation, base string) []groundedSource {
	out := make([]groundedSource, 0, len(citations))
	for _, cite := range citations {
		out = append(out, groundedSource{
			Number: cite.Number, DocumentID: cite.DocumentID, ChunkID: cite.ChunkID, Title: cite.Title, Section: cite.Section,
			Page: cite.Page, URL: absolute(base, cite.URL), SourceURL: cite.SourceURL, Quote: cite.Quote, Check: cite.Check, Score: cite.Score,
		})
	}
	return out
}

// askAndWait starts the run of an agentQuestion and waits for its end. When the client asked for a stream it sends that and
// returns no trace.
func (s *Server) askAndWait(c echo.Context) (agentQuestion, *trace, error) {
	var q agentQuestion
	if err := s.bodies.ReadJSON(c, &q); err != nil {
		return q, nil, err
	}
	if err := q.CitationStyle.check(); err != nil {
		return q, nil, err
	}
	q.style = q.CitationStyle
	t, err := s.runToEnd(c, q.question, q.CitationStyle.frame(httpio.Origin(c)))
	return q, t, err
}

// runToEnd waits for the end of a question's run, or streams it with frame when the client asked for that.
func (s *Server) runToEnd(c echo.Context, q question, frame framing) (*trace, error) {
	run, err := s.startRun(c, q)
	if err != nil {
		return nil, err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	if httpio.WantsStream(c) {
		return nil, httpio.OfRun(run, s.follow(c, run.ID, 0, follower{frame: frame}))
	}
	t, err := s.await(c.Request().Context(), httpio.Scope(c), run)
	if err != nil {
		return nil, httpio.OfRun(run, err)
	}
	return t, httpio.OfRun(run, failure(t))
}

// failure is the error of a run that ended without anything to hand over.
func failure(t *trace) error {
	if t.Status != chat.RunFailed && t.Status != chat.RunInterrupted {
		return nil
	}
	e := &chat.Error{Code: chat.CodeModelFailed, Message: "The question could not be answered. Ask it again in a moment."}
	if t.Status == chat.RunInterrupted {
		e.Code, e.Message = chat.CodeUnavailable, "The server stopped while it worked on the question. Ask it again."
	}
	if t.Error != nil {
		e.Code, e.Message = t.Error.Code, t.Error.Message
	}
	return e
}

// apiStatus is a run's status as the API has it: "success" for a completed one.
func apiStatus(status chat.RunStatus) string {
	if status == chat.RunCompleted {
		return "success"
	}
	return string(status)
}

func answerStatus(t *trace) int {
	if t.withheld() {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// withheld reports whether a guardrail ended the run: what it wrote until then is not an answer.
func (t *trace) withheld() bool {
	return t.Status == chat.RunGuardrailTriggered || t.Status == chat.RunCitationValidationFailed
}

// spoken is what a program gets as the run's answer. When a guardrail ended the run that is a sentence about it, without citations.
func (t *trace) spoken() (string, []chat.Citation) {
	switch {
	case !t.withheld():
		return t.Text, t.Citations
	case t.Error != nil && t.Error.Message != "":
		return t.Error.Message, []chat.Citation{}
	case t.Status == chat.RunGuardrailTriggered:
		return "Your question is outside of what can be answered here. Ask about your documents.", []chat.Citation{}
	}
	return "An answer whose footnotes all hold could not be written. Ask in other words, or about one thing at a time.", []chat.Citation{}
}

// latency is how long the run took, or has taken so far, in milliseconds.
func latency(t *trace) int64 {
	if t.Answer != nil && t.Answer.LatencyMS > 0 {
		return t.Answer.LatencyMS
	}
	last := t.log.LastAt
	if t.EndedAt != nil {
		last = *t.EndedAt
	}
	return max(0, last.Sub(t.CreatedAt).Milliseconds())
}
