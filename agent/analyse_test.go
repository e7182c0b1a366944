package agent

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
		want     questionType
	}{
		{"What is the value of Highlands?", false, typeFactual},
		{"Explain how damp gets into walls", false, typeExploratory},
		{"What does Survey.pdf say about the roof?", false, typeSpecific},
		{"Find documents from 2024", false, typeMetadata},
		{"Show papers by Smith", false, typeMetadata},
		{"What's in document ID 123?", false, typeSpecific},
		{"Which reports were written by Ada Brown?", false, typeMetadata},
		{"List all papers tagged roof", false, typeMetadata},
		{"Find documents about damp", false, typeFactual},
		{"What does the report say about the roof?", false, typeFactual},
		{"How many days of holiday are there?", false, typeFactual},
		{"How much does clearing the gutter cost?", false, typeFactual},
		{"How does damp get into walls?", false, typeExploratory},
		{"Which documents were written by Ada Brown?", false, typeMetadata},
		{"Compare the valuations of 2023 and 2024", false, typeComparison},
		{"12.5 * (3 + 4)", false, typeCalculation},
		{"What is 15% of 200?", false, typeFactual}, // the model decides
		{"what is 3 + 4?", false, typeCalculation},
		{"Hello there!", false, typeGeneral},
		{"Thanks a lot", true, typeGeneral},
		{"Translate that into German", true, typeGeneral},
		{"Translate that into German", false, typeFactual},
		{"And when was it renewed?", true, typeFollowUp},
		{"Tell me more", true, typeFollowUp},
	} {
		if got := analyse(tt.question, tt.follows); got.Type != tt.want {
			t.Errorf("analyse(%q, %v) = %s, want %s", tt.question, tt.follows, got.Type, tt.want)
		}
	}
	if got := analyse("How many days of holiday are there?", false); got.Complexity != "simple" {
		t.Errorf("a question for a number is %s", got.Complexity)
	}
	a := analyse(`What did Ada Brown write about "lead flashing" in Survey.pdf on 2024-03-03?`, false)
	for _, want := range []string{"lead flashing", "Survey.pdf", "2024-03-03", "Ada Brown"} {
		if !slices.Contains(a.Entities, want) {
			t.Errorf("entities = %q, want %q among them", a.Entities, want)
		}
	}
	if got := analyse("What's in Survey.pdf?", false).Entities; !slices.Equal(got, []string{"Survey.pdf"}) {
		t.Errorf("entities = %q, want the file alone", got)
	}
	if got := analyse("Where do I sign?", false).Entities; len(got) > 0 {
		t.Errorf("entities = %q, want none: the asker is no entity", got)
	}
	if got := analyse("Compare the value of Highlands with Oak House. Translate into German: This is it.", false).Entities; !slices.Equal(got, []string{"Highlands", "Oak House", "German"}) {
		t.Errorf("entities = %q, want the names and no verb that begins a sentence", got)
	}
	if !slices.Contains(a.Keywords, "flashing") || slices.Contains(a.Keywords, "what") {
		t.Errorf("keywords = %q", a.Keywords)
	}
	if s := a.step("c1", 1); s.Message == "" || s.Details["complexity"] != "simple" {
		t.Errorf("step = %+v", s)
	}
}

func BenchmarkAnalyse(b *testing.B) {
	q := strings.Repeat("Which of the documents that Ada Brown wrote about roofs compares slate with lead? ", 30)
	for b.Loop() {
		analyse(q, true)
	}
}
