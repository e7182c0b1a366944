package relay

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/text/sse"
)

// encoder encodes the moments of a run as messages of one protocol, which it sends to the story. The story calls
// begin first and end last, each once. At most one text is open.
type encoder interface {
	begin(s *eventTranslator)
	// openText begins text number s.texts of the run.
	openText()
	addText(text string)
	// closeText ends the open text: it is completed by the answer, withdrawn, or incomplete at the end of the run.
	// citations are those of its footnotes, none for a text that is no answer.
	closeText(whole, status string, citations []chat.Citation)
	// think is a step's new thought. Calls of one turn share the thought of their group, which comes once.
	think(callID, thought string)
	// call is a new state of a tool call; was is the state before, empty for the first one.
	call(step, was chat.Step)
	// end is the outcome. failure is the reason for a missing answer; it is nil if there is an answer or the run
	// was cancelled.
	end(failure error)
}

// The states of a text when it ends. The first two are also states of OpenAI's responses.
const (
	completed  = "completed"
	incomplete = "incomplete"
	withdrawn  = "withdrawn"
)

// eventTranslator folds the events of a run into the moments of an encoder, and collects its messages. It holds text
// back until the first footnote or the whole answer, since text may turn out to be a thought.
type eventTranslator struct {
	to   encoder
	t    *runlog.Trace // includes the current event; nil before the first moment
	base string        // prefix of links

	draft string // the text since the last reset
	sent  int    // bytes of it passed to the encoder
	cited bool
	open  bool // a text is open
	texts int
	steps map[string]chat.Step // the last state of each

	muted  bool   // messages are discarded
	frames []byte // messages not sent yet
	last   int    // where the last of them begins
	err    error
}

// newEventTranslator returns a story for a request.
func newEventTranslator(c httpio.Context, to encoder) *eventTranslator {
	return &eventTranslator{to: to, base: httpio.Origin(c), steps: map[string]chat.Step{}}
}

// start begins the encoder's messages, once.
func (s *eventTranslator) start(t *runlog.Trace) {
	if s.t == nil {
		s.t = t
		s.to.begin(s)
	}
}

// handleEvent passes the moments of an event, which the trace already includes.
func (s *eventTranslator) handleEvent(t *runlog.Trace, p chat.Payload) error {
	s.start(t)
	switch p := p.(type) {
	case chat.AnswerDelta:
		s.draft += p.Text
		if s.cited {
			s.sendDraft()
		}
	case chat.Citation:
		s.cited = true
		s.sendDraft()
	case chat.AnswerReset:
		s.endText(withdrawn, nil)
		s.draft, s.sent, s.cited = "", 0, false
	case chat.Answer:
		s.handleAnswer(p)
	case chat.Step:
		s.handleStep(p.CallID)
	case chat.RunDone:
		s.finish(t, t.Failure())
	}
	return s.err
}

// handleAnswer passes the whole answer, a part of which may already be sent.
func (s *eventTranslator) handleAnswer(answer chat.Answer) {
	sent := s.draft[:s.sent]
	switch {
	case strings.HasPrefix(sent, answer.Markdown): // it was truncated at its end
		s.draft = sent
	case strings.HasPrefix(answer.Markdown, sent):
		s.draft = answer.Markdown
	default:
		s.endText(withdrawn, nil)
		s.draft, s.sent = answer.Markdown, 0
	}
	s.sendDraft()
	s.endText(completed, answer.Citations)
}

// handleStep passes a step's new thought, and its state if it is a tool call.
func (s *eventTranslator) handleStep(callID string) {
	step, _ := s.t.Log.Step(callID)
	was := s.steps[callID]
	s.steps[callID] = step
	if step.Thought != "" && step.Thought != was.Thought && step.Thought != s.steps[step.ParentID].Thought {
		s.to.think(callID, step.Thought)
	}
	if step.ToolName != "" {
		s.to.call(step, was)
	}
}

// isOver reports whether a step has ended.
func isOver(step chat.Step) bool {
	return step.Status != "" && step.Status != chat.StatusPending && step.Status != chat.StatusRunning
}

// finish passes the rest of the draft and the outcome.
func (s *eventTranslator) finish(t *runlog.Trace, failure error) {
	s.start(t)
	citations := t.Citations
	if failure != nil {
		citations = nil
	} else {
		s.sendDraft()
	}
	s.endText(incomplete, citations)
	s.to.end(failure)
}

// sendDraft passes the rest of the draft.
func (s *eventTranslator) sendDraft() {
	rest := s.draft[s.sent:]
	if rest == "" {
		return
	}
	if !s.open {
		s.open = true
		s.texts++
		s.to.openText()
	}
	s.sent = len(s.draft)
	s.to.addText(rest)
}

// endText ends the open text, if any.
func (s *eventTranslator) endText(status string, citations []chat.Citation) {
	if s.open {
		s.open = false
		s.to.closeText(s.draft[:s.sent], status, citations)
	}
}

// send adds a message to those of the current event. name is the name of the server-sent event, empty for none.
func (s *eventTranslator) send(name string, message any) {
	if s.muted {
		return
	}
	data, err := json.Marshal(message)
	s.err = errors.Join(s.err, err)
	s.last = len(s.frames)
	s.frames = sse.Append(s.frames, 0, name, data)
}

// sendDone adds the end marker that two of the protocols have. It is no message and gets no id.
func (s *eventTranslator) sendDone() { s.frames = sse.Append(s.frames, 0, "", []byte("[DONE]")) }

// flush writes the collected messages. An id other than 0 becomes that of the last one.
func (s *eventTranslator) flush(out *httpio.EventStream, id int64) error {
	frames := s.frames
	s.frames = nil // a waiting reader keeps no messages in memory
	if s.err != nil || len(frames) == 0 {
		return s.err
	}
	if id > 0 {
		frames = slices.Insert(frames, s.last, []byte("id: "+strconv.FormatInt(id, 10)+"\n")...)
	}
	return out.Send(frames)
}
