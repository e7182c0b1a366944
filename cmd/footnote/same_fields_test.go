package main_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// Fields that the description says are the same hold the same in real answers to the same question.
func TestFieldsThatAreTheSameHoldTheSame(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(file{"handbook.md", holidays})
	const question = "How many days of paid holiday is an employee entitled to?"
	answers := map[string]map[string]any{}
	for component, ask := range map[string]struct{ path, body string }{
		"AgentAnswer":      {"/agent/chat", `{"message":"` + question + `","citation_style":"numeric"}`},
		"GroundedResponse": {"/agent/chat/structured", `{"message":"` + question + `","citation_style":"numeric"}`},
		"AgentResponse":    {"/agent/query", `{"question":"` + question + `"}`},
	} {
		r := s.send("POST", ask.path, ask.body)
		if r.status != 200 {
			t.Fatalf("%s: %d %s, want 200", ask.path, r.status, r.body)
		}
		answers[component] = loose[map[string]any](t, r.body)
	}
	described := loose[struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Description string
					Same        []string `json:"x-same-as"`
				}
			}
		}
	}](t, s.send("GET", "/openapi.json", nil).body).Components.Schemas
	compared := 0
	for component, schema := range described {
		for name, field := range schema.Properties {
			for _, same := range field.Same {
				other, otherName, _ := strings.Cut(same, ".")
				if back := described[other].Properties[otherName].Same; !strings.Contains(strings.Join(back, " "),
					component+"."+name) {
					t.Errorf("%s.%s is the same as %s, which does not say so: %q", component, name, same, back)
				}
				if !strings.Contains(field.Description, same) {
					t.Errorf("%s.%s is described as %q, want it to name %s", component, name, field.Description, same)
				}
				mine, theirs := answers[component], answers[other]
				if mine == nil || theirs == nil {
					continue
				}
				compared++
				if got, want := content(t, mine[name]), content(t, theirs[otherName]); got != want {
					t.Errorf("%s.%s is %s, %s is %s", component, name, got, same, want)
				}
			}
		}
	}
	if compared < 10 {
		t.Errorf("%d fields were compared, want 10 or more", compared)
	}
}

// content is what a field of an answer says, without what differs from run to run and from one interface to another: of
// footnotes, their numbers, documents and quoted words; of times and ids, that there is one.
func content(t *testing.T, v any) string {
	t.Helper()
	list, ok := v.([]any)
	if !ok {
		if text, ok := v.(string); ok && len(text) == 36 && strings.Count(text, "-") == 4 {
			return "an id"
		}
		if _, ok := v.(float64); ok {
			return "a number"
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	var b strings.Builder
	for _, item := range list {
		fields, ok := item.(map[string]any)
		if !ok {
			t.Fatalf("an entry is %v", item)
		}
		quote := fields["quote"]
		if snippet, ok := fields["content_snippet"]; ok {
			quote = snippet
		}
		raw, err := json.Marshal([]any{fields["number"], fields["document_id"], fields["chunk_id"], quote})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(raw)
	}
	return b.String()
}
