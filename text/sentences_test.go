package text_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

func TestSentences(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"plain sentences", "One is here. Two is there! Three?", []string{"One is here.", "Two is there!", "Three?"}},
		{"titles and initials", "Dr. Smith met J. R. Tolkien. They talked.",
			[]string{"Dr. Smith met J. R. Tolkien.", "They talked."}},
		{"Latin abbreviations", "Use salt, e.g. NaCl. Stir.", []string{"Use salt, e.g. NaCl.", "Stir."}},
		{"a figure's number", "See Fig. 3 for it. The answer is no. Go on.",
			[]string{"See Fig. 3 for it.", "The answer is no.", "Go on."}},
		{"a numbered item", "1. Open the door.\n2. Close it.", []string{"1. Open the door.", "2. Close it."}},
		{"numbers in lines of their own", "1.\nOpen the door.\n\n2)\n\nClose it.\n(c)\nLock it.\niv.\nGo. 5.",
			[]string{"1. Open the door.", "2)  Close it.", "(c) Lock it.", "iv. Go.", "5."}},
		{"decimals", "It is 3.5 m. Good.", []string{"It is 3.5 m.", "Good."}},
		{"a German date", "Am 3. Mai begann es. Es endete nie.", []string{"Am 3. Mai begann es.", "Es endete nie."}},
		{"a wrapped line goes on", "The roof is\nsound. It lasts.", []string{"The roof is sound.", "It lasts."}},
		{"rows stay apart", "Item\tPrice\nDoor\t40\nWindow\t90", []string{"Item\tPrice", "Door\t40", "Window\t90"}},
		{"a blank line ends a sentence", "Heading\n\nText follows", []string{"Heading", "Text follows"}},
		{"Chinese full stops", "屋顶良好。窗户破了！", []string{"屋顶良好。", "窗户破了！"}},
		{"a numbered item in a quote of Markdown", `1\. Open the door. 2\. Close it.`,
			[]string{`1\. Open the door.`, `2\. Close it.`}},
		{"long rows with leaders", "A monthly charge for the plan ........ GBP 16.00\nConnection fee ...... GBP 20.00",
			[]string{"A monthly charge for the plan ........ GBP 16.00", "Connection fee ...... GBP 20.00"}},
		{"a row with a leader", "Paper bill ...... GBP 2.25\nReplacement SIM ...... GBP 9.00",
			[]string{"Paper bill ...... GBP 2.25", "Replacement SIM ...... GBP 9.00"}},
		{"white space alone has none", " \n\n ", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := []rune(tt.in)
			var got []string
			for _, s := range text.Sentences(tt.in) {
				got = append(got, strings.ReplaceAll(string(r[s[0]:s[1]]), "\n", " "))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Sentences(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzSentences(f *testing.F) {
	for _, s := range []string{
		"", "A. B. C.", "1.\n2.\n\n", "\xff. X", "e.g.\u00a0A", strings.Repeat(" ", 50) + "A. A. A. ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		last, n := 0, utf8.RuneCountInString(s)
		for _, r := range text.Sentences(s) {
			if r[0] < last || r[0] >= r[1] || r[1] > n {
				t.Fatalf("Sentences(%q): range %v after %d of %d; want at least %v, less than %v, at most %v",
					s, r, last, n, last, r[1], n)
			}
			last = r[1]
		}
	})
}

func BenchmarkSentences(b *testing.B) {
	book := strings.Repeat(prose, 100)
	b.SetBytes(int64(len(book)))
	for b.Loop() {
		text.Sentences(book)
	}
}
