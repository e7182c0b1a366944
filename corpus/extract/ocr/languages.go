package ocr

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"github.com/footnote/footnote/text"
)

const (
	osd           = "osd" // tesseract's data that tell how a page lies; no language
	mostLanguages = 3     // that a page is read in at once: each takes time, and finds words that are not there
	fallback      = "eng"
)

// installedLanguages are the languages that tesseract has data for, as it calls them, and osd. The list stands behind a
// line that says where the data are.
func (t *Tesseract) installedLanguages(ctx context.Context, program string) ([]string, error) {
	answer, err := t.run(ctx, program, nil, "--list-langs")
	if err != nil {
		return nil, fmt.Errorf("ask tesseract for its languages: %w", err)
	}
	var names []string
	for i, name := range strings.Fields(afterLine(string(answer))) {
		if i < 1000 && !strings.Contains(name, "/") { // a whole script, such as script/Latin, is no language
			names = append(names, name)
		}
	}
	return names, nil
}

// afterLine returns the text behind the first line.
func afterLine(s string) string {
	_, rest, _ := strings.Cut(s, "\n")
	return rest
}

// candidates are the languages to read a page in whose script is given by tesseract's name for it, empty if unknown.
// Settings go before all. Otherwise it is what is installed and written in that script; if nothing is, whatever is
// installed.
func (s *scan) candidates(script string) []string {
	if len(s.tesseract.Languages) > 0 {
		return s.tesseract.Languages
	}
	var fit []string
	for _, name := range s.installed {
		if name != osd && (script == "" || slices.Contains(scripts[script], scriptOf(name))) {
			fit = append(fit, name)
		}
	}
	if len(fit) == 0 {
		fit = slices.DeleteFunc(slices.Clone(s.installed), func(name string) bool { return name == osd })
	}
	if slices.Contains(fit, fallback) { // the language of most documents of unknown language
		fit = append([]string{fallback}, without(fit, fallback)...)
	}
	return fit[:min(len(fit), mostLanguages)]
}

// ownLanguage is the language that a text is in, as tesseract calls it, if it is one to read in; else empty.
// tesseract's names have three letters (ISO 639-2) and those of package text two, which is why both are compared as
// parsed tags.
func (s *scan) ownLanguage(read string) string {
	code := text.Detect(read)
	if code == "" {
		return ""
	}
	own, err := language.ParseBase(code)
	if err != nil {
		return ""
	}
	among := s.installed
	if len(s.tesseract.Languages) > 0 {
		among = s.tesseract.Languages
	}
	i := slices.IndexFunc(among, func(name string) bool { return baseOf(name) == own })
	if i < 0 {
		return ""
	}
	return among[i]
}

// without is a list without a name, as a copy.
func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

// baseOf is the language of tesseract's data of that name, such as "deu" or "chi_sim".
func baseOf(name string) language.Base {
	name, _, _ = strings.Cut(name, "_")
	base, err := language.ParseBase(name)
	if err != nil {
		return language.Base{}
	}
	return base
}

// scriptOf is the script that a language of tesseract's is mostly written in, by ISO 15924. golang.org/x/text knows the
// likely script of each language (CLDR's likely subtags).
func scriptOf(name string) string {
	tag := language.Make(strings.NewReplacer("chi_sim", "zh-Hans", "chi_tra", "zh-Hant", "_latn", "-Latn", "_cyrl",
		"-Cyrl").Replace(name))
	script, _ := tag.Script()
	return script.String()
}

// scripts are the scripts by ISO 15924 that tesseract's names of scripts stand for.
var scripts = map[string][]string{
	"Arabic": {"Arab"}, "Armenian": {"Armn"}, "Bengali": {"Beng"}, "Canadian_Aboriginal": {"Cans"},
	"Cherokee": {"Cher"}, "Cyrillic": {"Cyrl"}, "Devanagari": {"Deva"}, "Ethiopic": {"Ethi"}, "Fraktur": {"Latn"},
	"Georgian": {"Geor"}, "Greek": {"Grek"}, "Gujarati": {"Gujr"}, "Gurmukhi": {"Guru"},
	"Han":    {"Hans", "Hant", "Jpan"},
	"Hangul": {"Kore"}, "Hebrew": {"Hebr"}, "Hiragana": {"Jpan"}, "Japanese": {"Jpan"}, "Kannada": {"Knda"},
	"Katakana": {"Jpan"}, "Khmer": {"Khmr"}, "Korean": {"Kore"}, "Lao": {"Laoo"}, "Latin": {"Latn"},
	"Malayalam": {"Mlym"}, "Myanmar": {"Mymr"}, "Oriya": {"Orya"}, "Sinhala": {"Sinh"}, "Syriac": {"Syrc"},
	"Tamil": {"Taml"}, "Telugu": {"Telu"}, "Thaana": {"Thaa"}, "Thai": {"Thai"}, "Tibetan": {"Tibt"},
	"Vietnamese": {"Latn"},
}
