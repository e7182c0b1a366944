package run

import (
	"testing"

	"github.com/footnote/footnote/agent/ground"
)

func TestJudgementsAreRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		said, text string
		score      float64 // -1: none
	}{
		{`{"evaluation":"Good. Very good. Quite whole. And so on.","confidence":0.7}`,
			"Good. Very good. Quite whole.", 0.7},
		{"Here it is:\n```json\n{\"confidence\": \"80%\", \"evaluation\": \"Good.\"}\n```", "Good.", 0.8},
		{`{"evaluation":"Good.","confidence":"0.5"}`, "Good.", 0.5},
		{`{"evaluation":"Good.","confidence":-1}`, "Good.", -1},
		{`{"evaluation":"Good.","confidence":null}`, "Good.", -1},
		{`{"evaluation":"Good.","confidence":"NaN"}`, "Good.", -1},
		{`{"confidence":0}`, "The model gave a number only.", 0},
		{"All is answered.", "All is answered.", -1},
		{"…", "", -1},
	} {
		got := readJudgement(tt.said, nil)
		score := -1.0
		if got.score != nil {
			score = *got.score
		}
		if got.text != tt.text || score != tt.score {
			t.Errorf("readJudgement(%q) = %q, %v, want %q, %v", tt.said, got.text, score, tt.text, tt.score)
		}
	}
}

func TestConfidenceIsTheLowerOfTheModelsAndTheProgramsOwn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		model     *float64
		found     float64
		faultless bool
		cited     bool
		want      float64
	}{
		{"the model doubts", new(0.2), 0.9, false, true, 0.2},
		{"the passages do not bear it out", new(0.95), 0.4, false, true, 0.4},
		{"the model is surer", new(0.95), 0.72, true, true, 0.82},
		{"the model is a little surer", new(0.75), 0.72, true, true, 0.75},
		{"the model gave no number", nil, 0.9, false, true, 0.9},
		{"nothing was compared with passages", new(0.95), ground.UncheckedConfidence, true, false, 0.95},
		{"nothing was compared, and the model doubts", new(0.3), ground.UncheckedConfidence, true, false, 0.3},
		{"no sentence carries a footnote", new(0.95), 0.1, false, false, 0.1},
		{"a sentence is held by nothing, and the rest is", new(0.95), 0.8, false, false, 0.8},
	} {
		found := evaluation{confidence: tt.found, explained: "Found.", faultless: tt.faultless}
		if !tt.faultless {
			found.unsupported = []string{"It is so."}
		}
		if got, _ := (judgement{text: "Said.", score: tt.model}).combineWith(found, tt.cited); got != tt.want {
			t.Errorf("%s: confidence = %v, want %v", tt.name, got, tt.want)
		}
	}
}
