package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxDocument is the maximum size of a reply in one document, in bytes.
const maxDocument = 8 << 20

// documentEvents rewrites a reply in one JSON document as the events of a stream, nil if the document is no reply.
func documentEvents(document []byte) []byte {
	var reply struct {
		Type       string            `json:"type"`
		Content    []json.RawMessage `json:"content"`
		StopReason json.RawMessage   `json:"stop_reason"`
		Usage      json.RawMessage   `json:"usage"`
	}
	if json.Unmarshal(document, &reply) != nil || reply.Type != "message" {
		return nil
	}
	var b bytes.Buffer
	write := func(kind string, fields map[string]any) {
		fields["type"] = kind
		if data, err := json.Marshal(fields); err == nil { // the values are valid JSON
			fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, data)
		}
	}
	write("message_start", map[string]any{"message": json.RawMessage(document)})
	for i, content := range reply.Content {
		var block struct{ Input json.RawMessage }
		_ = json.Unmarshal(content, &block) // a block that is no object has no input
		write("content_block_start", map[string]any{"index": i, "content_block": content})
		write("content_block_delta", map[string]any{"index": i, "delta": map[string]any{
			"type": "input_json_delta", "partial_json": string(block.Input),
		}})
		write("content_block_stop", map[string]any{"index": i})
	}
	write("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": reply.StopReason}, "usage": reply.Usage,
	})
	write("message_stop", map[string]any{})
	return b.Bytes()
}
