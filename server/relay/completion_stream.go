package relay

import (
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// completionEncoder encodes a run as chunks of a completion. Text that is no answer stays, as a paragraph of its own.
type completionEncoder struct {
	*eventTranslator
	usage bool // send the usage
	chars int  // number of characters of content sent
	from  int  // offset of the open text in them
}

// chunk returns a chunk without choices.
func (w *completionEncoder) chunk() V1Chunk {
	out := V1Chunk{
		ID: completionID(w.t.RunID), Object: "chat.completion.chunk", Created: w.t.CreatedAt.Unix(), Model: ModelName,
	}
	if w.usage {
		out.Usage = new(*V1Usage)
	}
	return out
}

// sendDelta sends a chunk with one choice.
func (w *completionEncoder) sendDelta(delta V1Delta) {
	chunk := w.chunk()
	chunk.Choices = []V1Piece{{Delta: delta}}
	w.send("", chunk)
}

func (w *completionEncoder) begin(s *eventTranslator) {
	w.eventTranslator = s
	w.sendDelta(V1Delta{Role: "assistant", Content: new(string)})
}

func (w *completionEncoder) openText() {
	if w.texts > 1 {
		w.addText("\n\n")
	}
	w.from = w.chars
}

// addText sends a part of a text and counts its characters, the base of annotations' offsets.
func (w *completionEncoder) addText(text string) {
	w.chars += utf8.RuneCountInString(text)
	w.sendDelta(V1Delta{Content: &text})
}

func (w *completionEncoder) closeText(whole, _ string, citations []chat.Citation) {
	if list := annotations(whole, citations, w.base, w.from); len(list) > 0 {
		w.sendDelta(V1Delta{Annotations: list})
	}
}

func (w *completionEncoder) think(string, string) {}

func (w *completionEncoder) call(step, _ chat.Step) {
	if step.Message != "" {
		w.sendDelta(V1Delta{ReasoningContent: step.Message + "\n"})
	}
}

// end sends the finish reason and the usage, or an error, since the status was already sent.
func (w *completionEncoder) end(failure error) {
	if failure != nil {
		e := httpio.AsError(failure)
		w.send("", NewV1Failed(httpio.Status(e.Code), e.Code, e.Message.String()))
		return
	}
	last := w.chunk()
	last.Choices, last.Footnote = []V1Piece{{FinishReason: new(w.t.FinishReason())}}, new(w.t.Judged())
	w.send("", last)
	if w.usage {
		last := w.chunk()
		last.Choices, last.Usage = []V1Piece{}, new(new(newUsage(w.t.Tokens)))
		w.send("", last)
	}
	w.sendDone()
}
