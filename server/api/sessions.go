package api

import (
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/text/locale"
	"github.com/footnote/footnote/views"
)

// HistoryMessages is the maximum number of messages in a response, the newest. The API's description contains the
// number, so a change of it changes the API.
const HistoryMessages = 50

// Sessions serves the conversations and their queues of questions.
type Sessions struct {
	Store     chat.Store
	Feed      *chat.Feed
	Logs      *runlog.Reader
	Runs      RunController
	Questions *ask.Questions
	Bodies    httpio.Bodies
	// returns the system message for a budget, for histories; nil: no system message
	Rules func(chat.Budget) string
	Log   *slog.Logger
}

// SessionInfo is a session in a list.
type SessionInfo struct {
	SessionID string    `json:"session_id"`
	Title     string    `json:"title"`
	TurnCount int       `json:"turn_count"` // The number of questions.
	Running   bool      `json:"running"`    // Whether a run is active.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// message is one side of a turn.
type message struct {
	// The role of the speaker.
	Role      string     `json:"role" api:"values=RoleSystem|RoleUser|RoleAssistant|RoleTool,shared"`
	Content   string     `json:"content" api:"shared"` // The text.
	Timestamp time.Time  `json:"timestamp"`            // The time of the message.
	RunID     string     `json:"run_id,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"` // The assistant's tool calls.
	Name      string     `json:"name,omitempty"`       // The tool.
	CallID    string     `json:"call_id,omitempty"`    // The ID of the tool call.
}

// The roles of messages.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// SessionHistory is a session with its last messages, oldest first, and their searches and reads.
type SessionHistory struct {
	SessionInfo
	Messages []message `json:"messages"` // The messages, oldest first.
	// The searches and reads of these messages, oldest first.
	RetrievalHistory []Retrieval `json:"retrieval_history"`
	StartedAt        time.Time   `json:"started_at"` // Same as created_at.
	// Notes on the conversation: the number of turns that can't be loaded because their stored rows are damaged.
	Notes []string `json:"notes"`
}

// SessionList is one page of sessions.
type SessionList struct {
	Sessions []SessionInfo `json:"sessions"`       // The conversations, latest first.
	Next     string        `json:"next,omitempty"` // the cursor of the next page
}

// SessionTitle is the body of PATCH /sessions/{id}.
type SessionTitle struct {
	Title string `json:"title" api:"need,filled,max=200"` // The new title.
}

// SessionHead is the body of POST /sessions/{id}/head.
type SessionHead struct {
	RunID string `json:"run_id" api:"need,form=run"` // The last run of the branch to show.
}

// History handles GET /agent/session/{id} and GET /sessions/{id}: the shown branch.
//
// Damaged turns are left out and reported in notes: the rest stays readable. An answer that a guardrail withheld is
// replaced by a sentence. With ?tools=true the system message comes first and counts as one of the messages.
func (a *Sessions) History(c httpio.Context) (h SessionHistory, err error) {
	tools, err := httpio.QueryFlag(c, "tools")
	if err != nil {
		return h, err
	}
	ctx := c.Request().Context()
	session, err := a.Logs.Branch(ctx, httpio.Scope(c), c.Param("id"))
	if err != nil {
		return h, err
	}
	messages := []message{}
	// Each run has at least one message, so earlier runs are not needed.
	for _, run := range session.Shown[max(0, len(session.Shown)-HistoryMessages):] {
		messages = append(
			messages, message{Role: RoleUser, Content: run.Request.Message, Timestamp: run.CreatedAt, RunID: run.ID},
		)
		if run.Answer != "" || run.Status == chat.RunCancelled || run.Status == chat.RunGuardrailTriggered ||
			run.Status == chat.RunCitationValidationFailed {
			messages = append(
				messages, message{Role: RoleAssistant, Content: run.Answer, Timestamp: run.EndedAt, RunID: run.ID},
			)
		}
	}
	messages = newestMessages(messages)
	traces, damaged, err := a.readTraces(c, messages)
	if err != nil {
		return h, err
	}
	lost := session.Lost + damaged
	for i, m := range messages { // the partial text of a cancelled answer
		if t := traces[m.RunID]; t != nil && m.Role == RoleAssistant && t.Status == chat.RunCancelled {
			messages[i].Content = t.Text
		}
	}
	messages = slices.DeleteFunc(messages, func(m message) bool {
		t := traces[m.RunID]
		return t == nil || m.Content == "" && t.Status == chat.RunCancelled
	})
	for i, m := range messages {
		if t := traces[m.RunID]; m.Role == RoleAssistant {
			if t.Withheld() {
				m.Content, _ = t.Spoken() // the sentence that replaces a withheld answer
			}
			messages[i].Content = t.Style.Named(m.Content, t.Citations, httpio.Origin(c))
		}
	}
	searched := listRetrievals(messages, traces)
	if tools {
		messages = newestMessages(withTools(messages, traces))
		if a.Rules != nil {
			rules := message{
				Role: RoleSystem, Content: a.Rules(lastBudget(messages, traces)), Timestamp: session.CreatedAt,
			}
			messages = append([]message{rules}, messages[max(0, len(messages)-HistoryMessages+1):]...)
		}
	}
	h = SessionHistory{
		SessionInfo: sessionInfo(session.Session), Messages: messages, RetrievalHistory: searched,
		StartedAt: session.CreatedAt, Notes: []string{},
	}
	if lost > 0 {
		h.Notes = []string{views.TurnsLost(locale.With(ctx, locale.English), lost)}
	}
	return h, nil
}

// lastBudget returns the budget of the last run.
func lastBudget(messages []message, traces map[string]*runlog.Trace) chat.Budget {
	for _, m := range slices.Backward(messages) {
		if t := traces[m.RunID]; t != nil {
			return t.Budget
		}
	}
	return chat.Budget{}
}

// newestMessages returns the last HistoryMessages of a conversation.
func newestMessages(messages []message) []message {
	return messages[max(0, len(messages)-HistoryMessages):]
}

// readTraces reads the runs of messages. Runs with damaged logs are left out and counted in lost.
func (a *Sessions) readTraces(
	c httpio.Context, messages []message,
) (traces map[string]*runlog.Trace, lost int, err error) {
	traces = map[string]*runlog.Trace{}
	for _, m := range messages {
		if _, known := traces[m.RunID]; known {
			continue
		}
		t, err := a.Logs.Trace(c.Request().Context(), httpio.Scope(c), m.RunID)
		if errors.Is(err, chat.ErrDamaged) {
			a.Log.ErrorContext(c.Request().Context(), "could not load a turn", "run", m.RunID, "error", err)
			t, err = nil, nil
			lost++
		}
		if err != nil {
			return nil, 0, err
		}
		traces[m.RunID] = t
	}
	return traces, lost, nil
}

// List handles GET /sessions: a page of the user's sessions. The default of ?limit= is the store's.
func (a *Sessions) List(c httpio.Context) (list SessionList, err error) {
	limit, err := httpio.QueryInt(c, "limit", 0, 1, chat.MaxPage)
	if err != nil {
		return list, err
	}
	q := chat.SessionQuery{Text: c.QueryParam("q"), Limit: limit, Cursor: c.QueryParam("cursor")}
	sessions, next, err := a.Store.Sessions(c.Request().Context(), httpio.Scope(c), q)
	return SessionList{httpio.Each(sessions, sessionInfo), next}, err
}

func sessionInfo(s chat.Session) SessionInfo {
	return SessionInfo{
		SessionID: s.ID, Title: s.Title, TurnCount: s.TurnCount, Running: s.Running, CreatedAt: s.CreatedAt,
		UpdatedAt: s.UpdatedAt,
	}
}

// Rename handles PATCH /sessions/{id}. White space in the title is collapsed.
func (a *Sessions) Rename(c httpio.Context, body SessionTitle) (any, error) {
	title := strings.Join(strings.Fields(body.Title), " ")
	if err := chat.CheckTitle(title); err != nil {
		return nil, err
	}
	return nil, a.Store.RenameSession(c.Request().Context(), httpio.Scope(c), c.Param("id"), title)
}

// toolCall is the assistant's call of a tool.
type toolCall struct {
	ID        string          `json:"id"`        // The step's call_id.
	Name      string          `json:"name"`      // The tool.
	Arguments json.RawMessage `json:"arguments"` // Its arguments, an object.
}

// withTools inserts a run's tool calls between its question and its answer: the assistant's calls, then the tools'
// results.
//
// Calls that are running or pending are left out: they have no result yet.
func withTools(messages []message, traces map[string]*runlog.Trace) []message {
	out := make([]message, 0, len(messages))
	for _, m := range messages {
		out = append(out, m)
		if m.Role != RoleUser || traces[m.RunID] == nil {
			continue
		}
		for _, step := range traces[m.RunID].Steps {
			if step.ToolName != "" && step.Status != chat.StatusRunning && step.Status != chat.StatusPending {
				out = append(out, toolMessages(m.RunID, step)...)
			}
		}
	}
	return out
}

// toolMessages returns a tool call and its result as two messages of a conversation.
func toolMessages(runID string, step chat.Step) []message {
	at := time.UnixMicro(int64(step.Timestamp * 1e6)).UTC()
	call := toolCall{ID: step.CallID, Name: step.ToolName, Arguments: step.ToolInput}
	if len(call.Arguments) == 0 {
		call.Arguments = json.RawMessage(`{}`)
	}
	return []message{
		{Role: RoleAssistant, Content: step.Thought, Timestamp: at, RunID: runID, ToolCalls: []toolCall{call}},
		{Role: RoleTool, Content: string(
			step.ToolOutput,
		), Timestamp: at, RunID: runID, Name: step.ToolName, CallID: step.CallID},
	}
}
