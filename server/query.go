package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"footnote/chat"
)

// agentQuery is the body of POST /agent/query.
type agentQuery struct {
	Question  string         `json:"question"`
	Namespace string         `json:"namespace"`
	Context   *string        `json:"context"` // answer from this text alone
	Config    chat.RunConfig `json:"config"`
	History   [][2]string    `json:"history"` // earlier turns as [question, answer], oldest first
	SessionID string         `json:"session_id"`
	Toolset   string         `json:"toolset"`
}

// agentResponse is its answer, with the whole trace of the run.
type agentResponse struct {
	ID                  string          `json:"id"` // of the run
	SessionID           string          `json:"session_id"`
	Status              string          `json:"status"`
	Question            string          `json:"question"`
	Answer              string          `json:"answer"`
	Citations           []queryCitation `json:"citations"`
	Steps               []chat.Step     `json:"steps"`
	TotalSteps          int             `json:"total_steps"`
	TotalRetrievalCalls int             `json:"total_retrieval_calls"`
	Confidence          float64         `json:"confidence"`
	SelfEvaluation      string          `json:"self_evaluation,omitempty"`
	StopReason          chat.StopReason `json:"stop_reason,omitempty"`
	TotalLatencyMS      int64           `json:"total_latency_ms"`
	LLMTokensUsed       int             `json:"llm_tokens_used"`
	Error               *chat.StepError `json:"error,omitempty"`
}

// queryCitation is a citation under the names of this API, beside its number and link.
type queryCitation struct {
	Number         int     `json:"number"`
	ChunkID        string  `json:"chunk_id"`
	DocumentID     string  `json:"document_id"`
	ContentSnippet string  `json:"content_snippet"`
	Relevance      string  `json:"relevance"` // how the quote supports the answer, in words
	Score          float64 `json:"score"`
	Title          string  `json:"title"`
	URL            string  `json:"url"`
}

func (s *Server) agentQuery(c echo.Context) error {
	var body agentQuery
	if err := s.readJSON(c, &body); err != nil {
		return err
	}
	q := question{
		Message: body.Question, SessionID: body.SessionID, ContextText: body.Context, Namespace: body.Namespace,
		Toolset: body.Toolset, Config: body.Config, history: body.History,
	}
	t, err := s.runToEnd(c, q)
	if err != nil || t == nil {
		return err
	}
	res := agentResponse{
		ID: t.RunID, SessionID: t.SessionID, Status: apiStatus(t.Status), Question: t.Question, Answer: t.Text,
		Citations: []queryCitation{}, Steps: t.Steps, TotalSteps: len(t.Steps), TotalRetrievalCalls: t.retrievalCalls(),
		TotalLatencyMS: latency(t), LLMTokensUsed: t.Tokens.In + t.Tokens.Out, Error: t.Error,
	}
	for _, cite := range t.Citations {
		res.Citations = append(res.Citations, queryCitation{
			Number: cite.Number, ChunkID: cite.ChunkID, DocumentID: cite.DocumentID, ContentSnippet: cite.Quote,
			Relevance: relevance(cite), Score: cite.Score, Title: cite.Title, URL: cite.URL,
		})
	}
	if t.Answer != nil {
		res.Confidence, res.SelfEvaluation, res.StopReason = t.Answer.Confidence, t.Answer.SelfEvaluation, t.Answer.StopReason
	}
	return c.JSON(answerStatus(t), res)
}

func relevance(cite chat.Citation) string {
	where := cite.Title
	if cite.Section != "" {
		where += " › " + cite.Section
	}
	switch cite.Check {
	case chat.CheckVerified:
		return "Quoted word for word from " + where
	case chat.CheckApproximate:
		return "Close to the words of " + where
	}
	return "Ascribed to " + where + ", but the words were not found there"
}

// agentRetrieve answers POST /agent/retrieve: passages for a program that writes its own answer.
func (s *Server) agentRetrieve(c echo.Context) error {
	var body searchQuery
	if err := s.readJSON(c, &body); err != nil {
		return err
	}
	found, err := s.find(c, body)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, struct {
		Query      string         `json:"query"`
		Chunks     []searchResult `json:"chunks"`
		Total      int            `json:"total"`
		Strategy   string         `json:"strategy"`
		AgentTrace []chat.Step    `json:"agent_trace"`
		Notes      []string       `json:"notes"`
		LatencyMS  int64          `json:"latency_ms"`
	}{body.Query, found.results, len(found.results), found.strategy, []chat.Step{found.step}, found.notes, found.step.DurationMS})
}
