package locale

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/text/feature/plural"
)

// A text that is added is translated before it lands. FOOTNOTE_WRITE_TEXTS names a file that gets all of them, to be
// filled in.
func TestEveryTextIsInEveryLanguageAndNoOther(t *testing.T) {
	wanted := texts(t, sources(t))
	for line := range strings.Lines(phraseList) {
		one, more, counts := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if counts {
			wanted[more] = one
		} else if wanted[one] == "" {
			wanted[one] = ""
		}
	}
	if file := os.Getenv("FOOTNOTE_WRITE_TEXTS"); file != "" {
		writeTexts(t, file, wanted)
	}
	for _, l := range Languages[1:] {
		words, err := readCatalogue(files, l.catalogue)
		if err != nil {
			t.Fatal(err)
		}
		missing := 0
		for english, one := range wanted {
			said, there := words[english]
			switch {
			case !there:
				if missing++; missing < 6 {
					t.Errorf("%s has no words for %q", l.Code, english)
				}
			case one != "" && said.forms == nil || one == "" && said.forms != nil:
				t.Errorf("%s: %q has plural forms: %v, want %v", l.Code, english, said.forms != nil, one != "")
			default:
				checkHoles(t, l, english, said)
			}
		}
		if missing > 5 {
			t.Errorf("%s lacks %d texts in all", l.Code, missing)
		}
		for english := range words {
			if _, used := wanted[english]; !used {
				t.Errorf("%s has words for %q, which nobody says", l.Code, english)
			}
		}
	}
}

// checkHoles checks that a translation has no hole that the English words have not, and that it has all plural forms.
func checkHoles(t *testing.T, l *Language, english string, said translation) {
	t.Helper()
	all := []string{said.one}
	if said.forms != nil {
		all = nil
		for n := range 200 {
			form := plural.Cardinal.MatchPlural(l.tag, n, 0, 0, 0, 0)
			if said.forms[form] == "" && said.forms[plural.Other] == "" {
				t.Errorf("%s: %q has no form for %d", l.Code, english, n)
				return
			}
		}
		for _, words := range said.forms {
			all = append(all, words)
		}
	}
	for _, words := range all {
		for _, hole := range regexp.MustCompile(`\{[^}]*\}`).FindAllString(words, -1) {
			if !strings.Contains(english, hole) {
				t.Errorf("%s: %q has the hole %s, which %q has not", l.Code, words, hole, english)
			}
		}
		for _, hole := range holes(english) {
			if !strings.HasPrefix(hole, "{=") && len(hole) > 3 && !strings.Contains(words, hole) {
				t.Errorf("%s: %q lacks the hole %s of %q", l.Code, words, hole, english)
			}
		}
	}
}

// writeTexts writes all texts as a catalogue without translations.
func writeTexts(t *testing.T, file string, wanted map[string]string) {
	t.Helper()
	all := map[string]any{}
	for english, one := range wanted {
		all[english] = ""
		if one != "" {
			all[english] = map[string]string{"one": one, "other": english}
		}
	}
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(all); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
