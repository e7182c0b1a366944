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
	osd           = "osd" // tesseract's data for orientation and script detection; not a language
	mostLanguages = 3     // per page: each takes time, and adds false words
	fallback      = "eng"
)

// installedLanguages returns the languages with installed data by tesseract's names, and osd. The first line of the
// output, with the data directory, is skipped.
func (t *Tesseract) installedLanguages(ctx context.Context, program string) ([]string, error) {
	answer, err := t.run(ctx, program, nil, "--list-langs")
	if err != nil {
		return nil, fmt.Errorf("ask tesseract for its languages: %w", err)
	}
	var names []string
	for i, name := range strings.Fields(afterLine(string(answer))) {
		if i < 1000 && !strings.Contains(name, "/") { // a script, such as script/Latin, is not a language
			names = append(names, name)
		}
	}
	return names, nil
}

// afterLine returns the text after the first line.
func afterLine(s string) string {
	_, rest, _ := strings.Cut(s, "\n")
	return rest
}

// candidates returns the languages for recognising a page. script is tesseract's name of the page's script, empty if
// unknown. Configured languages take precedence. Otherwise it returns the installed languages of that script, with
// all installed languages as the fallback.
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

// ownLanguage returns tesseract's name of the detected language of a text, if it may be used, else "". tesseract's
// names have three letters (ISO 639-2) and those of package text two, so that both are compared as parsed tags.
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

// without returns a copy of a list without a name.
func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

// baseOf returns the language of tesseract's name, such as "deu" or "chi_sim".
func baseOf(name string) language.Base {
	name, _, _ = strings.Cut(name, "_")
	base, err := language.ParseBase(name)
	if err != nil {
		return language.Base{}
	}
	return base
}

// scriptOf returns the ISO 15924 script of tesseract's language name. golang.org/x/text has the likely script of
// each language (CLDR's likely subtags).
func scriptOf(name string) string {
	tag := language.Make(strings.NewReplacer("chi_sim", "zh-Hans", "chi_tra", "zh-Hant", "_latn", "-Latn", "_cyrl",
		"-Cyrl").Replace(name))
	script, _ := tag.Script()
	return script.String()
}

// scripts maps tesseract's names of scripts to ISO 15924 codes.
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
