package offline

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"footnote/corpus/text"
)

// idle are words of questions that say nothing about the subject.
var idle = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`document documents file files say says said tell told mention mentions ` +
		`mentioned according describe describes described
		explain explains information info detail details please know find show give list happen happens much many
		mean means exactly question answer want need second first third last one more else also compare difference ` +
		`between versus vs
		dokument dokumente sagen steht document fichier dit documento dice wann wo wer was wie warum welche welcher ` +
		`welches gilt gelten beträgt
		muss kann darf quand combien comment pourquoi quel quelle quels quelles qui quoi cuándo cuánto cuánta ` +
		`cuántos cuántas dónde cómo cuál quién quiénes qué cuesta fue
		кто что где когда куда как какой какая какие какое почему сколько чей`) {
		m[w] = true
	}
	return m
}()

// measure asks for a number; the word after "how" is no part of the subject.
var measure = lazily(
	`(?i)\b(how|wie) ?(much|many|often|long|far|tall|high|wide|large|big|old|deep|heavy|fast|hot|cold|hoch|lange?|` +
		`viele?|oft|groß|alt|weit|schwer|teuer)\b`,
)

// particles are what Chinese and Japanese questions are asked with, and the kana between their words.
var particles = lazily(`什么时候|为什么|什么|怎样|怎么|如何|多少|哪里|哪个|哪些|谁|吗|呢|应该|可以|是|的|[誰何]|いつ|どこ|\p{Hiragana}+`)

// withoutParticles leaves the words that carry the sense of a question in Chinese characters; other questions stay as
// they are.
func withoutParticles(q string) string {
	if !strings.ContainsFunc(q, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return q
	}
	if left := particles().ReplaceAllString(q, " "); strings.ContainsFunc(left, unicode.IsLetter) {
		return left
	}
	return q
}

// contentWords returns the words of a question that say what it is about; only is false if none does and all are
// returned.
func contentWords(q string) (words []text.Word, only bool) {
	words = text.QueryWords(withoutParticles(measure().ReplaceAllString(q, "")), languages(q))
	kept := slices.DeleteFunc(
		slices.Clone(words), func(w text.Word) bool { return idle[strings.ToLower(w.Text)] || idle[w.Terms[0]] },
	)
	if len(kept) == 0 {
		return words, false
	}
	return kept, true
}

// languages returns the languages whose stems a question's words may have.
func languages(s string) []string {
	langs := []string{"en"}
	if lang := text.Detect(s); lang != "" && lang != "en" {
		langs = append(langs, lang)
	}
	return langs
}

var hasDigit = lazily(`\d`)

// names returns the words that must be in a text that answers the question: numbers, and words that are written as
// names.
func names(q string, words []text.Word) []text.Word {
	lang := text.Detect(q)
	capitals := 0
	for _, w := range words {
		if capital(w.Text) {
			capitals++
		}
	}
	shouting := lang == "de" || len(words) > 2 && capitals == len(words)
	var out []text.Word
	for _, w := range words {
		inside := strings.Index(q, w.Text) > 0
		if hasDigit().MatchString(w.Text) || capital(w.Text) && inside && !shouting {
			out = append(out, w)
		}
	}
	return out
}

func capital(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(r)
}

// searchText is what is given to the search: content words and quoted phrases; the question itself for scripts
// without spaces.
func searchText(question string, q query) string {
	var out []string
	for _, phrase := range q.quoted {
		out = append(out, `"`+phrase+`"`)
	}
	grams := false
	for _, w := range slices.Concat(q.words, q.borrowed) {
		grams = grams || w.Gram
		if !w.Gram && !slices.Contains(out, w.Text) {
			out = append(out, w.Text)
		}
	}
	if grams {
		out = []string{question}
		for _, w := range q.borrowed {
			out = append(out, w.Text)
		}
	}
	return clip(strings.Join(out, " "), 900)
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
