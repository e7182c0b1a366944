package postgres

import (
	"testing"

	"github.com/footnote/footnote/chat"
)

// A crash of PostgreSQL takes the last half second back, but never what must not happen twice.
func TestWhatMustNotBeLostWaitsForTheDisk(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what    string
		payload chat.Payload
		waits   bool
	}{
		{"a call that acts begins", chat.Step{CallID: "a", Status: chat.StatusRunning, Acts: true}, true},
		{"a call that acts ends", chat.Step{CallID: "a", Status: chat.StatusComplete, Acts: true}, false},
		{"a call that reads begins", chat.Step{CallID: "b", Status: chat.StatusRunning}, false},
		{"a piece of the answer", chat.AnswerDelta{Text: "a"}, false},
		{"the answer", chat.Answer{Markdown: "a"}, true},
		{"the end", chat.RunDone{Status: chat.RunCompleted}, true},
	} {
		var l logged
		l.addPayload(row.payload, chat.Event{})
		if l.isDurable() != row.waits {
			t.Errorf("%s: waits for the disk: %v, want %v", row.what, l.isDurable(), row.waits)
		}
	}
}
