package offline

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

// compareLanguages notes the languages of a question and of the documents of a pile: of each that of all of its
// passages together, for one alone is often too short. Only what is certain counts (text.DetectForCertain): an answer
// must not say that documents are in another language when they are not. foreign and told hold what it found.
func (p *pile) compareLanguages(question string) {
	said := map[string]*strings.Builder{}
	of := func(s source) string { return s.document.DocID + "\x00" + s.document.Title }
	for _, s := range p.sources {
		if said[of(s)] == nil {
			said[of(s)] = &strings.Builder{}
		}
		said[of(s)].WriteString(s.Text + "\n")
	}
	// A document's language is told by all of its passages at once, and only if every sign agrees.
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

// otherLanguages names the languages of the documents that some sources are of, if each of them is in another than the
// question's. Otherwise it is empty.
func (p pile) otherLanguages(sources []int) string {
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

// headline is the line above quotes, with the languages of their documents if they are not the question's. It stays one
// sentence that ends with a colon: it leads to quotes and claims nothing that a footnote had to bear out.
func (p pile) headline(said string, quotes []quote) string {
	var sources []int
	for _, q := range quotes {
		sources = append(sources, q.source)
	}
	if in := p.otherLanguages(sources); in != "" {
		return strings.TrimSuffix(said, ":") + "; these documents are in " + in + ":"
	}
	return said
}

// languageOf is that of a source's document, if it is not the question's.
func (p pile) languageOf(source int) string {
	if p.foreign == nil {
		return ""
	}
	return p.foreign[source]
}

// untold is, for each language of documents that is not the question's, the share of the question's weight in words
// that nothing has which was found in that language. Such documents can't be told by these words.
func (p pile) untold(words []word) map[string]float64 {
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

// inPlaceOfWords gives to meaning what words count that a unit can't have for its language. Without meaning, the
// weights of meaning are 0 and so is this: an embedder is what tells another language.
func (w weights) inPlaceOfWords(f features) float64 {
	byMeaning := w.meaning + w.nearest
	if byMeaning == 0 {
		return 0
	}
	return f.untold * (w.own + w.context + w.pairs) * (w.meaning*f.meaning + w.nearest*f.nearest) / byMeaning
}

// cognates returns the terms that stand for a word. For one that nothing has which was found these are, in each
// language that is not the question's, the term nearest to it, if that is more like it than not: “Parität” is “parity”
// there. It is worth how much alike they are. A word with a digit has none: numbers that are nearly alike are other
// numbers.
func (p pile) cognates(w text.Word, found map[string]float64) map[string]float64 {
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

// likeness is the share of letter pairs that two words have in common, with their beginnings and ends (Dice's
// coefficient), 0–1; 0 for words of fewer than four letters, of which many are alike by chance. The measure is Dice's,
// twice the common pairs over all pairs, each pair counted once for each time it stands there.
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

// pairsOf are the pairs of neighbouring letters of a word, with a space before the first and behind the last.
func pairsOf(word string) [][2]rune {
	last := ' '
	var out [][2]rune
	for _, r := range word + " " {
		out = append(out, [2]rune{last, r})
		last = r
	}
	return out
}
