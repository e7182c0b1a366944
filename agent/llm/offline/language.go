package offline

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

// compareLanguages detects the languages of a question and of the documents of a pool. A document's language is
// detected in all of its passages, since one is often too short. It requires a certain detection
// (text.DetectForCertain), since an answer must not wrongly report another language. The results are in foreign and
// told.
func (p *pool) compareLanguages(question string) {
	said := map[string]*strings.Builder{}
	of := func(s source) string { return s.document.DocID + "\x00" + s.document.Title }
	for _, s := range p.sources {
		if said[of(s)] == nil {
			said[of(s)] = &strings.Builder{}
		}
		said[of(s)].WriteString(s.Text + "\n")
	}
	// A document's language is detected in all of its passages together.
	known := map[string]string{}
	for document, b := range said {
		known[document] = text.DetectForCertain(b.String())
	}
	asked := text.DetectForCertain(question)
	p.foreign, p.told = make([]string, len(p.sources)), map[string]map[string]bool{}
	for i, s := range p.sources {
		if lang := known[of(s)]; asked != "" && lang != "" && lang != asked {
			p.foreign[i], p.told[lang] = lang, map[string]bool{}
		}
	}
	for _, u := range p.units {
		if lang := p.foreign[u.source]; lang != "" {
			maps.Copy(p.told[lang], u.terms)
		}
	}
}

// otherLanguages returns the names of the languages of some sources, if all of them differ from the question's.
// Otherwise it is empty.
func (p pool) otherLanguages(sources []int) string {
	var langs []string
	for _, i := range sources {
		lang := p.languageOf(i)
		if lang == "" {
			return ""
		}
		langs = text.AppendNew(langs, lang)
	}
	if len(langs) == 0 {
		return ""
	}
	return english.Languages(langs)
}

// headline returns the line above quotes, with the languages of their documents if they differ from the question's,
// and the typing errors that were read as other words.
// It stays one sentence that ends with a colon, and makes no claim that needs a footnote.
func (p pool) headline(said string, quotes []quote, words []word) string {
	var sources []int
	for _, q := range quotes {
		sources = append(sources, q.source)
	}
	if in := p.otherLanguages(sources); in != "" {
		said = strings.TrimSuffix(said, ":") + "; these documents are in " + in + ":"
	}
	for _, w := range words {
		if w.meant != "" && len(w.terms) > 0 {
			said = strings.TrimSuffix(said, ":") + "; “" + escape(w.typed) + "” is read as “" + escape(w.meant) + "”:"
		}
	}
	return said
}

// languageOf returns the language of a source's document, empty if it is the question's.
func (p pool) languageOf(source int) string {
	if p.foreign == nil {
		return ""
	}
	return p.foreign[source]
}

// weightUnseen returns, for each other language of the documents, the share of the question's weight in words that no
// result in that language has. Such documents can't be ranked by these words.
func (p pool) weightUnseen(words []word) map[string]float64 {
	out := map[string]float64{}
	for lang, terms := range p.told {
		known := 0.0
		for _, w := range words {
			known += w.weight * w.in(terms)
		}
		if all := total(words); all > 0 {
			out[lang] = 1 - known/all
		}
	}
	return out
}

// crossLanguage gives the weight of words that a unit can't have, because of its language, to the embedding
// similarity. Without embeddings the weights of meaning and the result are 0.
func (w weights) crossLanguage(f features) float64 {
	byMeaning := w.meaning + w.nearest
	if byMeaning == 0 {
		return 0
	}
	return f.untold * (w.own + w.context + w.pairs) * (w.meaning*f.meaning + w.nearest*f.nearest) / byMeaning
}

// cognates returns the matching terms of a word. A word without a match gets, in each other language of the
// documents, the most similar term with a likeness above 0.5: “Parität” matches “parity”. Its value is the likeness.
// A word with a digit has no cognates, since similar numbers are different numbers.
func (p pool) cognates(w text.Word, found map[string]float64) map[string]float64 {
	if len(found) > 0 || strings.ContainsAny(w.Text, "0123456789") {
		return found
	}
	for _, terms := range p.told {
		nearest, most := "", 0.5
		for term := range terms {
			for _, own := range w.Terms {
				if alike := likeness(own, term); alike > most || alike == most && term < nearest {
					nearest, most = term, alike
				}
			}
		}
		if nearest != "" {
			found[nearest] = max(found[nearest], most)
		}
	}
	return found
}

// likeness returns Dice's coefficient of two words' letter pairs, 0–1: twice the common pairs over all pairs,
// including the start and end of a word. It is 0 for words of fewer than four letters, which are often similar by
// chance.
func likeness(a, b string) float64 {
	if utf8.RuneCountInString(a) < 4 || utf8.RuneCountInString(b) < 4 {
		return 0
	}
	mine, other := pairsOf(a), pairsOf(b)
	all, both := len(mine)+len(other), 0
	for _, pair := range mine {
		if i := slices.Index(other, pair); i >= 0 {
			other = slices.Delete(other, i, i+1)
			both++
		}
	}
	return 2 * float64(both) / float64(all)
}

// pairsOf returns the pairs of neighbouring letters of a word, with a space before the first and after the last.
func pairsOf(word string) [][2]rune {
	last := ' '
	var out [][2]rune
	for _, r := range word + " " {
		out = append(out, [2]rune{last, r})
		last = r
	}
	return out
}
