package relay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/text/english"
)

// maxInstructions is the maximum length in characters of a client's instructions to the model.
const maxInstructions = 8000

// unanswered is the placeholder for a missing answer in a conversation.
const unanswered = "(This question was not answered.)"

// unread replaces the parts of an earlier question that are not text, so that the model knows of them.
const unread = "(This question had a part that is not text and can't be read.)"

// chatMessage is one message of a conversation that the client stores.
type chatMessage struct {
	id    string // of one of our answers: its run id
	role  string // user, assistant, system or developer; others are ignored
	text  string
	other string // what it has besides text, such as "a file"
}

// take sets a question from a conversation: the last message is the question, earlier ones are its history, and
// messages of the roles system and developer are instructions.
func take(q *ask.Question, list []chatMessage) error {
	if len(list) == 0 {
		return httpio.Invalid(`The field "messages" is empty. Send at least one message with the role "user".`)
	}
	var rules []string
	for _, m := range list {
		text := strings.TrimSpace(m.text)
		if text != "" && (m.role == "system" || m.role == "developer") {
			rules = append(rules, text)
		}
	}
	q.Instructions = strings.Join(rules, "\n\n")
	if utf8.RuneCountInString(q.Instructions) > maxInstructions {
		return httpio.Invalid(fmt.Sprintf(
			"Instructions (the roles system and developer) exceed the limit of %s characters. Shorten them, or "+
				"upload the long part as a document.",
			english.Digits(maxInstructions),
		))
	}
	last := list[len(list)-1]
	switch {
	case last.role != "user":
		return httpio.Invalid(`The last message must have the role "user": it is the question.`)
	case last.other != "":
		return httpio.Invalid("The message has " + last.other + ". Send text only, and upload files as documents.")
	}
	q.Message, q.History = last.text, questionPairs(list[:len(list)-1])
	return nil
}

// questionPairs groups messages into [question, answer] pairs. System and developer messages and tool results are
// ignored. A question without an answer gets a placeholder, and several answers to one question are kept.
func questionPairs(list []chatMessage) [][2]string {
	var turns [][2]string
	for _, m := range list {
		if m.role == "user" && m.other != "" {
			m.text = strings.TrimSpace(m.text + "\n\n" + unread)
		}
		switch last := len(turns) - 1; {
		case strings.TrimSpace(m.text) == "":
		case m.role == "user":
			turns = append(turns, [2]string{m.text, unanswered})
		case m.role != "assistant" || last < 0: // a greeting before the first question is no answer
		case turns[last][1] == unanswered:
			turns[last][1] = runlog.WithoutFootnotes(m.text)
		default:
			turns[last][1] += "\n\n" + runlog.WithoutFootnotes(m.text)
		}
	}
	return turns
}

// threadOptions are an app's options for a question of a thread.
type threadOptions struct {
	// The namespace; without it, documents are added to "default" and all namespaces are searched.
	Namespace   string         `json:"namespace"`
	DocumentIDs []string       `json:"document_ids"` // Restricts the search to these documents; without it, all.
	Toolset     string         `json:"toolset"`
	Config      chat.RunConfig `json:"config"`
}

// question returns a question with the options.
func (o threadOptions) question() ask.Question {
	return ask.Question{Namespace: o.Namespace, DocumentIDs: o.DocumentIDs, Toolset: o.Toolset, Config: o.Config}
}

// askThread asks the last message of a client's thread, which is a session of the same id, and streams the run. With
// again the question may replace another one.
func (h *Handlers) askThread(
	c httpio.Context, q ask.Question, thread string, list []chatMessage, again bool, to encoder,
) error {
	after, err := httpio.LastSeen(c.Request())
	if err == nil {
		err = take(&q, list)
	}
	if err == nil {
		err = h.appendToThread(c, &q, thread, list, again)
	}
	if err != nil {
		return err
	}
	q.Stream = true
	run, err := h.Questions.Start(c, q)
	if err != nil {
		return err
	}
	return h.resume(c, run, to, after)
}

