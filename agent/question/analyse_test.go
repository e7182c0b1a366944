package question

import (
	"slices"
	"strings"
	"testing"
)

func TestAnalyse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		question string
		follows  bool
		want     Type
	}{
		{"What is the value of Highlands?", false, Factual},
		{"Explain how damp gets into walls", false, Exploratory},
		{"What does Survey.pdf say about the roof?", false, SpecificDocument},
		{"Find documents from 2024", false, Metadata},
		{"Show papers by Smith", false, Metadata},
		{"What's in document ID 123?", false, SpecificDocument},
		{"Which reports were written by Ada Brown?", false, Metadata},
		{"List all papers tagged roof", false, Metadata},
		{"Find documents about damp", false, Factual},
		{"What does the report say about the roof?", false, Factual},
		{"How many days of holiday are there?", false, Factual},
		{"How much does clearing the gutter cost?", false, Factual},
		{"How does damp get into walls?", false, Exploratory},
		{"Which documents were written by Ada Brown?", false, Metadata},
		{"Compare the valuations of 2023 and 2024", false, Comparison},
		{"12.5 * (3 + 4)", false, Calculation},
		{"What is 15% of 200?", false, Factual}, // the model decides
		{"what is 3 + 4?", false, Calculation},
		{"Hello there!", false, General},
		{"Thanks a lot", true, General},
		{"Translate that into German", true, General},
		{"Translate that into German", false, Factual},
		{"And when was it renewed?", true, FollowUp},
		{"Tell me more", true, FollowUp},
	} {
		if got := Analyse(tt.question, tt.follows); got.Type != tt.want {
			t.Errorf("analyse(%q, %v) = %s, want %s", tt.question, tt.follows, got.Type, tt.want)
		}
	}
	if got := Analyse("How many days of holiday are there?", false); got.Complexity != "simple" {
		t.Errorf("a question for a number is %s, want %q", got.Complexity, "simple")
	}
	a := Analyse(`What did Ada Brown write about "lead flashing" in Survey.pdf on 2024-03-03?`, false)
	for _, want := range []string{"lead flashing", "Survey.pdf", "2024-03-03", "Ada Brown"} {
		if !slices.Contains(a.Entities, want) {
			t.Errorf("entities = %q, want %q among them", a.Entities, want)
		}
	}
	if got := Analyse("What's in Survey.pdf?", false).Entities; !slices.Equal(got, []string{"Survey.pdf"}) {
		t.Errorf("entities = %q, want the file alone", got)
	}
	if got := Analyse("Where do I sign?", false).Entities; len(got) > 0 {
		t.Errorf("entities = %q, want none: the asker is no entity", got)
	}
	if got := Analyse("Compare the value of Highlands with Oak House. Translate into German: This is it.",
		false).Entities; !slices.Equal(got, []string{"Highlands", "Oak House", "German"}) {
		t.Errorf("entities = %q, want the names and no verb that begins a sentence", got)
	}
	if !slices.Contains(a.Keywords, "flashing") || slices.Contains(a.Keywords, "what") {
		t.Errorf("keywords = %q; want %q in it and no %q in it", a.Keywords, "flashing", "what")
	}
	if s := a.Step("c1", 1); s.Message == "" || s.Details["complexity"] != "simple" {
		t.Errorf("step = %+v; want something and %q", s, "simple")
	}
}

func BenchmarkAnalyse(b *testing.B) {
	q := strings.Repeat("Which of the documents that Ada Brown wrote about roofs compares slate with lead? ", 30)
	for b.Loop() {
		Analyse(q, true)
	}
}
