package offline

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"footnote/corpus/text"
)

const (
	supportNeeded = 0.6  // the share of the question's weight that the answer's passages must hold
	nearTop       = 0.55 // a further sentence has at least this share of the best one's score
	sameWords     = 0.7  // sentences with this share of words in common say the same
	contextWorth  = 0.35 // a word in the heading or the sentence before, against one in the sentence itself
	synonymWorth  = 0.6
	borrowedWorth = 0.5
)

// reply is an answer, or that there is none.
type reply struct {
	text      string
	supported bool
}

// word is a word of the question with what it weighs.
type word struct {
	terms, alike []string
	borrowed     bool
	weight       float64 // rarer in what was read weighs more
	share        float64 // of the support that is asked for
	name         bool
}

// candidate is a sentence with its worth.
type candidate struct {
	sentence
	score float64
	has   []float64 // of each word of the question, 0–1
	near  []float64 // the same for its heading and its document's name
}

// compose chooses the sentences that answer the question from everything that was shown.
func compose(t turn, q query) reply {
	sources := t.shown()
	if len(sources) == 0 {
		return reply{}
	}
	all, sourceTerms := cut(sources)
	words := weigh(q, all, titleTerms(sources), spoken(sources))
	want := expects(t.question)
	cands := make([]candidate, 0, len(all))
	for i := range all {
		cands = append(cands, rate(all, i, sourceTerms[all[i].source], words, want, t.question))
	}
	ranked := slices.Clone(cands)
	slices.SortStableFunc(ranked, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	picked := pick(ranked, words, want)
	if len(picked) == 0 || !supports(picked, words, sourceTerms) {
		return reply{}
	}
	return reply{text: write(arrange(picked, cands, want), sources), supported: true}
}

// cut makes sentences of the sources, with the terms of each sentence and of each source's surroundings.
func cut(sources []source) ([]sentence, []map[string]bool) {
	var all []sentence
	around := make([]map[string]bool, len(sources))
	for i, src := range sources {
		lang := text.Detect(src.Text)
		analyser := text.NewAnalyser(lang)
		around[i] = termSet(analyser, src.Section+" "+src.document.Title+" "+plainName(src.document.Filename))
		for _, s := range sentencesOf(src.Text) {
			s.source, s.terms = i, termSet(analyser, s.text)
			all = append(all, s)
		}
	}
	return all, around
}

// titleTerms holds the terms of each source's document's name.
func titleTerms(sources []source) []map[string]bool {
	out := make([]map[string]bool, len(sources))
	for i, src := range sources {
		out[i] = termSet(text.NewAnalyser(text.Detect(src.Text)), src.document.Title+" "+plainName(src.document.Filename))
	}
	return out
}

// plainName returns the words of a file name.
func plainName(file string) string {
	return strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(file)
}

// termSet holds the stems of a text, and its words as they are.
func termSet(a *text.Analyser, s string) map[string]bool {
	set := map[string]bool{}
	for _, term := range a.Terms(s) {
		set[term] = true
	}
	return set
}

// spoken returns the languages of the sources: a question is often too short to tell its own.
func spoken(sources []source) []string {
	var langs []string
	for _, src := range sources {
		if lang := text.Detect(src.Text); lang != "" && !slices.Contains(langs, lang) {
			langs = append(langs, lang)
		}
	}
	return langs
}

// weigh makes the question's words, with the weight that their rarity in what was read gives them.
func weigh(q query, all []sentence, titles []map[string]bool, spoken []string) []word {
	var words []word
	langs := languages(q.text)
	for _, lang := range spoken {
		if !slices.Contains(langs, lang) {
			langs = append(langs, lang)
		}
	}
	add := func(ws []text.Word, share float64, borrowed bool) {
		for _, w := range ws {
			terms := slices.Concat(w.Terms, text.QueryTerms(w.Text, langs))
			n := word{terms: terms, alike: stems(synonyms(w), langs), share: share, borrowed: borrowed,
				name: slices.ContainsFunc(q.names, func(o text.Word) bool { return o.Terms[0] == w.Terms[0] })}
			in := 0
			for _, s := range all {
				if n.in(s.terms) > 0 {
					in++
				}
			}
			n.weight = share * math.Log(1+float64(len(all)+1)/float64(in+1))
			switch {
			case n.name:
				n.share *= 1.5
			case slices.ContainsFunc(titles, func(set map[string]bool) bool { return n.in(set) == 1 }):
				n.share *= 0.3 // it may only name the document
			}
			words = append(words, n)
		}
	}
	own := 1.0
	if q.vague && len(q.borrowed) > 0 {
		own = 0.3
	}
	add(q.words, own, false)
	add(q.borrowed, borrowedWorth, true)
	return words
}

// in returns how well a set of terms holds the word.
func (w word) in(terms map[string]bool) float64 {
	for _, t := range w.terms {
		if terms[t] {
			return 1
		}
	}
	for _, t := range w.alike {
		if terms[t] {
			return synonymWorth
		}
	}
	return 0
}

// rate scores one sentence.
func rate(all []sentence, i int, around map[string]bool, words []word, want expected, question string) candidate {
	s := all[i]
	c := candidate{sentence: s, has: make([]float64, len(words)), near: make([]float64, len(words))}
	var before map[string]bool
	beforeWorth := contextWorth
	if i > 0 && all[i-1].source == s.source {
		before = all[i-1].terms
		if all[i-1].heading || strings.HasSuffix(all[i-1].text, "?") {
			beforeWorth = 0.7 // it names what this sentence is about
		}
	}
	own, context := 0.0, 0.0
	for k, w := range words {
		c.has[k], c.near[k] = w.in(s.terms), w.in(around)
		own += c.has[k]
		context += w.in(before)
		worth := max(c.has[k], contextWorth*c.near[k], beforeWorth*w.in(before))
		c.score += w.weight * worth
	}
	follows := beforeWorth == 0.7 || context > 0 && want.form != nil && want.form.MatchString(s.text)
	switch {
	case s.heading, !sayable(s.text), own == 0 && !follows:
		c.score = 0
		return c
	case strings.HasSuffix(s.text, "?"), strings.HasSuffix(s.text, ":") && !want.many:
		c.score *= 0.4
	}
	c.score *= want.fit(s.text, question)
	c.score /= 1 + 0.12*math.Log1p(float64(utf8.RuneCountInString(s.text))/60)
	return c
}

// pick takes the best sentence and further ones that are nearly as good and say something else.
func pick(ranked []candidate, words []word, want expected) []candidate {
	if len(ranked) == 0 || ranked[0].score <= 0 {
		return nil
	}
	picked := []candidate{ranked[0]}
	most := 3
	if want.many {
		most = 5
	}
	for _, c := range ranked[1:] {
		if len(picked) == most || c.score <= 0 {
			break
		}
		floor := nearTop
		if bringsNew(c, picked, words) {
			floor -= 0.2
		} else if want.exact {
			floor += 0.25
		}
		if c.score >= floor*ranked[0].score && !saysSame(c, picked) {
			picked = append(picked, c)
		}
	}
	return picked
}

// bringsNew reports whether a sentence holds a word of the question itself that none so far holds, nor its heading.
func bringsNew(c candidate, picked []candidate, words []word) bool {
	for k, has := range c.has {
		if has > 0 && !words[k].borrowed && !slices.ContainsFunc(picked, func(p candidate) bool { return p.has[k] > 0 || p.near[k] > 0 }) {
			return true
		}
	}
	return false
}

func saysSame(c candidate, picked []candidate) bool {
	for _, p := range picked {
		if strings.Contains(p.text, c.text) || strings.Contains(c.text, p.text) {
			return true
		}
		both := 0
		for term := range c.terms {
			if p.terms[term] {
				both++
			}
		}
		if float64(both) >= sameWords*float64(min(len(c.terms), len(p.terms))) && len(c.terms) > 2 {
			return true
		}
	}
	return false
}

// supports reports whether the picked sentences, with their surroundings, hold enough of the question: every name in it, and
// most of its other words, at least one of them in a sentence itself.
func supports(picked []candidate, words []word, around []map[string]bool) bool {
	var held, asked, inside float64
	for k, w := range words {
		best := 0.0
		for _, c := range picked {
			inside += c.has[k]
			best = max(best, c.has[k], 0.9*w.in(around[c.source]))
		}
		if w.name && best == 0 {
			return false
		}
		held += w.share * best
		asked += w.share
	}
	return asked > 0 && (inside > 0 || held == asked) && held >= supportNeeded*asked
}