// appendToThread makes a question the next one of a thread. Turns of the session are removed from the history: only
// earlier ones stay. With again the question gets its position in the messages: as a sibling of the run after the
// preceding answer.
func (h *Handlers) appendToThread(
	c httpio.Context, q *ask.Question, thread string, list []chatMessage, again bool,
) error {
	q.SessionID = thread
	if err := chat.CheckSessionID(thread); err != nil {
		return err
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	session, err := h.Store.Session(ctx, scope, thread)
	if chat.CodeOf(err) == chat.CodeNotFound {
		return nil // a new session
	}
	if err != nil {
		return err
	}
	runs, err := h.Store.Runs(ctx, scope, thread)
	if err != nil {
		return err
	}
	isOurs := func(m chatMessage) bool {
		return slices.ContainsFunc(runs, func(run chat.Run) bool { return run.ID == m.id })
	}
	switch first := slices.IndexFunc(list, isOurs); {
	case first >= 0:
		for first > 0 && list[first].role != "user" { // the question before the answer is ours, too
			first--
		}
		q.History = questionPairs(list[:first])
	case len(runs) > 0 && !slices.Equal(q.History, runs[0].Request.History):
		q.History = nil // the client assigned its own ids to our answers
	}
	before := ""
	for _, m := range list {
		if m.role == "assistant" {
			before = m.id
		}
	}
	if again && (before == "" || before != session.HeadID) {
		q.Sibling = newestAfter(runs, before)
	}
	return nil
}

// newestAfter returns the id of the newest run that follows another; all of them are siblings. It is empty without
// one.
func newestAfter(runs []chat.Run, before string) (id string) {
	for _, run := range runs {
		if run.ParentID == before {
			id = run.ID
		}
	}
	return id
}

// follow makes a question the next one after a run, in its session. If the run already has a follower, the question
// becomes its sibling.
func (h *Handlers) follow(c httpio.Context, q *ask.Question, before chat.Run) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	session, err := h.Store.Session(ctx, scope, before.SessionID)
	if err != nil {
		return err
	}
	q.SessionID, q.History = session.ID, nil
	if session.HeadID == before.ID {
		return nil
	}
	runs, err := h.Store.Runs(ctx, scope, session.ID)
	if err != nil {
		return err
	}
	if q.Sibling = newestAfter(runs, before.ID); q.Sibling == "" { // the end of a branch that is not shown
		return h.Store.SetHead(ctx, scope, session.ID, before.ID)
	}
	return nil
}

// Content is a message's text: a string, or a list of parts.
type Content struct {
	text  string
	other string // "a part that is not text" if it has one
}

// Text returns the text of the parts.
func (c Content) Text() string { return c.text }

// message returns a message with the content.
func (c Content) message(id, role string) chatMessage {
	return chatMessage{id: id, role: role, text: c.text, other: c.other}
}

// part is one part of a message. Of other kinds than text only the type is decoded.
type part struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// UnmarshalJSON decodes both forms. null is the empty text.
func (c *Content) UnmarshalJSON(data []byte) error {
	bad := &chat.Error{
		Code:    chat.CodeInvalid,
		Message: "A message's content must be text, or a list of parts such as {\"type\": \"text\", \"text\": \"…\"}.",
	}
	if len(data) == 0 || data[0] != '[' {
		if json.Unmarshal(data, &c.text) != nil {
			return bad
		}
		return nil
	}
	var parts []part
	if json.Unmarshal(data, &parts) != nil {
		return bad
	}
	if err := httpio.DecodeOpenJSON(data, &parts); err != nil { // the case of names
		return err
	}
	var texts []string
	for _, part := range parts {
		switch part.Type {
		case "text", "input_text", "output_text":
			texts = append(texts, part.Text)
		case "refusal":
			texts = append(texts, part.Refusal)
		default:
			c.other = "a part that is not text"
		}
	}
	c.text = strings.Join(texts, "\n")
	return nil
}
