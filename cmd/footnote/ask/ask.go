// Package ask asks a question in the terminal. Steps are streamed to standard error, the answer with its footnotes
// to standard output, so that a pipe gets only the answer.
//
// The question is sent to a server's API, or to a server that is started for it. The terminal shows the same events
// of the run's log as the page.
package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/remote"
)

// Command asks one question of a running server, or of one that it starts for this command. A named session
// continues its conversation; without one the question starts a new session.
type Command struct {
	Question  string `arg:"" help:"The question."`
	Session   string `help:"Continue this session." placeholder:"ID"`
	Namespace string `help:"Search only documents in this namespace." placeholder:"NAME"`
	JSON      bool   `help:"Print the events as JSON lines instead of text."`
}

// Run asks the question and prints the live steps, the answer and its footnotes. A run that did not complete is an
// error. A broken stream is resumed after its last event. An interrupt ends the stream but not the run, which
// continues on the server, unless that was started for this question.
func (a *Command) Run(p *command.Program) (err error) {
	if strings.TrimSpace(a.Question) == "" {
		return errors.New("the question is empty: pass it in quotation marks")
	}
	server, err := p.Connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	body, err := json.Marshal(
		map[string]string{"message": a.Question, "session_id": a.Session, "namespace": a.Namespace},
	)
	if err != nil {
		return err
	}
	show := &eventPrinter{answer: p.Stdout, steps: p.Stderr}
	run := server.Ask(body, func(begun bool) {
		if begun {
			fmt.Fprintln(p.Stderr, "… The connection was lost; reconnecting")
		} else {
			fmt.Fprintln(p.Stderr, "… The connection was lost before the answer began; retrying")
		}
	})
	for raw, err := range run.Events(p.Ctx) {
		if err != nil && p.Ctx.Err() != nil {
			return errors.New("stopped before the answer was complete; ask again, or select Continue on the page")
		}
		if err != nil {
			return err
		}
		if a.JSON {
			fmt.Fprintf(p.Stdout, "%s\n", raw)
		}
		event, err := remote.Decode(raw)
		if err != nil {
			return err
		}
		if !a.JSON {
			show.printEvent(event)
		}
		// Always the last event: the exit code depends on it alone.
		if done, ok := event.(chat.RunDone); ok {
			return outcomeError(done)
		}
	}
	return remote.ErrBroken
}

// outcomeError returns nil for a completed run, otherwise its error. The server's message and code are kept if
// there are any.
func outcomeError(done chat.RunDone) error {
	if done.Status == chat.RunCompleted {
		return nil
	}
	if done.Error != nil {
		return &chat.Error{Code: done.Error.Code, Message: done.Error.Localised()}
	}
	return fmt.Errorf("the run ended as %s", done.Status)
}

// eventPrinter prints a run: steps to one writer, the answer to the other. It writes no control sequences, so the
// output can be saved in a file.
type eventPrinter struct {
	answer, steps io.Writer
}

// printEvent prints one event. The answer is buffered until it is complete, since its text may be replaced before.
func (t *eventPrinter) printEvent(event chat.Payload) {
	switch e := event.(type) {
	case chat.Step:
		t.printStep(e)
	case chat.Answer:
		fmt.Fprintf(t.answer, "\n%s\n", strings.TrimSpace(cite.WithoutEscapes(e.Markdown)))
		for _, c := range e.Citations {
			fmt.Fprintf(
				t.answer, "\n[%d] %s\n    “%s” (%s)\n", c.Number, citationPlace(c), command.OneLine(c.Quote),
				strings.ReplaceAll(string(c.Check), "_", " "),
			)
		}
		if len(e.Unsupported) > 0 {
			fmt.Fprintf(t.answer, "\nNot supported by a source:\n")
			for _, sentence := range e.Unsupported {
				fmt.Fprintf(t.answer, "  %s\n", command.OneLine(sentence))
			}
		}
	}
}

// printStep prints a step that starts, fails or ends.
func (t *eventPrinter) printStep(s chat.Step) {
	switch s.Status {
	case chat.StatusRunning:
		fmt.Fprintf(t.steps, "… %s\n", s.Message)
	case chat.StatusError:
		reason := ""
		if s.Error != nil {
			reason = ": " + s.Error.Message
		}
		fmt.Fprintf(t.steps, "✕ %s%s\n", s.Message, reason)
	case chat.StatusComplete:
		detail := ""
		if s.Summary != "" {
			detail = " — " + s.Summary
		}
		fmt.Fprintf(t.steps, "✓ %s%s (%d ms)\n", s.Message, detail, s.DurationMS)
	case chat.StatusCancelled, chat.StatusSkipped:
		fmt.Fprintf(t.steps, "- %s (%s)\n", s.Message, s.Status)
	case chat.StatusPending:
	}
}

// citationPlace returns the place of a quote. Unknown parts are left out: a text file has no pages, and many
// documents have no sections.
func citationPlace(c chat.Citation) string {
	parts := []string{c.Title}
	if place := c.PlaceWords(); place != "" {
		parts = append(parts, place)
	}
	if c.Section != "" {
		parts = append(parts, c.Section)
	}
	return strings.Join(parts, " · ")
}
