package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/text/locale"
	"github.com/footnote/footnote/views"
)

// HistoryMessages is how many messages of a session are given out, the newest.
// The description of the API names the figure, so another one is a change there.
const HistoryMessages = 50

// SessionInfo is a session in a list.
type SessionInfo struct {
	SessionID string    `json:"session_id"`
	Title     string    `json:"title"`
	TurnCount int       `json:"turn_count"` // Questions asked.
	Running   bool      `json:"running"`    // Whether a run is under way.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// message is one side of a turn.
type message struct {
	// Who speaks.
	Role      string     `json:"role" api:"values=RoleSystem|RoleUser|RoleAssistant|RoleTool,shared"`
	Content   string     `json:"content" api:"shared"` // The text.
	Timestamp time.Time  `json:"timestamp"`            // When.
	RunID     string     `json:"run_id,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"` // The assistant's tool calls.
	Name      string     `json:"name,omitempty"`       // The tool that speaks.
	CallID    string     `json:"call_id,omitempty"`    // The call that the tool answers.
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
	SessionID string    `json:"session_id"`
	Title     string    `json:"title"`
	Messages  []message `json:"messages"` // The messages, oldest first.
	// The searches and reads of these messages, oldest first.
	RetrievalHistory []Retrieval `json:"retrieval_history"`
	StartedAt        time.Time   `json:"started_at"` // When it began.
	TurnCount        int         `json:"turn_count"` // The number of questions.
	// Notes on the conversation, in sentences: the number of turns that can't be read, because their stored rows are
	// damaged.
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
	RunID string `json:"run_id" api:"need,form=run"` // The run at the end of the branch to show.
}

// GetHistory handles GET /agent/session/{id}: the shown branch.
//
// For the conversation's user it answers 200, 400 for an invalid id, or 404. Damaged turns are left out and reported
// in notes: the rest stays readable. An answer that a guardrail withheld is replaced by a sentence. With ?tools=true
// the system message comes first and counts as one of the messages.
func (a *Handlers) GetHistory(c httpio.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	tools, err := httpio.QueryFlag(c, "tools")
	if err != nil {
		return err
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	session, err := a.Store.Session(ctx, scope, id)
	if err != nil {
		return err
	}
	runs, lost, err := a.Logs.ReadableRuns(ctx, scope, session)
	if err != nil {
		return err
	}
	branch, damaged := runlog.Readable(runlog.BranchTo(runs, session.HeadID))
	lost += damaged
	// Each run gives one message at least, so earlier ones can't be among those that are given out.
	if extra := len(branch) - HistoryMessages; extra > 0 {
		branch = branch[extra:]
	}
	messages := []message{}
	for _, run := range branch {
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
		return err
	}
	lost += damaged
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
	c.Response().Header().Set("Cache-Control", "no-store")
	notes := []string{}
	if lost > 0 {
		notes = append(notes, views.TurnsLost(locale.With(ctx, locale.English), lost))
	}
	return c.JSON(http.StatusOK, SessionHistory{
		session.ID, session.Title, messages, searched, session.CreatedAt, session.TurnCount, notes,
	})
}

// lastBudget is that of the last run, whose toolset and settings decide its limits.
func lastBudget(messages []message, traces map[string]*runlog.Trace) chat.Budget {
	for _, m := range slices.Backward(messages) {
		if t := traces[m.RunID]; t != nil {
			return t.Budget
		}
	}
	return chat.Budget{}
}

// newestMessages are the last HistoryMessages of a conversation.
func newestMessages(messages []message) []message {
	return messages[max(0, len(messages)-HistoryMessages):]
}

// readTraces reads the runs behind messages. Those whose logs are damaged, as many as lost, have none.
func (a *Handlers) readTraces(
	c httpio.Context, messages []message,
) (traces map[string]*runlog.Trace, lost int, err error) {
	traces = map[string]*runlog.Trace{}
	for _, m := range messages {
		if _, known := traces[m.RunID]; known {
			continue
		}
		t, err := a.Logs.Trace(c.Request().Context(), httpio.Scope(c), m.RunID)
		if errors.Is(err, chat.ErrDamaged) {
			a.Log.ErrorContext(c.Request().Context(), "turn can't be read", "run", m.RunID, "error", err)
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

// ListSessions handles GET /sessions: a page of the user's sessions.
//
// Without ?limit= a page has as many as the store gives.
func (a *Handlers) ListSessions(c httpio.Context) error {
	limit, err := httpio.QueryInt(c, "limit", 0, 1, chat.MaxPage)
	if err != nil {
		return err
	}
	q := chat.SessionQuery{Text: c.QueryParam("q"), Limit: limit, Cursor: c.QueryParam("cursor")}
	sessions, next, err := a.Store.Sessions(c.Request().Context(), httpio.Scope(c), q)
	if err != nil {
		return err
	}
	list := []SessionInfo{}
	for _, session := range sessions {
		list = append(list, SessionInfo{
			SessionID: session.ID, Title: session.Title, TurnCount: session.TurnCount, Running: session.Running,
			CreatedAt: session.CreatedAt, UpdatedAt: session.UpdatedAt,
		})
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, SessionList{list, next})
}

// RenameSession handles PATCH /sessions/{id}: it gives a session another title.
//
// 204. White space in the title becomes single spaces; 400 for one that is empty or too long.
func (a *Handlers) RenameSession(c httpio.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	var body SessionTitle
	if err := a.Bodies.ReadJSON(c, &body); err != nil {
		return err
	}
	title := strings.Join(strings.Fields(body.Title), " ")
	if err := chat.CheckTitle(title); err != nil {
		return err
	}
	if err := a.Store.RenameSession(c.Request().Context(), httpio.Scope(c), id, title); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// DeleteSession handles DELETE /sessions/{id} and DELETE /agent/session/{id}.
//
// 204. It is gone at once, and can be brought back for a while with RestoreSession.
func (a *Handlers) DeleteSession(c httpio.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	if err := a.Store.DeleteSession(c.Request().Context(), httpio.Scope(c), id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// RestoreSession handles POST /sessions/{id}/restore: it undoes a deletion.
//
// 204; 404 once it is gone for good.
func (a *Handlers) RestoreSession(c httpio.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	if err := a.Store.RestoreSession(c.Request().Context(), httpio.Scope(c), id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// SetHead handles POST /sessions/{id}/head: it chooses the version of an answer that a session shows.
//
// 204; pages that show the conversation elsewhere learn of it by the feed. 404 for a run of another conversation.
func (a *Handlers) SetHead(c httpio.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	var body SessionHead
	if err := a.Bodies.ReadJSON(c, &body); err != nil {
		return err
	}
	if !httpio.RunIDForm.MatchString(body.RunID) {
		return httpio.NotFound("There is no such run in this conversation.")
	}
	if err := a.Store.SetHead(c.Request().Context(), httpio.Scope(c), id, body.RunID); err != nil {
		return err
	}
	a.Feed.HeadMoved(httpio.Scope(c).User, id)
	return c.NoContent(http.StatusNoContent)
}

// toolCall is what the assistant asked a tool for.
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

// toolMessages are a tool call and its result as two messages of a conversation.
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
