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

// HistoryMessages is the maximum number of messages in a response, the newest. The API's description contains the
// number, so a change of it changes the API.
const HistoryMessages = 50

// SessionInfo is a session in a list.
type SessionInfo struct {
	SessionID string    `json:"session_id"`
	Title     string    `json:"title"`
	TurnCount int       `json:"turn_count"` // The number of questions.
	Running   bool      `json:"running"`    // Whether a run is under way.
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
	CallID    string     `json:"call_id,omitempty"`    // The id of the tool's call.
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
	RunID string `json:"run_id" api:"need,form=run"` // The last run of the branch to show.
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
	// Each run has at least one message, so earlier runs are not needed.
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
// The default of ?limit= is the store's.
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

// RenameSession handles PATCH /sessions/{id}: it renames a session.
//
// It answers 204. White space in the title is collapsed; a title that is empty or too long is 400.
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
// It answers 204. The session is hidden at once, and RestoreSession can restore it for a while.
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
// It answers 204, or 404 after the session was purged.
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

// SetHead handles POST /sessions/{id}/head: it selects the version of an answer that a session shows.
//
// It answers 204, or 404 for a run of another conversation. The feed notifies other pages that show the
// conversation.
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
