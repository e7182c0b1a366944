package judge_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/eval/judge"
)

// The program's own questions are of every kind, and what they expect stands in the documents they name.
func TestEmbeddedQuestionsCanBeAnswered(t *testing.T) {
	t.Parallel()
	questions, err := judge.Parse(strings.NewReader(judge.Embedded))
	if err != nil {
		t.Fatal(err)
	}
	documents := filepath.Join("../../../..", "cmd", "footnote", "eval", "testdata")
	kinds := map[string]int{}
	for _, q := range questions {
		kinds[q.Kind]++
		if (q.Kind == "unanswerable") != q.Refuse() {
			t.Errorf("%q is %s and expects %v, %v", q.Text, q.Kind, q.Passages, q.Words)
		}
		if (q.Kind == "follow-up") && len(q.Before) == 0 {
			t.Errorf("%q follows nothing", q.Text)
		}
		for _, p := range q.Passages {
			text, err := os.ReadFile(filepath.Join(documents, "library", p.Document))
			if err != nil {
				text, err = os.ReadFile(filepath.Join(documents, "handbook", p.Document))
			}
			if err != nil {
				t.Errorf("%q: there is no document %s", q.Text, p.Document)
			} else if !strings.Contains(strings.ToLower(strings.Join(strings.Fields(string(text)), " ")),
				strings.ToLower(p.Words)) {
				t.Errorf("%q: %s does not say %q", q.Text, p.Document, p.Words)
			}
		}
	}
	for _, kind := range []string{
		"simple", "comparison", "multi-hop", "follow-up", "named document", "metadata", "arithmetic", "unanswerable",
	} {
		if kinds[kind] < 6 {
			t.Errorf("there are %d questions of the kind %s, want at least 6", kinds[kind], kind)
		}
	}
	if len(questions) < 60 {
		t.Errorf("there are %d questions, want at least 60 questions", len(questions))
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := judge.Parse(
		strings.NewReader(
			"# a note\n\nhop\ta.md + b/c.md\tred + blue sky\t12 | twelve\tFirst? → Second?\r\nno\t-\t-\t-\tWho?\n",
		),
	)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v; want 2", got, err)
	}
	q := got[0]
	if q.Kind != "hop" || !slices.Equal(q.Before, []string{"First?"}) || q.Text != "Second?" ||
		!slices.Equal(q.Words, []string{"12 | twelve"}) ||
		!slices.Equal(q.Passages, []judge.Passage{
			{Document: "a.md", Words: "red"}, {Document: "b/c.md", Words: "blue sky"},
		}) || q.Refuse() {
		t.Errorf("first: %+v; want Kind %q and Text %q", q, "hop", "Second?")
	}
	if !got[1].Refuse() {
		t.Errorf("second: %+v", got[1])
	}
	for text, says := range map[string]string{
		"":                                 "no questions",
		"# only a note\n":                  "no questions",
		"\na\tb\tc\td\n":                   "line 2 of the questions: it has 4 fields",
		"a\tx.md + y.md\tone\t-\tWhy?\n":   "2 documents and 1 quotes",
		"\t-\t-\t-\tWhy?\n":                "no kind",
		"a\t-\t-\t-\t-\n":                  "no question",
		strings.Repeat("#", 1<<20) + "#\n": "larger than 1 MiB",
		strings.Repeat("a\t-\t-\t-\tWhy?\n", 2001): "more than 2000",
	} {
		if _, err := judge.Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.40q: %v, want %q", text, err, says)
		}
	}
}

