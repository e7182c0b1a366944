package ground

import (
	"slices"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

const optimum = "The optimal price is the ratio of the two costs. Demand falls when the price rises."

// A formula is a claim only together with its sentence, which is judged by its words.
func TestAFormulaIsNoClaimByItself(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"The optimal price is the ratio of the two costs [1].\n\n\\[ p^* = \\frac{a}{b} \\]",
		"The optimal price is the ratio of the two costs:\n\n\\[\np^*\n= \\frac{a}{b}\n\\] [1]",
		`The optimal price \( p^* = \frac{a}{b} \) is the ratio of the two costs [1].`,
		"$$p^* = \\frac{a}{b}$$\n\nThe optimal price $p^*$ is the ratio of the two costs $a$ and $b$ [1].",
		"## $p^*$\n\nThe optimal price is the ratio of the two costs [1].\n\n- $a = 1$\n- \\(b = 2\\)",
		"The optimal price is the ratio of the two costs [1].\n\n| $a$ | $b$ |\n|---|---|\n| $y_1$ | $x_2$ |",
	} {
		if confidence, _, unsupported := evaluated(t, optimum, answer); len(unsupported) > 0 || confidence != 1 {
			t.Errorf("%q: unsupported %q, confidence %v; want none and 1", answer, unsupported, confidence)
		}
	}
}

func TestASentenceWithAFormulaIsJudgedByItsWords(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		`The king $k_1$ keeps dragons in the cellar.`, `The price rises to \(5\) euros.`,
	} {
		if _, _, unsupported := evaluated(
			t,
			optimum,
			optimum+" [1] "+said+" [1]",
		); !slices.Contains(
			unsupported,
			said,
		) {
			t.Errorf("%q: unsupported %q, want it among them", said, unsupported)
		}
	}
}

func TestAFormulaGetsNoFootnoteOfItsOwn(t *testing.T) {
	t.Parallel()
	s := NewSources()
	s.Number(corpus.Passage{ID: "p", DocumentID: "d", Text: optimum}, corpus.Document{ID: "d", Title: "Handbook"})
	e := NewEvidence(s, NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r"), chat.RunRequest{})
	for in, want := range map[string]string{
		"The optimal price is the ratio of the two costs.\n\n\\[ p^* = \\frac{a}{b} \\]": "The optimal price is " +
			"the ratio of the two costs [1].\n\n\\[ p^* = \\frac{a}{b} \\]",
		`The optimal price \(p = 1. 5\) is the ratio of the two costs. $x$`: `The optimal price \(p = 1. 5\) is ` +
			`the ratio of the two costs [1]. $x$`,
	} {
		if got, _, _ := e.WithPlacedFootnotes(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
