package server

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// Reading a body strictly must cost little beside decoding it.
func BenchmarkBody(b *testing.B) {
	for name, body := range map[string][]byte{
		"short": []byte(`{"message":"What is the condition of the roof?","session_id":"s-1","config":{"max_steps":5,"enable_self_evaluation":true},"citation_style":"numeric"}`),
		"long":  []byte(`{"message":"What is the condition of the roof?","context_text":"` + strings.Repeat(`The roof of the mill is in poor condition.\n`, 2000) + `"}`),
	} {
		b.Run(name+"/decode", func(b *testing.B) {
			for b.Loop() {
				decoder := json.NewDecoder(bytes.NewReader(plainNumbers(body)))
				decoder.DisallowUnknownFields()
				var q agentQuestion
				if err := decoder.Decode(&q); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/strict", func(b *testing.B) {
			for b.Loop() {
				if err := checkStrict(body, reflect.TypeFor[*agentQuestion]()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
