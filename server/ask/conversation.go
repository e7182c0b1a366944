package ask

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/text/english"
)

// maxInstructions is the maximum length in characters of a client's instructions to the model.
const maxInstructions = 8000

// unanswered is the placeholder for a missing answer in a conversation.
const unanswered = "(This question was not answered.)"

// Said is one message of a conversation that the client stores.
type Said struct {
	ID   string // of one of our answers: its run id
	Role string // user, assistant, system or developer; others are ignored
	Text string
}

// Take sets the question from a conversation: the last message is the question, earlier ones are its history, and
// messages of the roles system and developer are instructions.
func (q *Question) Take(said []Said) error {
	if len(said) == 0 {
		return httpio.Invalid(`The field "messages" is empty. Send at least one message with the role "user".`)
	}
	var rules []string
	for _, m := range said {
		text := strings.TrimSpace(m.Text)
		if text != "" && (m.Role == "system" || m.Role == "developer") {
			rules = append(rules, text)
		}
	}
	q.Instructions = strings.Join(rules, "\n\n")
	if utf8.RuneCountInString(q.Instructions) > maxInstructions {
		return httpio.Invalid(fmt.Sprintf(
			"More than %s characters are instructions (the roles system and developer). Shorten them, or upload the "+
				"long part as a document.",
			english.Digits(maxInstructions),
		))
	}
	last := said[len(said)-1]
	if last.Role != "user" {
		return httpio.Invalid(`The last message must have the role "user": it is the question.`)
	}
	q.Message, q.History = last.Text, questionPairs(said[:len(said)-1])
	return nil
}

// questionPairs groups messages into [question, answer] pairs. System and developer messages and tool results are
// ignored. A question without an answer gets a placeholder, and several answers to one question are kept.
func questionPairs(said []Said) [][2]string {
	var turns [][2]string
	for _, m := range said {
		if strings.TrimSpace(m.Text) == "" {
			continue
		}
		switch last := len(turns) - 1; {
		case m.Role == "user":
			turns = append(turns, [2]string{m.Text, unanswered})
		case m.Role != "assistant" || last < 0: // a greeting before the first question is no answer
		case turns[last][1] == unanswered:
			turns[last][1] = runlog.WithoutFootnotes(m.Text)
		default:
			turns[last][1] += "\n\n" + runlog.WithoutFootnotes(m.Text)
		}
	}
	return turns
}

// Join makes a question the next one of a client's thread, which is a session of the same id. Turns of the session
// are removed from the history: only earlier ones stay. With again the question gets its position in the messages:
// as a sibling of the run after the preceding answer.
func (qs *Questions) Join(c httpio.Context, q *Question, thread string, said []Said, again bool) error {
	q.SessionID = thread
	if err := chat.CheckSessionID(thread); err != nil {
		return err
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	session, err := qs.Store.Session(ctx, scope, thread)
	if chat.CodeOf(err) == chat.CodeNotFound {
		return nil // a new session
	}
	if err != nil {
		return err
	}
	runs, err := qs.Store.Runs(ctx, scope, thread)
	if err != nil {
		return err
	}
	isOurs := func(m Said) bool {
		return slices.ContainsFunc(runs, func(run chat.Run) bool { return run.ID == m.ID })
	}
	switch first := slices.IndexFunc(said, isOurs); {
	case first >= 0:
		for first > 0 && said[first].Role != "user" { // the question before the answer is ours, too
			first--
		}
		q.History = questionPairs(said[:first])
	case len(runs) > 0 && !slices.Equal(q.History, runs[0].Request.History):
		q.History = nil // the client assigned its own ids to our answers
	}
	before := lastAnswer(said)
	if !again || before != "" && before == session.HeadID {
		return nil
	}
	for _, run := range runs {
		if run.ParentID == before {
			q.Sibling = run.ID // the newest: all of them are siblings
		}
	}
	return nil
}

// lastAnswer returns the id of the last answer in a conversation, empty if it has none.
func lastAnswer(said []Said) string {
	for _, m := range slices.Backward(said) {
		if m.Role == "assistant" {
			return m.ID
		}
	}
	return ""
}

// Follow makes a question the next one after a run, in its session. If the run already has a follower, the question
// becomes its sibling.
func (qs *Questions) Follow(c httpio.Context, q *Question, before chat.Run) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	session, err := qs.Store.Session(ctx, scope, before.SessionID)
	if err != nil {
		return err
	}
	q.SessionID, q.History = session.ID, nil
	if session.HeadID == before.ID {
		return nil
	}
	runs, err := qs.Store.Runs(ctx, scope, session.ID)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if run.ParentID == before.ID {
			q.Sibling = run.ID // the newest: all of them are siblings
		}
	}
	if q.Sibling == "" { // the end of a branch that is not shown
		return qs.Store.SetHead(ctx, scope, session.ID, before.ID)
	}
	return nil
}

// Content is a message's text: a string, or a list of parts.
type Content struct {
	text  string
	other string // the type of a part that is not text
}

// Text returns the text of the parts.
func (c Content) Text() string { return c.text }

// Other returns the type of a part that is not text; empty if all are text.
func (c Content) Other() string { return c.other }

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
	// CheckStrict on the whole body does not know this type's fields
	if err := httpio.CheckStrict(data, reflect.TypeFor[[]part]()); err != nil {
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
			c.other = part.Type
		}
	}
	c.text = strings.Join(texts, "\n")
	return nil
}
