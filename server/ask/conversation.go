package ask

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/english"
	"footnote/server/httpio"
	"footnote/server/runlog"
)

// maxInstructions is how many characters a client may say to the model besides its questions.
const maxInstructions = 8000

// unanswered stands in for an answer that a conversation lacks.
const unanswered = "(This question was not answered.)"

// Said is one message of a conversation that a client keeps.
type Said struct {
	ID   string // of an answer of ours: its run's
	Role string // user, assistant, system or developer; others have no effect
	Text string
}

// Take makes a question of a conversation: the last message is what is asked, those before it are its history, and what
// the roles system and developer say are instructions.
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
			"messages has more than %s characters with the role system or developer. Shorten them, or upload the "+
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

// questionPairs makes [question, answer] pairs of messages. What a client says besides (system, developer) and results
// of tools it has are no part of it; a question without an answer is kept as such, and so are several answers to one
// question.
func questionPairs(said []Said) [][2]string {
	var turns [][2]string
	for _, m := range said {
		if strings.TrimSpace(m.Text) == "" {
			continue
		}
		switch last := len(turns) - 1; {
		case m.Role == "user":
			turns = append(turns, [2]string{m.Text, unanswered})
		case m.Role != "assistant" || last < 0: // a greeting before the first question answers nothing
		case turns[last][1] == unanswered:
			turns[last][1] = runlog.WithoutFootnotes(m.Text)
		default:
			turns[last][1] += "\n\n" + runlog.WithoutFootnotes(m.Text)
		}
	}
	return turns
}

// Join makes a question the next one of a client's thread, which is a session of the same id. A session that is there
// knows what was said before. With again the question takes the place that it has in the messages: beside the run that
// followed the answer before it.
func (qs *Questions) Join(c echo.Context, q *Question, thread string, said []Said, again bool) error {
	q.SessionID = thread
	if err := chat.CheckSessionID(thread); err != nil {
		return err
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	session, err := qs.Store.Session(ctx, scope, thread)
	if chat.CodeOf(err) == chat.CodeNotFound {
		return nil // it begins now, after what the client says was said
	}
	if err != nil {
		return err
	}
	q.History = nil
	if !again {
		return nil
	}
	before := lastAnswer(said)
	if before != "" && before == session.HeadID {
		return nil
	}
	runs, err := qs.Store.Runs(ctx, scope, thread)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if run.ParentID == before {
			q.Sibling = run.ID // the newest: all of them share the place
		}
	}
	return nil
}

// lastAnswer is the id of the last answer in a conversation, empty if it has none.
func lastAnswer(said []Said) string {
	for i := len(said) - 1; i >= 0; i-- {
		if said[i].Role == "assistant" {
			return said[i].ID
		}
	}
	return ""
}
