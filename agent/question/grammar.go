package question

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// grammar holds a language's words for joining questions and for references: closed classes, in lower case. There
// are five grammars. A question in another language is parsed by the one that knows most of its words. That seldom
// finds parts or references, which only costs a shortcut.
type grammar struct {
	language     string
	conjunctions []string
	// without words that also join clauses of statements (French que, Spanish words without accents, Italian che)
	questions   []string
	reasons     []string // question words that ask about the context when used alone
	back        []string // pronouns for the context
	determiners []string // those that may precede a noun
	articles    []string // definite
	manner      []string // words that introduce a manner
	you         []string
	self        []string // first person
	polite      []string
	things      []string // question words for a thing
	persons     []string // question words for a person
	turns       []string // words that change the meaning: negations, directions, amounts
}

var grammars = []grammar{
	{
		language: "en", conjunctions: wordList("and but or also"),
		questions: wordList("what who whom whose when where why how which"), reasons: wordList("what why so"),
		back: wordList("that this it them those these"), determiners: wordList("that this those these"),
		articles: wordList("the"), manner: wordList("as in into to"),
		you: wordList("you your"), self: wordList("i me my we us our"),
		polite: wordList("please hey hi hello"),
		things: wordList("what which"), persons: wordList("who whom whose"), turns: wordList(
			"not no nor t before after since until above below without more most few than only all both any other same",
		),
	},
	{
		language: "de", conjunctions: wordList("und aber oder sowie"),
		questions: wordList(
			"was wer wen wem wessen wann wo woher wohin womit wofür wodurch warum wieso weshalb wie wieviel welche " +
				"welcher welches welchen welchem",
		),
		reasons:  wordList("was warum wieso weshalb"),
		back:     wordList("das dies es sie ihn davon dazu damit darüber daraus"),
		articles: wordList("der die das den dem des"), manner: wordList("als in auf"), you: wordList("du dein deine"),
		self:   wordList("ich mir mich mein meine wir uns"),
		polite: wordList("bitte"), things: wordList("was welche welcher welches welchen welchem"),
		persons: wordList("wer wen wem wessen"),
		turns: wordList(
			"nicht kein keine keinen keinem keiner keines ohne vor nach über unter zwischen alle allen aller alles",
		),
	},
	{
		language: "fr", conjunctions: wordList("et mais ou"),
		questions: wordList("qui quoi quand où pourquoi comment combien quel quelle quels quelles lequel laquelle qu"),
		reasons:   wordList("quoi pourquoi comment qu"),
		back:      wordList("cela ça ceci là"), articles: wordList("le la les l du au aux"),
		manner: wordList("en comme sous"),
		you:    wordList("tu te toi vous"), self: wordList("je j me m moi nous"),
		polite: wordList("plaît plait"),
		things: wordList("quoi quel quelle quels quelles lequel laquelle qu"), persons: wordList("qui"),
		turns: wordList("pas sans jamais aucun aucune avant après plus moins sous"),
	},
	{
		language: "es", conjunctions: wordList("y e pero o u"),
		questions: wordList("qué quién quiénes cuándo dónde cómo cuánto cuánta cuántos cuántas cuál cuáles por"),
		reasons:   wordList("qué cómo"),
		back:      wordList("eso esto ello lo"), articles: wordList("el la los las del al"),
		manner: wordList("en como"),
		you:    wordList("tú te usted quieres"), self: wordList("yo me mí nos"),
		polite: wordList("favor"), things: wordList("qué cuál cuáles"),
		persons: wordList("quién quiénes"), turns: wordList("no ni sin antes después más menos todos todas"),
	},
	{
		language: "it", conjunctions: wordList("e ed ma o"),
		questions: wordList("cosa chi quando dove perché come quanto quanta quanti quante quale quali qual"),
		reasons:   wordList("cosa perché come"),
		back:      wordList("questo quello ciò"),
		articles:  wordList("il lo la i gli le l del dello della dei degli delle al alla nel nella sul sulla"),
		manner:    wordList("in come"), you: wordList("tu ti vuoi"), self: wordList("io mi ci noi"),
		polite: wordList("favore"),
		things: wordList("cosa quale quali qual"), persons: wordList("chi"),
		turns: wordList("non senza mai prima dopo più meno"),
	},
}

// wordList splits a string at spaces, which keeps the table of grammars readable.
func wordList(list string) []string { return strings.Fields(list) }

// isFunction reports whether a token is a function word. Italian has no list of stop words: there, tokens of up to
// three letters count as such.
func (a grammar) isFunction(word string) bool {
	if a.language == "it" {
		return utf8.RuneCountInString(word) <= 3 || slices.Contains(a.questions, word)
	}
	return text.IsStop(word, a.language) || slices.Contains(a.questions, word)
}

// wordAt is a token of a question, normalised to lower case, with its offsets in bytes.
type wordAt struct {
	word       string
	start, end int
	gap        string // text between it and the previous token
}

var wordShape = lazy.Regexp(`[\p{L}\p{M}\p{N}]+(?:[-._][\p{L}\p{M}\p{N}]+)*`)

