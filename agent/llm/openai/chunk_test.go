package openai

import (
	"encoding/json"
	"testing"
)

func FuzzEveryJSONObjectIsRead(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":[1,{"b":"\"}"}],"choices":[{"delta":{"content":"x"}}]}`,
		`{"choices":[[],{}],"usage":{"prompt_tokens":-1.5e3}}`,
		`{"error":{"a":[]},"choices":{"delta":1}}`,
		`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":{"a":1}}}]}}]}`,
		`{"choices":[{"delta":{"content":[{"text":"a"},3]}}]}`,
	} {
		f.Add([]byte(seed))
	}
	var p chunkParser
	f.Fuzz(func(t *testing.T, data []byte) {
		_, ok := p.parseEvent(data)
		var object map[string]json.RawMessage
		if valid := json.Unmarshal(data, &object) == nil && object != nil; valid && !ok {
			t.Errorf("a valid object is not read: %q", data)
		}
	})
}

func FuzzTextIsReadAsItWasWritten(f *testing.F) {
	for _, seed := range []string{"", "plain", "a\"b\\c/\n\t\x00\x1f", "日本 👍 \u2028", "\\u0041", `\`} {
		f.Add(seed)
	}
	var p chunkParser
	f.Fuzz(func(t *testing.T, text string) {
		event, err := json.Marshal(map[string]any{
			"choices": []any{map[string]any{"delta": map[string]any{"content": text, "role": text}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal(event, &want); err != nil {
			t.Fatal(err)
		}
		c, ok := p.parseEvent(event)
		if !ok || string(c.content) != want.Choices[0].Delta.Content {
			t.Errorf("%q is read as %q (%v), want %v", event, c.content, ok, want.Choices[0].Delta.Content)
		}
	})
}
