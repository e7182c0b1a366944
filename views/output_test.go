package views

import (
	"bytes"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestAStepShowsWhatItCameTo(t *testing.T) {
	half, near := 0.5, 0.25
	for _, tt := range []struct {
		name   string
		result *chat.StepResult
		want   []string
	}{
		{"a search", &chat.StepResult{Hits: []chat.Hit{
			{DocumentID: "d1", ChunkID: "p1", Title: "Survey", Filename: "survey.pdf", Page: 2,
				Section: "Survey › Roof", Score: &half, Similarity: &near,
				Snippet: "The roof is old", Matches: [][2]int{{4, 8}, {90, 99}}},
			{DocumentID: "d1", ChunkID: "p2", Section: "Survey › Damp", Snippet: "It is wet", Sub: true},
		}}, []string{`href="/d/d1?p=p1"`, "0.50", "<b>Survey</b>", "PDF", "p. 2 · Roof", "The <mark>roof</mark> is old",
			`class="sub"`, `href="/d/d1?p=p2"`, ">Damp<"}},
		{"a page of the web that was read",
			&chat.StepResult{
				Hits: []chat.Hit{
					{DocumentID: "w", ChunkID: "p", Title: "Slate", SourceURL: "https://example.org/slate"},
				},
			},
			[]string{`href="/d/w?p=p"`, "<b>Slate</b>", ">example.org<"}},
		{"a page of the web that was not",
			&chat.StepResult{
				Hits: []chat.Hit{
					{Title: "Gone", SourceURL: "https://example.org/x", Note: "It answered 404.", Snippet: "s"},
				},
			},
			[]string{`<div class="hit bare">`, "example.org · It answered 404."}},
		{"a calculation",
			&chat.StepResult{Formula: "2 * 3", Value: "6", Facts: []chat.Fact{{Name: "exact", Value: "true"}}},
			[]string{"<code>2 * 3</code>", "= 6", "<dt>exact</dt><dd>true</dd>"}},
		{"a summary", &chat.StepResult{Outline: []string{"Roof", "  Damp"}, Text: "It is old."},
			[]string{"<li>Roof</li>", `<div class="read" tabindex="0">It is old.</div>`}},
		{"a failure", &chat.StepResult{Failure: "There is no <document>.", Notes: []string{"A note."}},
			[]string{"There is no &lt;document&gt;.", "A note."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := drawn(newOutput(tt.result)).Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(b.String(), want) {
					t.Errorf("drawn = %s, want %s in it", b.String(), want)
				}
			}
		})
	}
}