// Each thing that is due can be missing, and then the answer is not right.
func TestJudge(t *testing.T) {
	t.Parallel()
	paths := map[string]string{"1": "a.md", "2": "b.md"}
	cite := func(id, quote string) chat.Citation {
		return chat.Citation{DocumentID: id, Quote: quote, Check: chat.CheckVerified}
	}
	unfound := cite("1", "The sky\n is RED")
	unfound.Check = chat.CheckNotFound
	q := judge.Question{
		Kind: "k", Text: "?", Passages: []judge.Passage{{Document: "a.md", Words: "sky is red"}},
		Words: []string{"12 | twelve"},
	}
	none := judge.Question{Kind: "k", Text: "?"}
	refusal := chat.Answer{Markdown: "Nothing.", StopReason: chat.StopRefused}
	for name, row := range map[string]struct {
		question                          judge.Question
		answer                            chat.Answer
		right                             bool
		document, passage, words, refused judge.Mark
	}{
		"all there": {q,
			chat.Answer{
				Markdown: "Twelve.", Citations: []chat.Citation{cite("2", "x"), cite("1", "The sky\n is RED.")},
			}, true, judge.Hit, judge.Hit, judge.Hit, judge.NotDue},
		"another document": {q, chat.Answer{Markdown: "12", Citations: []chat.Citation{cite("2", "The sky is red.")}},
			false, judge.Miss, judge.Miss, judge.Hit, judge.NotDue},
		"another passage": {q, chat.Answer{Markdown: "12", Citations: []chat.Citation{cite("1", "The sea is red.")}},
			false, judge.Hit, judge.Miss, judge.Hit, judge.NotDue},
		"words across two": {q,
			chat.Answer{Markdown: "12", Citations: []chat.Citation{cite("1", "The sky"), cite("1", "is red")}}, false,
			judge.Hit, judge.Miss, judge.Hit, judge.NotDue},
		"a quote not found": {q, chat.Answer{Markdown: "12", Citations: []chat.Citation{unfound}}, false, judge.Miss,
			judge.Miss, judge.Hit, judge.NotDue},
		"other words": {q, chat.Answer{Markdown: "13", Citations: []chat.Citation{cite("1", "The sky is red.")}},
			false, judge.Hit, judge.Hit, judge.Miss, judge.NotDue},
		"refused wrongly": {q, refusal, false, judge.Miss, judge.Miss, judge.Miss, judge.NotDue},
		"refused rightly": {none, refusal, true, judge.NotDue, judge.NotDue, judge.NotDue, judge.Hit},
		"only the closest": {none, chat.Answer{Markdown: "> x [1]", Finding: chat.FindingClosest}, true, judge.NotDue,
			judge.NotDue, judge.NotDue, judge.Hit},
		"called found": {none, chat.Answer{Markdown: "> x [1]", Finding: chat.FindingFound}, false, judge.NotDue,
			judge.NotDue, judge.NotDue, judge.Miss},
		"answered wrongly": {none, chat.Answer{Markdown: "12", StopReason: chat.StopAnswered}, false, judge.NotDue,
			judge.NotDue, judge.NotDue, judge.Miss},
		"one of two is left": {judge.Question{
			Passages: []judge.Passage{{Document: "a.md", Words: "x"}, {Document: "b.md", Words: "x"}},
		}, chat.Answer{Citations: []chat.Citation{cite("1", "x")}}, false, judge.Miss, judge.Miss, judge.NotDue,
			judge.NotDue},
	} {
		v := judge.Judge(row.question, row.answer, paths)
		if v.Right != row.right || v.Document != row.document || v.Passage != row.passage || v.Words != row.words ||
			v.Refusal != row.refused {
			t.Errorf("%s: %+v; want Right %v, Document %v, Passage %v, Words %v, Refusal %v",
				name, v, row.right, row.document, row.passage, row.words, row.refused)
		}
	}
	quotes := chat.Answer{
		Finding:   chat.FindingClosest,
		Citations: []chat.Citation{cite("2", "x"), cite("1", "The sky is red.")},
	}
	v := judge.Judge(judge.Question{Passages: []judge.Passage{{Document: "a.md", Words: "red"}}}, quotes, paths)
	if v.First != judge.Miss || v.Found != judge.Miss || v.Passage != judge.Hit {
		t.Errorf("the second quote answers: %+v; want First %v, Found %v, Passage %v", v, judge.Miss,
			judge.Miss, judge.Hit)
	}
	if v := judge.Lost(none, "gone"); v.Right || v.Failed != "gone" || v.Refusal != judge.Miss {
		t.Errorf("a run without an answer: %+v; want Right false, Failed %q, Refusal %v", v, "gone", judge.Miss)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	var verdicts []judge.Verdict
	for i := range 20 {
		verdicts = append(verdicts, judge.Verdict{
			Kind: "one", Right: i > 0, Document: judge.Hit, Steps: 2 + i%2, Millis: int64(100 - i), Refused: i == 0,
			Question: "First?",
		})
	}
	verdicts = append(verdicts, judge.Verdict{Kind: "two", Refusal: judge.Miss, Question: "Second?", Steps: 1},
		judge.Verdict{Kind: "two", Refusal: judge.Miss, Failed: "gone", Question: "Third?"})
	r := judge.NewReport("m", 3, verdicts)
	one := r.Kinds[0]
	if len(r.Kinds) != 2 || one.Right != 19 || one.Document != (judge.Part{Hit: 20, Due: 20}) || one.Withheld != 1 ||
		one.Steps != 2.5 || one.Median != 90 || one.P95 != 99 {
		t.Errorf("%+v; want Right 19, Withheld 1, Steps 2.5, Median 90, P95 99", one)
	}
	if r.Total.Questions != 22 || r.Total.Right != 19 || r.Total.Refusal != (judge.Part{Due: 2}) ||
		r.Kinds[1].Steps != 1 {
		t.Errorf("%+v; want Questions 22 and Right 19", r.Total)
	}
	var out strings.Builder
	r.Print(&out)
	for _, line := range []string{
		"Model m: 22 questions, 3 documents",
		"| one  | 20        | 19    | 20/20    | –       | –     | –     | –     | –       | 1        | 2.5   | 90   " +
			"  | 99     |",
		"✕ one: First? (refused, though a document answers)", "✕ two: Second? (answered, though no document does)",
		"✕ two: Third? (no answer: gone)",
	} {
		if !strings.Contains(out.String(), line+"\n") {
			t.Errorf("it does not print %q:\n%s", line, out.String())
		}
	}
}