// wordsAt splits a text into tokens in lower case, with their offsets in bytes.
func wordsAt(q string) []wordAt {
	var out []wordAt
	from := 0
	for _, at := range wordShape().FindAllStringIndex(q, -1) {
		out = append(out, wordAt{strings.ToLower(q[at[0]:at[1]]), at[0], at[1], q[from:at[0]]})
		from = at[1]
	}
	return out
}

// joint is a possible boundary between two questions: words[:ends] and words[begins:].
type joint struct {
	grammar      grammar
	ends, begins int
	asks         int  // index of the question word after it, or -1
	comma        bool // a comma alone, without a conjunction
	sentence     bool // a question mark or a semicolon
}

// mostBetween is the maximum number of function words between a conjunction and a question word: “and tell me who”,
// “und bis wann”.
const mostBetween = 3

// jointsOf returns the possible boundaries in a text. Boundaries in several languages at the same token are
// deduplicated.
func jointsOf(said []wordAt) []joint {
	var out []joint
	for i, w := range said {
		if i == 0 {
			continue
		}
		if strings.ContainsAny(w.gap, "?;") {
			out = append(out, joint{grammar: languageFrom(said[i:]), ends: i, begins: i, asks: -1, sentence: true})
			continue
		}
		for _, a := range grammars {
			conjunction := slices.Contains(a.conjunctions, w.word)
			if !conjunction && !strings.Contains(w.gap, ",") {
				continue
			}
			at := i
			for conjunction && at < len(said) && slices.Contains(a.conjunctions, said[at].word) {
				at++
			}
			begins := at
			for conjunction && at < len(said) && at < begins+mostBetween && a.isFunction(said[at].word) &&
				!slices.Contains(a.questions, said[at].word) {
				at++
			}
			if at < len(said) && slices.Contains(a.questions, said[at].word) {
				out = append(out, joint{grammar: a, ends: i, begins: begins, asks: at, comma: !conjunction})
				break
			}
		}
	}
	return slices.CompactFunc(out, func(a, b joint) bool { return a.begins == b.begins })
}

// languageFrom returns the grammar of the first question word. The fallback is English.
func languageFrom(said []wordAt) grammar {
	for _, w := range said {
		for _, a := range grammars {
			if slices.Contains(a.questions, w.word) {
				return a
			}
		}
	}
	return grammars[0]
}

// clause is a question within a text.
type clause struct {
	text   string
	joined bool // joined to the previous one by a conjunction or comma, which may be its context
}

// splitQuestions splits a text into its questions, or returns nil. Each part has content words and function words,
// and a part of a sentence must not end inside a phrase. Parts are not rewritten: each is a substring of the
// question. A comma alone is a boundary only if the text also has one at a conjunction: “what, when and why”.
func splitQuestions(q string) []clause {
	said := wordsAt(q)
	joints := jointsOf(said)
	listed := slices.ContainsFunc(joints, func(j joint) bool { return !j.comma && !j.sentence })
	var parts []clause
	from, joined := 0, false
	for i, j := range joints {
		to := len(said)
		if i+1 < len(joints) {
			to = joints[i+1].ends
		}
		if j.ends < from || j.begins >= to || j.comma && !listed ||
			!j.dividesQuestions(said[from:j.ends], said[j.begins:to], j.asks-j.begins) {
			continue
		}
		parts = append(parts, clause{trimPunctuation(q[said[from].start:said[j.ends-1].end]), joined})
		from, joined = j.begins, !j.sentence
	}
	if len(parts) == 0 {
		return nil
	}
	return append(parts, clause{trimPunctuation(q[said[from].start:]), joined})
}

// trimPunctuation trims white space and punctuation from both ends of a clause.
func trimPunctuation(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;?¿.!¡", r) })
}

// dividesQuestions reports whether two token sequences are separate questions. asks is the index of the question
// word in the second. In doubt it returns false, since an undivided question is still searched for as a whole.
func (j joint) dividesQuestions(left, right []wordAt, asks int) bool {
	if len(left) == 0 || !j.grammar.isQuestion(left) || !j.grammar.isQuestion(right) {
		return false
	}
	if j.sentence {
		return true
	}
	first := left[0].word
	if !j.grammar.isFunction(first) && asks == 0 || j.comma && !slices.Contains(j.grammar.questions, first) {
		return false // “a flat with a balcony and which costs less”: a relative clause
	}
	if same := right[asks].word; slices.ContainsFunc(
		left[min(2, len(left)):], func(w wordAt) bool { return w.word == same },
	) {
		return false // “the tenant who signed and who paid”: clauses of the same kind
	}
	return j.grammar.isWhole(left) && j.grammar.isWhole(right)
}

// isQuestion reports whether tokens can be a question: at least one content word and one function word.
func (a grammar) isQuestion(said []wordAt) bool {
	content, function := 0, 0
	for _, w := range said {
		switch {
		case slices.Contains(a.questions, w.word):
		case a.isFunction(w.word):
			function++
		default:
			content++
		}
	}
	return content > 0 && function > 0
}

// isWhole reports whether tokens do not end inside a phrase, as after “of” or “the”.
func (a grammar) isWhole(said []wordAt) bool {
	last := said[len(said)-1].word
	return !a.isFunction(last) || pronoun().MatchString(last)
}
