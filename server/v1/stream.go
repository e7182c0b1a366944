package v1

import (
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// Chunk is one chunk of a streamed answer.
type Chunk struct {
	ID      string  `json:"id"` // "chatcmpl-" and the run's id.
	Object  string  `json:"object" api:"values=chat.completion.chunk"`
	Created int64   `json:"created"`
	Model   string  `json:"model"`
	Choices []Piece `json:"choices"` // Always one.
	// The token usage.
	Usage **Usage `json:"usage,omitempty"` // only if requested: null except in the last chunk

	// The reliability of the answer, with reasons: in the chunk with the finish_reason.
	Footnote *runlog.Judged `json:"footnote,omitempty"`
}

// Piece is a chunk's delta of a choice.
type Piece struct {
	Index        int       `json:"index"`              // Always 0.
	Delta        Delta     `json:"delta" api:"shared"` // The added part.
	FinishReason *string   `json:"finish_reason"`      // stop, or length at the model's token limit.
	Logprobs     *struct{} `json:"logprobs"`           // always null
}

// Delta is a chunk's addition to the message.
type Delta struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
	// The current work, as a line for people.
	ReasoningContent string       `json:"reasoning_content,omitempty"` // such as "Searching for: roof"
	Annotations      []Annotation `json:"annotations,omitempty"`       // before the end, of the whole content
}

// writer converts a run's events to chunks. A client can't retract text, so a runlog.Draft decides which text is
// sent. Text with footnotes that turns out to be a thought stays, as a paragraph of its own.
type writer struct {
	out    *httpio.EventStream
	chunk  Chunk  // without the choices
	base   string // prefix of the citations' links
	usage  bool
	draft  runlog.Draft
	sent   int // characters of content sent
	start  int // offset of the answer in them
	tokens chat.Tokens
}

// streamChunks streams a run as chunks. A later failure is sent as an error in the stream.
func (h *Handlers) streamChunks(c httpio.Context, run chat.Run, usage bool) error {
	out, leave, err := h.Streams.Open(c)
	if out == nil {
		return err // or the reader has disconnected; the run continues
	}
	defer leave()
	w := &writer{out: out, base: httpio.Origin(c), usage: usage, chunk: Chunk{
		ID: completionID(run.ID), Object: "chat.completion.chunk", Created: run.CreatedAt.Unix(), Model: ModelName,
	}}
	if usage {
		w.chunk.Usage = new(*Usage)
	}
	ctx := c.Request().Context()
	t := runlog.NewTrace(run)
	err = w.sendPiece(Delta{Role: "assistant", Content: new(string)}, nil)
	if err == nil {
		err = h.Logs.Listen(ctx, httpio.Scope(c), run.ID, func(ev chat.Event) error {
			if err := t.Add(ev); err != nil {
				return err
			}
			return w.addEvent(ev)
		}, func() error { return out.Comment("still here") })
	}
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		err = t.Failure()
	}
	if err != nil {
		return errors.Join(err, w.sendFailure(err)) // the stream is open: this is only logged
	}
	return w.sendEnd(t)
}

// addEvent sends the chunks for an event.
func (w *writer) addEvent(ev chat.Event) error {
	p, err := ev.Payload()
	if err != nil {
		return err
	}
	if step, ok := p.(chat.Step); ok && step.ToolName != "" && step.Message != "" {
		return w.sendPiece(Delta{ReasoningContent: step.Message + "\n"}, nil)
	}
	told := w.draft.Add(p)
	if told.Withdrawn {
		if err := w.sendText("\n\n"); err != nil {
			return err
		}
		w.start = w.sent
	}
	if err := w.sendText(told.Text); err != nil {
		return err
	}
	if answer, ok := p.(chat.Answer); ok {
		return w.sendAnnotations(answer)
	}
	return nil
}

// sendText sends a part of the answer and counts its characters, the base of annotations' offsets.
func (w *writer) sendText(text string) error {
	if text == "" {
		return nil
	}
	w.sent += utf8.RuneCountInString(text)
	return w.sendPiece(Delta{Content: &text}, nil)
}

// sendAnnotations sends the citations of the whole answer.
func (w *writer) sendAnnotations(a chat.Answer) error {
	w.tokens = a.Tokens
	if list := findAnnotations(a.Markdown, a.Citations, w.base, w.start); len(list) > 0 {
		return w.sendPiece(Delta{Annotations: list}, nil)
	}
	return nil
}

// sendEnd sends the rest of a cancelled run, the finish reason, the usage, and the end marker.
func (w *writer) sendEnd(t *runlog.Trace) error {
	if err := w.sendText(w.draft.Rest()); err != nil {
		return err
	}
	last := w.chunk
	last.Choices, last.Footnote = []Piece{{FinishReason: new(t.FinishReason())}}, new(t.Judged())
	if err := w.sendChunk(last); err != nil {
		return err
	}
	if w.usage {
		last := w.chunk
		last.Choices, last.Usage = []Piece{}, new(new(newUsage(w.tokens)))
		if err := w.sendChunk(last); err != nil {
			return err
		}
	}
	return w.out.Send([]byte("data: [DONE]\n\n"))
}

// sendFailure ends the stream with an error in it, since the status was already sent.
func (w *writer) sendFailure(err error) error {
	e := httpio.AsError(err)
	return w.sendChunk(NewFailed(httpio.Status(e.Code), e.Code, e.Message))
}

// sendPiece sends a chunk with one choice.
func (w *writer) sendPiece(delta Delta, finish *string) error {
	chunk := w.chunk
	chunk.Choices = []Piece{{Delta: delta, FinishReason: finish}}
	return w.sendChunk(chunk)
}

// sendChunk sends a value as JSON.
func (w *writer) sendChunk(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.out.Send(httpio.AppendFrame(nil, 0, "", body))
}
