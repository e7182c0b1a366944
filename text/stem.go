package text

import (
	"slices"
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

// language holds the stemmer of a language and its list of stop words. Both functions take a lower-case word.
type language struct {
	stem func(lower string) string
	stop func(lower string) bool // nil: no list
	// foldFirst: the stemmer does not need diacritics, so that a word typed without them has the same stem.
	foldFirst bool
}

// languages by ISO 639-1. Those without stop words use the stemmers of snowballstem on folded words: without
// diacritics some endings stay, but words typed without them are found.
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

// snowballStemmer adapts a generated Snowball stemmer, which works on an environment.
func snowballStemmer(stem func(*snowballstem.Env) bool) func(string) string {
	return func(lower string) string {
		env := snowballstem.NewEnv(lower)
		stem(env)
		return env.Current()
	}
}

// languageOf returns the language of a tag, by its first part. Both forms of Norwegian share a stemmer.
func languageOf(lang string) (language, bool) {
	lang, _, _ = strings.Cut(strings.ToLower(lang), "-")
	if lang == "nb" || lang == "nn" {
		lang = "no"
	}
	l, ok := languages[lang]
	return l, ok
}

// termOf returns the index term of a normalised word: its stem, folded. Words with digits, points or underscores,
// and words of one or two bytes, are not stemmed.
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

// isStemmable reports whether a word has only letters, unlike a number or an identifier.
func isStemmable(w string) bool {
	for i := range len(w) {
		if c := w[i]; isDigit(c) || c == '_' || c == '.' {
			return false
		}
	}
	return true
}

// germanStem removes the endings of nouns, adjectives and weak verbs from a folded word, so that Dach, Dächer and
// Dächern have the same stem. At least four letters stay. It removes one ending, the longest possible; Snowball's
// German stemmer has three steps and more rules, but conflates more words.
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

// germanStop reports whether a word is a German stop word. Other languages use the list of their stemmer's package.
func germanStop(w string) bool {
	_, ok := germanStops[w]
	return ok
}

var germanStops = wordSet(`aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei ` +
	`bin ` +
	`bis bist da damit dann das dass dein
deine dem den denn der des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen ` +
	`einer eines er es etwas euch
euer für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre im in indem ins ` +
	`ist jede jedem jeden jeder jedes
jene jetzt kann kein keine können könnte machen man manche mein meine mich mir mit muss musste nach nicht nichts ` +
	`noch nun nur ob oder ohne sehr
sein seine seinem seinen seiner sich sie sind so solche soll sollte sondern sonst über um und uns unser unter viel ` +
	`vom von vor war waren warum was
weil welche welchem welchen welcher welches wenn wer werde werden wie wieder wieviel will wir wird wirst wo wollen ` +
	`wurde wurden während würde zu zum
zur zwar zwischen`)

// asking are question words that are missing in the stemmers' lists, by language.
var asking = map[string]map[string]struct{}{
	"en": wordSet(`could would shall may might must much many also us tell please yes does let show give explain ` +
		`describe say says said get got
		according document documents mean`),
	"fr": wordSet(
		`quel quelle quels quelles comment quand où pourquoi combien quoi est-ce fait sont plus cette ces cela dont`,
	),
	"es": wordSet(`cuál cuáles cómo cuándo dónde quién quiénes cuánto cuánta cuántos cuántas qué hay`),
	"sv": wordSet(`hur varför vem vilka många mycket`),
	"no": wordSet(`hvorfor hvordan hvilke mange mye`),
	"ru": wordSet(`какой какая какие каков сколько который которая которые`),
}

// grammar are bigrams and signs of Japanese, Chinese and Thai questions without a subject.
var grammar = wordSet(`什么 怎么 为什 么是 是什 哪里 哪个 多少 如何 是否 可以 請問 请问 什麼 怎麼 為什 麼是 多久 一个 一個 何で 何時 อะไร`)

// particles are the most frequent grammatical signs of Chinese.
var particles = wordSet(`的 了 是 吗 嗎 呢 么 麼`)

// wordSet returns the set of the space-separated words.
func wordSet(words string) map[string]struct{} {
	m := make(map[string]struct{})
	for w := range strings.FieldsSeq(words) {
		m[w] = struct{}{}
	}
	return m
}

// stopGram reports whether a bigram is only grammar: hiragana, or with a Chinese particle.
func stopGram(g string) bool {
	if _, ok := grammar[g]; ok {
		return true
	}
	hiragana := true
	for _, r := range g {
		if _, ok := particles[string(r)]; ok {
			return true
		}
		hiragana = hiragana && r >= 0x3041 && r <= 0x309f
	}
	return hiragana
}

// IsStopGram reports whether a bigram of a script without spaces is only grammar.
func IsStopGram(g string) bool { return stopGram(g) }

// IsStop reports whether a word is a stop word of a language (ISO 639-1). It does not check other languages.
func IsStop(word, lang string) bool {
	l, ok := languageOf(lang)
	return ok && l.isStop(cleanToken(word), lang)
}

// Stops returns a function that reports whether a word is a stop word of one of the languages (ISO 639-1).
func Stops(langs ...string) func(word string) bool {
	var known []func(lower string) bool
	for _, lang := range langs {
		if l, ok := languageOf(lang); ok {
			known = append(known, func(lower string) bool { return l.isStop(lower, lang) })
		}
	}
	return func(word string) bool {
		word = cleanToken(word)
		return slices.ContainsFunc(known, func(is func(string) bool) bool { return is(word) })
	}
}

// isStop reports whether a normalised word is a stop word or a question word.
func (l language) isStop(lower, lang string) bool {
	if l.stop == nil {
		return false
	}
	_, asks := asking[lang][lower]
	return asks || l.stop(lower)
}
