package offline

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"footnote/corpus/text"
)

const (
	synonymWorth  = 0.75 // a word of nearly one meaning, or made of the same stem, against the word itself
	borrowedWorth = 0.5
	lightWorth    = 0.15
)

// word is a word of the question with what it weighs.
type word struct {
	typed    string
	terms    []string
	worth    map[string]float64 // of the terms of what was read that stand for it, 0–1
	borrowed bool
	light    bool // see light
	gram     string
	weight   float64 // rarer in what was read weighs more; of a sentence's score
	need     float64 // the same, of the support that is asked for
	name     bool
}

// in returns how well a set of terms holds the word.
func (w word) in(terms map[string]bool) float64 {
	best := 0.0
	for term, worth := range w.worth {
		if worth > best && terms[term] {
			best = worth
		}
	}
	return best
}

// weigh makes the question's words, with the weight that their rarity in what was read gives them.
func weigh(q query, p pile, want demand, question string) []word {
	langs := languages(q.text)
	for _, lang := range p.langs {
		if !slices.Contains(langs, lang) {
			langs = append(langs, lang)
		}
	}
	vocabulary := p.vocabulary()
	subject := text.QueryWords(question, langs) // without the stop words of the documents' languages
	var words []word
	add := func(ws []text.Word, share float64, borrowed bool) {
		for i, w := range ws {
			n := word{typed: w.Text, terms: slices.Concat(w.Terms, text.QueryTerms(w.Text, langs)), borrowed: borrowed,
				name: isName(w, q.names)}
			if w.Gram {
				n.gram = w.Text
			}
			n.worth = worths(w, n.terms, vocabulary, langs)
			stop := !w.Gram && len(q.borrowed) == 0 &&
				!slices.ContainsFunc(subject, func(o text.Word) bool { return o.Text == w.Text })
			n.light = stop || !n.name && (slices.ContainsFunc(w.Terms, func(t string) bool { return light()[t] }) ||
				want.stands != nil && want.stands().MatchString(w.Text))
			rarity := rarity(n, p)
			n.weight, n.need = share*rarity, share*(1+rarity)
			if n.name {
				n.need *= nameWorth(question, ws, i, q.names)
			}
			if n.light {
				n.need *= lightWorth
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
	for i := range words {
		if len(words[i].worth) == 0 && words[i].gram != "" && acrossWords(words, i) {
			words[i].need = 0
		}
	}
	return words
}

// nameWorth is what a word of a name weighs: a name of several words is one name, and no word of it weighs as much as
// one alone.
func nameWorth(question string, words []text.Word, at int, names []text.Word) float64 {
	joined := func(i int) bool {
		return i >= 0 && i+1 < len(words) && isName(words[i], names) && isName(words[i+1], names) &&
			strings.Contains(question, words[i].Text+" "+words[i+1].Text)
	}
	length := 1
	for i := at - 1; joined(i); i-- {
		length++
	}
	for i := at; joined(i); i++ {
		length++
	}
	if length == 1 {
		return 1.2
	}
	return 1.5 / float64(length)
}

func isName(w text.Word, names []text.Word) bool {
	return slices.ContainsFunc(names, func(o text.Word) bool { return o.Terms[0] == w.Terms[0] })
}

// worths finds the terms that stand for a word: itself and its irregular forms, words of nearly its meaning, words
// made of its stem.
func worths(w text.Word, terms []string, vocabulary map[string]bool, langs []string) map[string]float64 {
	found := map[string]float64{}
	put := func(terms []string, worth float64) {
		for _, term := range terms {
			if vocabulary[term] {
				found[term] = max(found[term], worth)
			}
		}
	}
	put(terms, 1)
	put(stems(otherForms(w), langs), 1)
	put(stems(synonyms(w), langs), synonymWorth)
	german := slices.Contains(langs, "de")
	alone := utf8.RuneCountInString(w.Text) == 1 // of a script without spaces
	if w.Gram && !alone || hasDigit().MatchString(w.Text) {
		return found
	}
	for term := range vocabulary {
		if found[term] > 0 {
			continue
		}
		for _, own := range terms {
			if kin(own, term) || german && joined(own, term) || alone && strings.Contains(term, own) {
				found[term] = synonymWorth
				break
			}
		}
	}
	return found
}

// rarity is the inverse of how many sentences hold a word, themselves or in their heading, as a logarithm.
func rarity(w word, p pile) float64 {
	in := 0
	for _, s := range p.sentences {
		if w.in(s.terms) > 0 || w.in(p.around[s.source]) > 0 {
			in++
		}
	}
	return math.Log(1 + float64(len(p.sentences)+1)/float64(in+1))
}

// acrossWords reports whether a bigram lies between two that what was read has: it is the end of one word and the
// beginning of the next.
func acrossWords(words []word, i int) bool {
	if i == 0 || i == len(words)-1 || len(words[i-1].worth) == 0 || len(words[i+1].worth) == 0 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(words[i].gram)
	last, _ := utf8.DecodeLastRuneInString(words[i].gram)
	return strings.HasSuffix(words[i-1].gram, string(first)) && strings.HasPrefix(words[i+1].gram, string(last))
}

// pile is everything that was shown, cut into sentences.
type pile struct {
	sources   []source
	sentences []sentence
	around    []map[string]bool // of each source: the terms of its headings and its document's name
	inside    []map[string]bool // of each source: the terms of its text
	document  []map[string]bool // of each source: the terms of what was shown of its document
	analysers []*text.Analyser  // of each source
	langs     []string          // a question is often too short to tell its own
}

func pileOf(sources []source) pile {
	p := pile{sources: sources}
	documents := map[string]map[string]bool{}
	byLang := map[string]*text.Analyser{}
	for i, src := range sources {
		lang := text.Detect(src.Text)
		analyser := byLang[lang]
		if analyser == nil {
			analyser = text.NewAnalyser(lang)
			byLang[lang] = analyser
		}
		if lang != "" && !slices.Contains(p.langs, lang) {
			p.langs = append(p.langs, lang)
		}
		inside, all := map[string]bool{}, documents[src.document.DocID]
		if all == nil {
			all = map[string]bool{}
			documents[src.document.DocID] = all
		}
		for _, s := range sentencesOf(src.Text) {
			s.heading = s.heading || !s.item && titles(s.text, src)
			s.source, s.terms = i, termSet(analyser, s.text)
			for term := range s.terms {
				inside[term], all[term] = true, true
			}
			p.sentences = append(p.sentences, s)
		}
		p.around = append(
			p.around, termSet(analyser, src.Section+" "+src.document.Title+" "+plainName(src.document.Filename)),
		)
		p.inside, p.document, p.analysers = append(p.inside, inside), append(p.document, all), append(
			p.analysers, analyser,
		)
	}
	return p
}

func (p pile) vocabulary() map[string]bool {
	all := map[string]bool{}
	for _, set := range slices.Concat(p.inside, p.around) {
		for term := range set {
			all[term] = true
		}
	}
	return all
}

var numbered = lazily(
	`(?i)^(?:(?:chapter|section|part|appendix|kapitel|abschnitt|chapitre|capítulo|§)\s*)?\d+(?:\.\d+)*\.?\s+\p{Lu}`,
)

// titles reports whether a line is the name of its document or section, or a numbered heading, whatever digits it has.
func titles(line string, src source) bool {
	if last, _ := utf8.DecodeLastRuneInString(line); strings.ContainsRune(".!?。！？", last) {
		return false
	}
	if strings.EqualFold(line, src.document.Title) || strings.EqualFold(line, src.document.Filename) {
		return true
	}
	for part := range strings.SplitSeq(src.Section, "›") {
		if strings.EqualFold(line, strings.TrimSpace(part)) {
			return true
		}
	}
	return numbered().MatchString(line) && len(strings.Fields(line)) <= 9
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
