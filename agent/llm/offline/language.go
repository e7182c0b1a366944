package offline

import (
	"strings"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

// compareLanguages detects the languages of a question and of the documents of a pool. A document's language is
// detected in all of its passages, since one is often too short. It requires a certain detection
// (text.DetectForCertain), since an answer must not wrongly report another language. The result is in foreign.
func (p *pool) compareLanguages(question string) {
	asked, said := text.DetectForCertain(question), map[string]string{}
	of := func(s source) string { return s.document.DocID + "\x00" + s.document.Title }
	for _, s := range p.sources {
		said[of(s)] += s.Text + "\n"
	}
	for document, s := range said {
		said[document] = text.DetectForCertain(s)
	}
	p.foreign = make([]string, len(p.sources))
	for i, s := range p.sources {
		if lang := said[of(s)]; asked != "" && lang != asked {
			p.foreign[i] = lang
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
