package text

import (
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/turkish"
	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/hungarian"
	"github.com/kljensen/snowball/norwegian"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
	"github.com/kljensen/snowball/swedish"
)

// language holds the stemmer of a language and its list of stop words. Both functions take a word in lower case.
type language struct {
	stem func(lower string) string
	stop func(lower string) bool // nil: no list
	// foldFirst: the stemmer does not need the diacritics, so that a word typed without them has the same stem.
	foldFirst bool
}

// languages by ISO 639-1. Those without a list of stop words have the stemmers of snowballstem on folded words: without
// their diacritics some endings stay, but a word typed without them is found.
var languages = map[string]language{
	"ar": {snowballStemmer(arabic.Stem), nil, true},
	"da": {snowballStemmer(danish.Stem), nil, true},
	"de": {germanStem, germanStop, true},
	"en": {func(w string) string { return english.Stem(w, true) }, english.IsStopWord, true},
	"es": {func(w string) string { return spanish.Stem(w, true) }, spanish.IsStopWord, false},
	"fi": {snowballStemmer(finnish.Stem), nil, true},
	"fr": {func(w string) string { return french.Stem(w, true) }, french.IsStopWord, false},
	"hu": {func(w string) string { return hungarian.Stem(w, true) }, hungarian.IsStopWord, false},
	"it": {snowballStemmer(italian.Stem), nil, true},
	"nl": {snowballStemmer(dutch.Stem), nil, true},
	"no": {func(w string) string { return norwegian.Stem(w, true) }, norwegian.IsStopWord, true},
	"pt": {snowballStemmer(portuguese.Stem), nil, true},
	"ro": {snowballStemmer(romanian.Stem), nil, true},
	"ru": {func(w string) string { return russian.Stem(w, true) }, russian.IsStopWord, false},
	"sv": {func(w string) string { return swedish.Stem(w, true) }, swedish.IsStopWord, true},
	"tr": {snowballStemmer(turkish.Stem), nil, true},
}

// snowballStemmer makes a function of a stemmer that works on an environment, as generated Snowball code does.
func snowballStemmer(stem func(*snowballstem.Env) bool) func(string) string {
	return func(lower string) string {
		env := snowballstem.NewEnv(lower)
		stem(env)
		return env.Current()
	}
}

// languageOf finds a language by its tag, of which the first part counts. Both forms of Norwegian have one stemmer.
func languageOf(lang string) (language, bool) {
	lang, _, _ = strings.Cut(strings.ToLower(lang), "-")
	if lang == "nb" || lang == "nn" {
		lang = "no"
	}
	l, ok := languages[lang]
	return l, ok
}

// termOf returns the term of a cleaned word: its stem, folded. Words with digits, points or underscores stay whole. A
// word of one or two bytes has no ending.
func (l language) termOf(lower string) string {
	if l.stem == nil || len(lower) < 3 || !isStemmable(lower) {
		return foldLower(lower)
	}
	if l.foldFirst {
		lower = foldLower(lower)
	}
	if t := foldLower(l.stem(lower)); t != "" {
		return t
	}
	return foldLower(lower)
}

// isStemmable reports whether a word is one of letters, not a number or a name of program code.
func isStemmable(w string) bool {
	for i := range len(w) {
		if c := w[i]; isDigit(c) || c == '_' || c == '.' {
			return false
		}
	}
	return true
}

// germanStem removes the endings of nouns, adjectives and weak verbs from a folded word, so that Dach, Dächer and
// Dächern meet. At least four letters stay. It takes off one ending, the longest that leaves enough, which Snowball's
// German stemmer does in three steps with more rules; the light form keeps more words apart.
func germanStem(w string) string {
	for _, ending := range []string{"ern", "nen", "em", "en", "er", "es", "e", "n", "s"} {
		rest, ok := strings.CutSuffix(w, ending)
		if !ok || utf8.RuneCountInString(rest) < 4 {
			continue
		}
		if (ending == "s" || ending == "n") && strings.HasSuffix(rest, ending) { // Anlass, Mann
			continue
		}
		return rest
	}
	return w
}
