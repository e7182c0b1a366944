package openai

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
)

// Fuzzing streams: no panic, the same result whole and a byte at a time, and a reply is complete only if its bytes
// contain an event with [DONE], a finish reason, or a count of tokens.
func FuzzStreamCompleteness(f *testing.F) {
	for _, s := range streams {
		f.Add([]byte(s.wire))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		if len(wire) > 1<<16 {
			return
		}
		got := play(t, bytes.NewReader(wire), llm.Request{})
		if got.Err == "" && !proved(wire) {
			t.Errorf("reply is complete without proof: %q", wire)
		}
		if got.Err != "" && (got.Finish != "" || len(got.Calls) > 0) {
			t.Errorf("got an end and an error, want one of them: %+v", got)
		}
		if got.Err == "" && got.Finish == "" {
			t.Errorf("got neither an end nor an error: %+v", got)
		}
		for _, c := range got.Calls {
			var object map[string]any
			if c.Malformed == "" && (json.Unmarshal(c.Arguments, &object) != nil || object == nil) {
				t.Errorf("call with the arguments %q is valid, want it malformed", c.Arguments)
			}
		}
	})
}

// proved parses an event stream independently and reports whether it has a proof of its end. It shares no code with
// the reader under test.
func proved(wire []byte) bool {
	text := strings.TrimPrefix(string(wire), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var data []string
	for line := range strings.SplitSeq(text, "\n") {
		value, ok := strings.CutPrefix(line, "data:")
		switch {
		case ok:
			data = append(data, strings.TrimPrefix(value, " "))
			if strings.TrimSpace(value) == "[DONE]" { // its blank line may be missing
				return true
			}
		case line == "":
			if event := strings.Join(data, "\n"); strings.TrimSpace(event) == "[DONE]" || tellsEnd(event) {
				return true
			}
			data = nil
		}
	}
	return false
}

// tellsEnd reports whether a chunk has a finish reason in one of its choices, or a usage. Repeated keys all count.
func tellsEnd(event string) bool {
	d := json.NewDecoder(strings.NewReader(event))
	found := false
	var value func(path string) error
	value = func(path string) error {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'):
			found = found || path == "/usage"
			for d.More() {
				key, err := d.Token()
				if err != nil {
					return err
				}
				if err := value(path + "/" + key.(string)); err != nil {
					return err
				}
			}
			_, err = d.Token()
		case json.Delim('['):
			for d.More() {
				if err := value(path + "/*"); err != nil {
					return err
				}
			}
			_, err = d.Token()
		default:
			reason, _ := token.(string)
			found = found || path == "/choices/*/finish_reason" && reason != ""
		}
		return err
	}
	return value("") == nil && found
}
