package httpio

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

// benchBody is a typical request body of a program.
type benchBody struct {
	Message     string         `json:"message"`
	SessionID   string         `json:"session_id"`
	ContextText *string        `json:"context_text"`
	Config      chat.RunConfig `json:"config"`
	Style       string         `json:"citation_style"`
}

// The strict check must cost little compared with the decoding.
func BenchmarkBody(b *testing.B) {
	for name, body := range map[string][]byte{
		"short": []byte(
			`{"message":"What is the condition of the roof?","session_id":"s-1","config":{"max_steps":5,` +
				`"enable_self_evaluation":true},"citation_style":"numeric"}`,
		),
		"long": []byte(
			`{"message":"What is the condition of the roof?","context_text":"` +
				strings.Repeat(`The roof of the mill is in poor condition.\n`, 2000) + `"}`,
		),
	} {
		b.Run(name+"/decode", func(b *testing.B) {
			for b.Loop() {
				decoder := json.NewDecoder(bytes.NewReader(plainNumbers(body)))
				decoder.DisallowUnknownFields()
				var q benchBody
				if err := decoder.Decode(&q); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/strict", func(b *testing.B) {
			for b.Loop() {
				if err := CheckStrict(body, reflect.TypeFor[*benchBody]()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The check terminates for any body: some routes check before they decode.
func FuzzCheckStrict(f *testing.F) {
	for _, body := range []string{
		"[}", `{"a":[}]}`, "[[}", `{"a":}`, `[,}`, `[1}`, `["a}`, `{"a" "b"}`, "}", "", `[{"a":1}]`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s := strict{body: body}
		s.readValue("", nil)
		if json.Valid(body) && s.at < len(body) && s.fault == "" && len(bytes.TrimSpace(body[s.at:])) > 0 {
			t.Errorf("%q: looked at %d of %d bytes", body, s.at, len(body))
		}
	})
}
