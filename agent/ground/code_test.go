package ground

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// evaluated is what Evaluate finds in an answer from one passage, which is footnote 1.
func evaluated(t *testing.T, passage, answer string) (confidence float64, explained string, unsupported []string) {
	t.Helper()
	s := NewSources()
	s.Number(corpus.Passage{ID: "p", DocumentID: "d", Text: passage}, corpus.Document{ID: "d", Title: "Handbook"})
	cite := NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r")
	w := NewWriter(nil, cite, false)
	if err := w.Quote(t.Context(), 1, passage, nil); err != nil {
		t.Fatal(err)
	}
	return NewEvidence(s, cite, chat.RunRequest{Message: "How do I install a package?"}).Evaluate(answer)
}

const (
	aptText = "Run apt-get install hello to install the package.\n\nThe package needs 40 kB of disk space."
	aptSaid = "The package needs 40 kB of disk space [1]."
	dragons = "The king keeps dragons in the cellar."
)

func TestWhatThePageDrawsIsCheckedWhereverItStands(t *testing.T) {
	t.Parallel()
	for name, drawn := range map[string]string{
		"fenced code":         "```\n" + dragons + "\n```",
		"fenced by tildes":    "~~~text\n" + dragons + "\n~~~",
		"indented code":       "    " + dragons,
		"a comment":           "```sh\n# " + dragons + "\napt-get update\n```",
		"another comment":     "```go\nx := 1 // " + dragons + "\n```",
		"a code span":         "`" + dragons + "`",
		"a quotation":         "> " + dragons,
		"code in a quotation": "> ```\n> " + dragons + "\n> ```",
		"a list":              "- " + dragons,
		"code in a list":      "- a:\n\n  ```\n  " + dragons + "\n  ```",
		"a row":               "| What | Where |\n|---|---|\n| " + dragons + " | - |",
		"the head of a table": "| " + strings.TrimSuffix(dragons, ".") +
			" | Size |\n|---|---|\n| package | 40 kB [1] |",
		"a head without bars":   strings.TrimSuffix(dragons, ".") + " | Size\n--- | ---\npackage | 40 kB [1]",
		"the text of a picture": "![" + dragons + "](x.png)",
		"the text of a link":    "[" + dragons + "](https://x.org/a)",
		"emphasis":              "***" + dragons + "***",
		"a struck text":         "~~" + dragons + "~~",
		"an element":            "<div>" + dragons + "</div>",
		"a comment of HTML":     "<!-- " + dragons + " -->",
		"German code":           "```\nDer König hält die Drachen im Keller.\n```",
	} {
		confidence, _, unsupported := evaluated(t, aptText, aptSaid+"\n\n"+drawn+"\n")
		if len(unsupported) != 1 || !strings.Contains(unsupported[0], "dragons in") &&
			!strings.Contains(unsupported[0], "Drachen") || confidence > 0.7 {
			t.Errorf("%s: unsupported = %q, confidence %v; want the sentence, at most 0.7", name, unsupported,
				confidence)
		}
	}
}

func TestProgramCodeIsNotJudgedByItsWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		code      string
		unchecked string // how many lines are told to be unchecked
	}{
		{"apt-get install hello", ""}, // stands in the passage
		{"The package needs 40 kB of disk space.", ""},
		{"sudo apt install dragons", "1 line of code was not checked"},
		{"git commit -m 'x'\ngit push", "2 lines of code were not checked"},
		{"SELECT name FROM users WHERE id IN (1, 2);", "1 line of code was not checked"},
		{"for x in range(3):\n    print(x)\n\nreturn x", "3 lines of code were not checked"},
		{"from datetime import date", "1 line of code was not checked"},
		{"Name: hello\nVersion: 2.10", "2 lines of code were not checked"},
		{"if (a && b) { return c; }", "1 line of code was not checked"},
		{"}", ""},
		{"# Update the package", "1 line of code was not checked"},
	} {
		confidence, explained, unsupported := evaluated(t, aptText, aptSaid+"\n\n```\n"+tt.code+"\n```\n")
		if len(unsupported) > 0 || confidence != 1 ||
			strings.Contains(explained, "not checked") != (tt.unchecked != "") ||
			!strings.Contains(explained, tt.unchecked) {
			t.Errorf("%q: unsupported = %q, confidence %v, %q; want none, 1, %q in it",
				tt.code, unsupported, confidence, explained, tt.unchecked)
		}
	}
}

func TestAMarkInCodeIsNoFootnoteOfItsProse(t *testing.T) {
	t.Parallel()
	all := splitClaims("It leaks [1].\n\n```\nThe king keeps dragons in the cellar [1].\n```\n", nil, nil)
	if len(all) != 2 || len(all[1].Numbers) > 0 || !slices.Equal(all[0].Numbers, []int{1}) {
		t.Errorf("claims = %+v, want a second one without footnotes", all)
	}
}

func TestProseInALineOfCode(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"国王在地下室里养了很多龙。":                         "国王在地下室里养了很多龙。",
		"// The mill was built in 1904":         "The mill was built in 1904",
		"x = 1  # Le toit est en mauvais état.": "Le toit est en mauvais état.",
		"Dragons rule Wales.":                   "Dragons rule Wales.",
		"RUN apt install the-package":           "",
		"print(\"hello\")":                      "",
		"const a = b.c[d];":                     "",
		"docker run -it ubuntu bash":            "",
		"Host: example.org":                     "",
	} {
		if got := proseIn(line); got != want {
			t.Errorf("proseIn(%q) = %q, want %q", line, got, want)
		}
	}
}
