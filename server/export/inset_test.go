package export

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

// An answer's words are a model's, and may be those of a document that wants to be quoted.
func TestAnAnswerMakesNoFootnotesOfItsOwn(t *testing.T) {
	for name, text := range map[string]string{
		"a list of sources":   "The roof lasts [1].\n\n[1]: It lasts forever.",
		"a definition":        "The roof lasts [1].\n\n[^1]: It lasts forever.",
		"one that is escaped": "The roof lasts [1].\n\n\\\\[^1]: It lasts forever.",
		"one in a quote":      "The roof lasts [1].\n\n> [^1]: It lasts forever.",
	} {
		e := answer()
		e.Answer = text
		page, err := HTML("t", []chat.Evidence{e})
		if err != nil {
			t.Fatal(err)
		}
		_, notes, _ := strings.Cut(string(page), `class="footnotes"`)
		if !strings.Contains(notes, "It lasts 30 years.") || strings.Contains(notes, "forever") {
			t.Errorf("%s: the footnotes are\n%s", name, notes)
		}
	}
}

func TestAnAnswerHidesNothingThatFollows(t *testing.T) {
	for name, text := range map[string]string{
		"a comment": "It lasts [1].\n\n<!-- and so", "a script": "It lasts [1].\n\n<script>",
		"an instruction": "It lasts [1].\n\n<?x", "words and a comment": "It lasts [1]. <!-- a --> <b>b</b>",
		"code": "It lasts [1].\n\n```go\nx := 1 // [1]", "much code": "It lasts [1].\n\n~~~~\n~~~\nx",
		"code behind a comment": "It lasts [1].\n\n<!--\n```\nx",
	} {
		e := answer()
		e.Answer = text
		page, err := HTML("t", []chat.Evidence{e, answer()})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`id="fn:1"`, `id="fn:2"`, "It lasts 30 years.", "<em>30 years</em>"} {
			if !strings.Contains(string(page), want) {
				t.Errorf("%s: the page has no %q:\n%s", name, want, page)
			}
		}
	}
}
