package offline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/footnote/footnote/text/english"
)

// refuse renders a refusal with the queries and the documents that were read. A failed search is reported as failed,
// not as empty.
func refuse(t turn) string {
	var queries, failed, names []string
	for _, r := range t.searches() {
		if s, ok := r.input["query"].(string); ok && s != "" {
			if quoted := "“" + escape(clip(s, 120)) + "”"; r.out.Error != nil {
				failed = append(failed, quoted)
			} else {
				queries = append(queries, quoted)
			}
		}
	}
	for _, d := range t.read() {
		if d.name() != "" && !slices.Contains(names, escape(d.name())) {
			names = append(names, escape(d.name()))
		}
	}
	said := english.Refusal
	switch {
	case len(queries) > 0 && len(names) > 0:
		said += " I searched for " + strings.Join(queries, " and for ") + " and read " + joinNames(names) + "."
	case len(queries) > 0:
		said += " I searched for " + strings.Join(queries, " and for ") + " and found nothing that fits."
	case len(names) > 0:
		said += " I read " + joinNames(names) + "."
	case len(failed) == 0:
		said += " Nothing was searched."
	}
	if len(failed) > 0 {
		said += " The search for " + strings.Join(failed, " and for ") +
			" failed, so they may still hold it. Try again in a moment."
	}
	return said
}

// joinNames joins names; of more than four it lists three and the number of the others.
func joinNames(names []string) string {
	if len(names) > 4 {
		names = append(names[:3:3], fmt.Sprintf("%d more", len(names)-3))
	}
	return english.List(names)
}

// mostNear is the maximum number of headings in a refusal.
const mostNear = 3

// refusalAdvice renders suggestions after a refusal: the words that no result has, the nearest headings, and that a
// file may be missing. a is the answer without quotes. It is empty if all searches failed or the question came with its
// text.
func refusalAdvice(t turn, a answer) string {
	if len(t.given()) > 0 || !slices.ContainsFunc(t.searches(), func(r result) bool { return r.out.Error == nil }) {
		return ""
	}
	var lacking []string
	for _, w := range a.words {
		if len(w.terms) == 0 && !w.borrowed {
			lacking = append(lacking, "“"+escape(w.typed)+"”")
		}
	}
	said := ""
	if len(lacking) > 0 && len(a.pile.sources) > 0 {
		said += " Nothing there has " + joinNames(lacking) + "."
	}
	var all []int
	for i := range a.pile.sources {
		all = append(all, i)
	}
	if in := a.pile.otherLanguages(all); in != "" {
		said += " The documents that were found are in " + in + "."
	}
	if near := a.pile.nearestHeadings(); len(near) > 0 {
		said += " The nearest headings are " + joinNames(near) + "."
	}
	return said + " If the document that says it is missing here, add it and ask again."
}

// nearestHeadings returns the sections of the first results, with their documents.
func (p pool) nearestHeadings() []string {
	var near []string
	for _, src := range p.sources {
		at := strings.Split(src.Section, "›")
		heading := strings.TrimSpace(at[len(at)-1])
		if heading == "" || columnsOf(src.Section) != nil || strings.EqualFold(heading, src.document.Title) {
			continue
		}
		named := "“" + escape(clip(heading, 80)) + "” in " + escape(src.document.name())
		if len(near) < mostNear && !slices.Contains(near, named) {
			near = append(near, named)
		}
	}
	return near
}
