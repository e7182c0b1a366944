package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/e2e/scripted"
)

// doubts is a model's judgement that names sentences by number.
func doubts(numbers string) scripted.Reply {
	return scripted.Reply{
		Text: `{"evaluation":"One thing is invented.","confidence":0.9,"unsupported":` + numbers + `}`,
	}
}

// shownToTheJudge is what the last request shows of an answer.
func shownToTheJudge(t *testing.T, model *scripted.Model) string {
	t.Helper()
	requests := model.Requests()
	messages := requests[len(requests)-1].Messages
	if !strings.Contains(messages[0].Text, "You judge an answer") {
		t.Fatalf("the last request is none to judge: %q, want %q in it", messages[0].Text, "You judge an answer")
	}
	return messages[len(messages)-1].Text
}

func TestSentencesThatTheJudgingModelDoubtsAreUnsupported(t *testing.T) {
	t.Parallel()
	const (
		days    = "There are 28 days of paid holiday a year."
		carried = "Unused days may be carried over until 31 March."
		answer  = "There are 28 days of paid holiday a year [1]. Unused days may be carried over until 31 March [1]."
	)
	for _, tt := range []struct {
		name, numbers string
		unsupported   []string
		confidence    float64
		says          string // part of the self-evaluation
	}{
		{"none", `[]`, nil, 0.9, "2 of 2 sentences"},
		{"left out", `null`, nil, 0.9, "2 of 2 sentences"},
		{"one", `[2]`, []string{carried}, 0.5,
			"It finds 1 sentence of the answer in no text that it was shown. 1 of 2 sentences"},
		{"one, twice and as a word", `["2", 2]`, []string{carried}, 0.5, "1 of 2 sentences"},
		{"all", `[1,2]`, []string{days, carried}, 0, "0 of 2 sentences"},
		{"a number that no sentence has", `[2,7]`, nil, 0.9, "2 of 2 sentences"},
		{"words", `["the second"]`, nil, 0.9, "2 of 2 sentences"},
		{"no list", `"2"`, nil, 0.9, "2 of 2 sentences"},
	} {
		model := scripted.New(calls(search("paid holiday")), says(answer), doubts(tt.numbers))
		a := newHouse(t, model).answer(selfEvaluating("How many days of paid holiday are there?")).answer()
		if !slices.Equal(a.Unsupported, tt.unsupported) || a.Confidence != tt.confidence ||
			!strings.Contains(a.SelfEvaluation, tt.says) {
			t.Errorf("%s: unsupported %q, confidence %v, %q; want %q, %v, %q", tt.name, a.Unsupported, a.Confidence,
				a.SelfEvaluation, tt.unsupported, tt.confidence, tt.says)
		}
		if n := len(model.Requests()); n != 3 {
			t.Errorf("%s: %d requests to the model, want 3: doubting costs no further one", tt.name, n)
		}
		shown := shownToTheJudge(t, model)
		for _, part := range []string{
			"1. " + days + "\n2. " + carried + "\n", "[1] ", "until 31 March of the following year.",
		} {
			if !strings.Contains(shown, part) {
				t.Errorf("%s: the model is not shown %q:\n%s", tt.name, part, shown)
			}
		}
	}
}

func TestTheJudgingModelDoubtsWhatAGivenTextDoesNotSay(t *testing.T) {
	t.Parallel()
	const given = "The survey was made by Ada Brown. The sky over the port is green in March, and the tide is low."
	for _, tt := range []struct {
		name, answer, numbers string
		unsupported           []string
		confidence            float64
	}{
		{"nothing is doubted", "The sky over the port is green in March.", `[]`, nil, 0.9},
		{"a sentence is", "The sky over the port is green in March. The survey was made by Ada Brown.", `[1]`,
			[]string{"The sky over the port is green in March."}, 0.4},
		{"a sentence in another language, which words can't be compared with",
			"Der Himmel über dem Hafen ist im März nicht grün, und das Wasser ist hoch.", `[1]`,
			[]string{"Der Himmel über dem Hafen ist im März nicht grün, und das Wasser ist hoch."}, 0},
		{"only what the rules hold is asked about", "The king keeps dragons. The survey was made by Ada Brown.", `[1]`,
			[]string{"The king keeps dragons.", "The survey was made by Ada Brown."}, 0},
	} {
		model := scripted.New(says(tt.answer), doubts(tt.numbers))
		req := selfEvaluating("What does the text say?")
		req.ContextText = given
		a := newHouse(t, model).answer(req).answer()
		if !slices.Equal(a.Unsupported, tt.unsupported) || a.Confidence != tt.confidence {
			t.Errorf("%s: unsupported %q, confidence %v (%s); want %q, %v", tt.name, a.Unsupported, a.Confidence,
				a.SelfEvaluation, tt.unsupported, tt.confidence)
		}
		if shown := shownToTheJudge(t, model); !strings.Contains(shown, given) || !strings.Contains(shown, "\n1. ") {
			t.Errorf("%s: the model is shown\n%s", tt.name, shown)
		}
	}
}

func TestTheJudgingModelIsNotAskedAboutWhatItDoesNotSee(t *testing.T) {
	t.Parallel()
	// the sum rests on what calculate returned, which the judge's prompt does not hold
	model := scripted.New(calls(call("calculate", `{"expression":"391*17"}`)), says("391 × 17 is 6,647."),
		doubts(`[1]`))
	a := newHouse(t, model).answer(selfEvaluating("What is 391 * 17?")).answer()
	if len(a.Unsupported) > 0 {
		t.Errorf("unsupported = %q, want nothing", a.Unsupported)
	}
	if shown := shownToTheJudge(t, model); strings.Contains(shown, "that you check") {
		t.Errorf("the model is asked about sentences:\n%s", shown)
	}
}

func TestADoubtGoesWithItsAnswer(t *testing.T) {
	t.Parallel()
	low := scripted.Reply{Text: `{"evaluation":"The roof is missing.","confidence":0.3,"unsupported":[1]}`}
	model := scripted.New(calls(search("paid holiday")), says(goodAnswer), low, calls(search("roof renewed")),
		says(fullAnswer), judges("Complete.", 0.9))
	if a := newHouse(
		t, model,
	).answer(
		selfEvaluating("How many days of paid holiday are there, and who renewed the roof?"),
	).answer(); len(a.Unsupported) > 0 || a.Confidence != 0.9 {
		t.Errorf("the better answer: unsupported %q, confidence %v; want nothing, 0.9", a.Unsupported, a.Confidence)
	}
}
