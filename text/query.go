package text

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Word is a content word of a question, or a bigram of one, with the terms it may have been indexed under. Terms are
// alternatives: a passage has the word if it has one of them.
type Word struct {
	Text  string // as typed
	Terms []string
	Gram  bool // a bigram of a script without spaces
}

// QueryWords returns the content words of a question. Stop words of the question's language are dropped unless nothing
// else is left. langs are the languages (ISO 639-1) that documents were analysed in: each word has a term for each of
// them and its plain form. A word that is typed twice counts once. A question of stop words alone, such as "who is
// who", keeps them.
func QueryWords(q string, langs []string) []Word {
	var all []Word
	var lowers []string
	seen := make(map[string]bool)
	add := func(typed, lower string, gram bool) {
		if lower != "" && !seen[lower] && len(all) < maxReadWords {
			seen[lower] = true
			all, lowers = append(all, Word{Text: typed, Gram: gram}), append(lowers, lower)
		}
	}
	scanTokens(q, func(t token) bool {
		raw := q[t.start:t.end]
		switch {
		case t.grams:
			eachGram(raw, func(g string, from, to int) { add(raw[from:to], g, true) })
		case t.beside && isElision(raw):
		default:
			add(raw, cleanToken(cutToken(raw)), false)
		}
		return len(all) < maxReadWords
	})
	stop := stopsOf(lowers, langs)
	words := all[:0:0]
	for i, w := range all {
		if len(words) < maxQueryWords && !stop(lowers[i], w.Gram) {
			w.Terms = termVariants(lowers[i], w.Gram, langs)
			words = append(words, w)
		}
	}
	if len(words) > 0 {
		return words
	}
	all = all[:min(len(all), maxQueryWords)]
	for i := range all {
		all[i].Terms = termVariants(lowers[i], all[i].Gram, langs)
	}
	return all
}

// Bounds of what is searched for of a pasted text: of its different words, and of those that are no stop words.
const (
	maxReadWords  = 1000
	maxQueryWords = 64
)

// QueryTerms returns the terms of QueryWords, each once.
func QueryTerms(q string, langs []string) []string {
	var out []string
	for _, w := range QueryWords(q, langs) {
		for _, t := range w.Terms {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// stopsOf picks the language that most of the words are stop words of and returns its test. English wins a draw, then
// the order of langs. The question's language need not be that of the documents: langs may be many, and the question is
// short.
func stopsOf(lowers, langs []string) func(lower string, gram bool) bool {
	best, most := "en", 0
	for _, lang := range append([]string{"en"}, langs...) {
		l, ok := languageOf(lang)
		if !ok {
			continue
		}
		n := 0
		for _, w := range lowers {
			if l.isStop(w, lang) {
				n++
			}
		}
		if n > most {
			best, most = lang, n
		}
	}
	l, _ := languageOf(best)
	return func(lower string, gram bool) bool {
		if gram {
			return stopGram(lower)
		}
		return l.isStop(lower, best)
	}
}

// termVariants returns every term that a cleaned word may have been indexed under. German has one more for words that
// were typed with "ae" for "ä".
func termVariants(lower string, gram bool, langs []string) []string {
	if gram {
		return []string{lower}
	}
	out := []string{foldLower(lower)}
	add := func(t string) {
		if t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for _, lang := range langs {
		l, ok := languageOf(lang)
		if !ok {
			continue
		}
		add(l.termOf(lower))
		if lang == "de" && isStemmable(lower) {
			add(l.termOf(umlauts.Replace(lower)))
		}
	}
	return out
}

// umlauts reads the spelling of keyboards without umlauts.
var umlauts = strings.NewReplacer("ae", "ä", "oe", "ö", "ue", "ü")

// Phrases returns the texts in double quotes ("…", “…”, „…“, «…»), without empty ones. Any two of these signs belong
// together, since keyboards mix them; one that is left open is passed over.
func Phrases(q string) []string {
	var out []string
	start := -1
	for i, r := range q {
		switch r {
		case '"', '“', '”', '„', '«', '»':
			if start < 0 {
				start = i + len(string(r))
				continue
			}
			if p := strings.TrimSpace(q[start:i]); p != "" {
				out = append(out, p)
			}
			start = -1
		}
	}
	return out
}

// plainGram brings a bigram to its plain form: full-width katakana for half-width, composed syllables for parts.
func plainGram(g string) string {
	if norm.NFKC.IsNormalString(g) {
		return g
	}
	return cleanToken(g)
}
