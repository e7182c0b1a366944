package scripted

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text/sse"
)

// wireMessages is a request in Anthropic's protocol, with the fields that this server uses. Others are ignored.
type wireMessages struct {
	Model  string `json:"model"`
	System []struct {
		Text string `json:"text"`
	} `json:"system"`
	Messages []struct {
		Role    llm.Role `json:"role"`
		Content []struct {
			Type      string          `json:"type"`
			Text      string          `json:"text"`
			ID        string          `json:"id"`
			Name      string          `json:"name"`
			Input     json.RawMessage `json:"input"`
			ToolUseID string          `json:"tool_use_id"`
			Content   json.RawMessage `json:"content"`
			Thinking  string          `json:"thinking"`
			Signature string          `json:"signature"`
		} `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	ToolChoice struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
	Temperature *float64 `json:"temperature"`
	MaxTokens   int      `json:"max_tokens"`
}

// toRequest converts the request for scripts. Tool results are blocks of a user's message here, and separate
// messages there.
func (w *wireMessages) toRequest() Request {
	r := Request{Model: w.Model}
	r.Temperature, r.MaxTokens, r.NoTools = w.Temperature, w.MaxTokens, w.ToolChoice.Type == "none"
	for _, s := range w.System {
		r.Messages = append(r.Messages, llm.Message{Role: llm.RoleSystem, Text: s.Text})
	}
	for _, m := range w.Messages {
		said := llm.Message{Role: m.Role}
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				said.Text += b.Text
			case "thinking":
				said.Reasoning, said.Signature = b.Thinking, b.Signature
			case "tool_use":
				said.Calls = append(said.Calls, llm.Call{ID: b.ID, Name: b.Name, Arguments: b.Input})
			case "tool_result":
				r.Messages = append(
					r.Messages, llm.Message{Role: llm.RoleTool, CallID: b.ToolUseID, Text: contentText(b.Content)},
				)
			}
		}
		// A message that contains only results was split above.
		if said.Text != "" || len(said.Calls) > 0 {
			r.Messages = append(r.Messages, said)
		}
	}
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, llm.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.InputSchema})
	}
	return r
}

// serveMessages handles a request in Anthropic's protocol.
//
// It refuses a request without a key, without max_tokens or without JSON with 400. Fault works as in streamReply,
// except Slow; CutAfter and StallAfter count events here. A connection is broken by http.ErrAbortHandler.
func (s *Server) serveMessages(w http.ResponseWriter, r *http.Request) {
	var wire wireMessages
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &wire)
	}
	if err != nil || wire.MaxTokens < 1 || r.Header.Get("X-Api-Key") == "" {
		writeJSON(w, http.StatusBadRequest, map[string]any{"type": "error", "error": map[string]any{
			"type": "invalid_request_error", "message": fmt.Sprint("a key, max_tokens and JSON are needed: ", err),
		}})
		return
	}
	asked := s.noteRequest(wire.toRequest())
	reply := s.config.Script(asked).fillReply(asked.N)
	if reply.Delay == 0 {
		reply.Delay = s.config.Delay
	}
	f := reply.Fault
	switch {
	case f.Status != 0:
		if f.RetryAfter != "" {
			w.Header().Set("Retry-After", f.RetryAfter)
		}
		if f.Body == "" {
			f.Body = `{"type":"error","error":{"type":"scripted_fault","message":"the script says so"}}`
		}
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, f.Body) // the client has disconnected
		return
	case f.CutAfter < 0:
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if f.RawType != "" {
		w.Header().Set("Content-Type", f.RawType)
	}
	if f.Raw != nil {
		_, _ = w.Write(f.Raw) // the client has disconnected
		return
	}
	control := http.NewResponseController(w)
	for i, event := range reply.replyEvents() {
		if waitFor(r.Context(), reply.Delay) != nil {
			return
		}
		if _, err := w.Write(event); err != nil || control.Flush() != nil {
			return
		}
		if f.CutAfter > 0 && i >= f.CutAfter {
			panic(http.ErrAbortHandler)
		}
		if f.StallAfter > 0 && i >= f.StallAfter {
			<-r.Context().Done()
			return
		}
	}
}

// replyEvents encodes a reply in Anthropic's protocol as a list of events. A call's arguments are in two chunks, so
// that a client must assemble them. A thought has a signature, which a client must send back.
func (r Reply) replyEvents() [][]byte {
	var out [][]byte
	add := func(kind string, fields map[string]any) {
		fields["type"] = kind
		raw, _ := json.Marshal(fields) // encoding strings and numbers can't fail
		out = append(out, sse.Append(nil, 0, kind, raw))
	}
	index := 0
	// block is one content block, from its start to its stop event, with the next index.
	block := func(start map[string]any, deltas ...map[string]any) {
		add("content_block_start", map[string]any{"index": index, "content_block": start})
		for _, delta := range deltas {
			add("content_block_delta", map[string]any{"index": index, "delta": delta})
		}
		add("content_block_stop", map[string]any{"index": index})
		index++
	}
	add("message_start", map[string]any{"message": map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "content": []any{},
		"usage": map[string]any{"input_tokens": r.Usage.In, "output_tokens": 1},
	}})
	add("ping", map[string]any{})
	if r.Reasoning != "" {
		block(map[string]any{"type": "thinking", "thinking": "", "signature": ""},
			map[string]any{"type": "thinking_delta", "thinking": r.Reasoning},
			map[string]any{"type": "signature_delta", "signature": "signed-" + r.Reasoning})
	}
	if len(r.Chunks) > 0 {
		var deltas []map[string]any
		for _, chunk := range r.Chunks {
			deltas = append(deltas, map[string]any{"type": "text_delta", "text": chunk})
		}
		block(map[string]any{"type": "text", "text": ""}, deltas...)
	}
	// An empty JSON chunk is first, as in the real protocol.
	for _, call := range r.Calls {
		half := len(call.Arguments) / 2
		block(map[string]any{"type": "tool_use", "id": call.ID, "name": call.Name, "input": map[string]any{}},
			map[string]any{
				"type": "input_json_delta", "partial_json": strings.ToValidUTF8(string(call.Arguments[:half]), ""),
			},
			map[string]any{
				"type": "input_json_delta", "partial_json": strings.ToValidUTF8(string(call.Arguments[half:]), ""),
			})
	}
	// An error event ends the stream.
	if r.Fault.Error != "" {
		add("error", map[string]any{"error": map[string]any{"type": "overloaded_error", "message": r.Fault.Error}})
		return out
	}
	stop := map[llm.Finish]string{
		llm.FinishStop: "end_turn", llm.FinishCalls: "tool_use", llm.FinishLength: "max_tokens",
		llm.FinishFilter: "refusal", llm.FinishRefusal: "refusal",
	}[r.Finish]
	add("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": r.Usage.Out},
	})
	if !r.Fault.NoDone {
		add("message_stop", map[string]any{})
	}
	return out
}
