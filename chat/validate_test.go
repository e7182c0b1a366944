package chat

import (
	"math"
	"strings"
	"testing"
)

func TestARequestIsHeldToItsLimits(t *testing.T) {
	t.Parallel()
	names := func(n int) []string { return strings.Fields(strings.Repeat("d ", n)) }
	for _, tt := range []struct {
		name string
		set  func(*RunRequest)
		want string // a part of the message; empty: it is valid
	}{
		{"a question is enough", func(*RunRequest) {}, ""},
		{"blank", func(r *RunRequest) { r.Message = " \u200b\n" }, "The question is empty."},
		{"the longest question, in runes", func(r *RunRequest) { r.Message = strings.Repeat("é", MaxQuestion) }, ""},
		{"a longer question", func(r *RunRequest) { r.Message = strings.Repeat("é", MaxQuestion+1) },
			"longer than 32,000 characters"},
		{"the longest given context", func(r *RunRequest) { r.ContextText = strings.Repeat("é", MaxContext) }, ""},
		{"a longer given context", func(r *RunRequest) { r.ContextText = strings.Repeat("é", MaxContext+1) },
			"The given context is longer"},
		{"a longer added context", func(r *RunRequest) { r.AddedContext = strings.Repeat("é", MaxContext+1) },
			"The context is longer"},
		{"as many documents as may be", func(r *RunRequest) { r.DocumentIDs = names(MaxDocumentIDs) }, ""},
		{"more documents", func(r *RunRequest) { r.DocumentIDs = names(MaxDocumentIDs + 1) },
			"at most 1,000 documents"},
		{"a document without a name", func(r *RunRequest) { r.DocumentIDs = []string{"d", ""} },
			"document_ids has an empty entry"},
		{"a key at the limit", func(r *RunRequest) { r.IdempotencyKey = strings.Repeat("k", MaxIdempotencyKey) }, ""},
		{"a longer key", func(r *RunRequest) { r.IdempotencyKey = strings.Repeat("k", MaxIdempotencyKey+1) },
			"at most 255 bytes"},
		{"a key that is not UTF-8", func(r *RunRequest) { r.IdempotencyKey = "\xff" }, "not UTF-8"},
		{"a session id with a slash", func(r *RunRequest) { r.SessionID = "a/b" }, "A session id has"},
		{"a hidden namespace", func(r *RunRequest) { r.Namespace = ".web.r" }, "A namespace has"},
		{"a namespace with a space", func(r *RunRequest) { r.Namespace = "a b" }, "A namespace has"},
		{"temperature 2", func(r *RunRequest) { r.Config.Temperature = new(2.0) }, ""},
		{"a higher temperature", func(r *RunRequest) { r.Config.Temperature = new(2.1) }, "config.temperature"},
		{"a temperature that is no number", func(r *RunRequest) { r.Config.Temperature = new(math.NaN()) },
			"config.temperature"},
		{"no steps", func(r *RunRequest) { r.Config.MaxSteps = new(0) }, "config.max_steps must be between 1 and 50"},
		{"most calls", func(r *RunRequest) { r.Config.MaxRetrievalCalls = new(MostTurnsOrCalls) }, ""},
		{"too many passages", func(r *RunRequest) { r.Config.RetrievalTopK = new(MostTurnsOrCalls + 1) },
			"config.retrieval_top_k"},
		{"as many tools as may be", func(r *RunRequest) { r.Config.EnabledTools = names(MaxEnabledTools) }, ""},
		{"more tools", func(r *RunRequest) { r.Config.EnabledTools = names(MaxEnabledTools + 1) },
			"more than 50 tools"},
		{"a tool without a name", func(r *RunRequest) { r.Config.EnabledTools = []string{""} },
			"config.enabled_tools has an empty entry"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := RunRequest{Message: "How deep?"}
			tt.set(&r)
			err := r.Validate()
			if tt.want == "" {
				if err != nil {
					t.Errorf("Validate = %v, want no error", err)
				}
				return
			}
			if err == nil || CodeOf(err) != CodeInvalid || !strings.Contains(MessageOf(err), tt.want) {
				t.Errorf("Validate = %v, want %s with %q", err, CodeInvalid, tt.want)
			}
		})
	}
}
