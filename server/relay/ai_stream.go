package relay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// aiEncoder encodes a run as a UI message stream: the answer as a message with the run's id, and tools, sources and
// thoughts as its parts.
type aiEncoder struct{ *eventTranslator }

func (w *aiEncoder) sendChunk(chunk AiChunk) { w.send("", chunk) }

// begin sends the message's ids.
func (w *aiEncoder) begin(s *eventTranslator) {
	w.eventTranslator = s
	w.sendChunk(AiChunk{
		Type: "start", MessageID: s.t.RunID, MessageMetadata: &AiMetadata{RunID: s.t.RunID, SessionID: s.t.SessionID},
	})
	w.sendChunk(AiChunk{Type: "start-step"})
}

// textID returns the id of the open text part.
func (w *aiEncoder) textID() string { return "text-" + strconv.Itoa(w.texts) }

func (w *aiEncoder) openText() { w.sendChunk(AiChunk{Type: "text-start", ID: w.textID()}) }

func (w *aiEncoder) addText(text string) {
	w.sendChunk(AiChunk{Type: "text-delta", ID: w.textID(), Delta: text})
}

// closeText sends the sources with the end of the text, when their numbers are final.
func (w *aiEncoder) closeText(_, _ string, citations []chat.Citation) {
	w.sendChunk(AiChunk{Type: "text-end", ID: w.textID()})
	for _, source := range runlog.SourcesOf(citations, w.base) {
		w.sendChunk(AiChunk{
			Type: "source-url", SourceID: strconv.Itoa(source.Number), URL: source.URL, Title: source.Title,
			ProviderMetadata: &AiSourceMetadata{source},
		})
	}
}

func (w *aiEncoder) think(callID, thought string) {
	id := "thought-" + callID
	w.sendChunk(AiChunk{Type: "reasoning-start", ID: id})
	w.sendChunk(AiChunk{Type: "reasoning-delta", ID: id, Delta: thought})
	w.sendChunk(AiChunk{Type: "reasoning-end", ID: id})
}

// call sends the call's input, again if it changes or is approved, and its result.
func (w *aiEncoder) call(step, was chat.Step) {
	chunk := AiChunk{
		ToolCallID: step.CallID, Dynamic: true, ProviderExecuted: true, ToolMetadata: &AiToolMetadata{
			Status: step.Status, Message: step.Message, DurationMS: step.DurationMS, Truncated: step.Truncated,
		},
	}
	if was.CallID == "" || !bytes.Equal(step.ToolInput, was.ToolInput) ||
		(step.Status == chat.StatusPending) != (was.Status == chat.StatusPending) {
		input := chunk
		input.Type, input.ToolName, input.Input = "tool-input-available", step.ToolName, objectOr(step.ToolInput)
		input.Title = cmp.Or(step.Title, step.Message)
		w.sendChunk(input)
	}
	switch {
	case !isOver(step):
		return
	case step.Status == chat.StatusComplete:
		chunk.Type, chunk.Output = "tool-output-available", objectOr(step.ToolOutput)
	default:
		chunk.Type, chunk.ErrorText = "tool-output-error", step.Message
		if step.Error != nil {
			chunk.ErrorText = cmp.Or(step.Error.Message, step.Message)
		}
	}
	w.sendChunk(chunk)
}

// objectOr returns a JSON object, or the empty one if raw is empty.
func objectOr(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// end sends the outcome with the message's metadata.
func (w *aiEncoder) end(failure error) {
	defer w.sendDone()
	if failure != nil {
		w.sendChunk(AiChunk{Type: "error", ErrorText: httpio.AsError(failure).Message.String()})
		return
	}
	judged, tokens := w.t.Judged(), w.t.Tokens
	about := &AiMetadata{
		RunID: w.t.RunID, SessionID: w.t.SessionID, Status: w.t.Status, Tokens: &tokens, Footnote: &judged,
	}
	if w.t.Answer != nil {
		about.Reason = w.t.Answer.StopReason
	}
	w.sendChunk(AiChunk{Type: "finish-step"})
	if w.t.Status == chat.RunCancelled {
		w.sendChunk(AiChunk{Type: "message-metadata", MessageMetadata: about})
		w.sendChunk(AiChunk{Type: "abort", Reason: "The run was canceled."})
		return
	}
	w.sendChunk(AiChunk{Type: "finish", FinishReason: w.t.FinishReason(), MessageMetadata: about})
}
