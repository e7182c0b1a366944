package openai

import (
	"bytes"
	"strings"
	"testing"

	"footnote/llm"
)

// Whatever bytes come: no panic, and no reply that counts as complete without a finish, a [DONE] or a usage in its bytes.
func FuzzNoStreamIsCompleteWithoutProof(f *testing.F) {
	for _, s := range streams {
		f.Add([]byte(s.wire))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		if len(wire) > 1<<16 {
			return
		}
		got := play(t, bytes.NewReader(wire), llm.Request{})
		proved := strings.Contains(string(wire), "[DONE]") || bytes.Contains(wire, []byte("_")) || bytes.Contains(wire, []byte(`\u`))
		if got.Err == "" && !proved {
			t.Errorf("complete without proof: %q", wire)
		}
		if got.Err != "" && got.Finish != "" {
			t.Errorf("an end and an error: %+v", got)
		}
	})
}
