package offline

import (
	"cmp"
	"slices"
	"strings"

	"footnote/corpus/text"
	"footnote/llm"
)

// mostPages is how many pages of a document are read to list what it holds.
const mostPages = 4

// whole answers a request for what one or two documents hold as wholes. ok is false where none is meant or nothing is
// there to answer with: then the request is a question.
func whole(t turn, k kind, about string) (next move, ok bool) {
	value := noValue
	if k == kindItems {
		value, about = valueAsked(about)
	}
	docs, next, ok := t.meant(k, about)
	if !ok || len(next.steps) > 0 {
		return next, ok
	}
	if k == kindSummary {
		return t.sumUp(docs, about)
	}
	if !t.has("read_document") {
		return move{}, false
	}
	if unread := t.unread(docs); len(unread) > 0 {
		return call(unread...), true
	}
	w := t.pileOfAll(docs, about)
	switch {
	case k == kindItems:
		return w.items(value)
	case len(docs) == 2:
		return w.aligned(k)
	case k == kindChanges:
		return w.items(noValue)
	}
	return move{}, false
}

// meant returns the documents that a topic means, or what to do to find them.
func (t turn) meant(k kind, about string) (docs []document, next move, ok bool) {
	most := 1
	if k == kindComparison || k == kindChanges {
		most = 2
	}
	if past, ok := t.pastMeant(about); ok {
		return []document{past}, move{}, true
	}
	if len(contentWords(about)) == 0 || everything().MatchString(about) {
		if !t.has("list_documents") {
			return nil, move{}, false
		}
		listed := t.of("list_documents")
		if len(listed) == 0 {
			return nil, call(step{"list_documents", map[string]any{}}), true
		}
		docs = listed[0].out.Documents
		return docs[:min(len(docs), max(most, mostReads))], move{}, len(docs) > 0
	}
	if len(t.searches()) == 0 && t.canSearch() {
		return nil, call(t.search(clip(about, 900))), true
	}
	docs = t.nearest(about)
	if most == 2 && len(docs) > 2 {
		docs = docs[:2]
	}
	return docs[:min(len(docs), most)], move{}, len(docs) > 0
}

// nearest ranks the documents that were found by how much of a topic they have, in their names and in what they say,
// and leaves out those that have much less than the first.
func (t turn) nearest(about string) []document {
	found := t.found()
	var sources []source
	for _, d := range found {
		for _, p := range d.Passages {
			sources = append(sources, source{passage: p, document: d})
		}
	}
	p := pileOf(sources)
	words := topicOf(turn{question: about}).weigh(p)
	worth := map[string]float64{}
	for _, d := range found {
		names := setOf(nil)
		said := setOf(nil)
		for i, src := range p.sources {
			if src.document.DocID == d.DocID {
				merge(names, setOf(text.Terms(d.Title+" "+plainName(d.Filename), text.Detect(src.Text))))
				merge(said, p.around[i])
			}
		}
		together := 0.0
		for _, u := range p.units {
			if p.sources[u.source].document.DocID == d.DocID {
				merge(said, u.terms)
				together = max(together, pairs(u.sequence, words))
			}
		}
		if all := total(words); all > 0 {
			for _, w := range words {
				worth[d.DocID] += w.weight * (w.in(names) + w.in(said)) / all
			}
		}
		worth[d.DocID] += together
	}
	slices.SortStableFunc(found, func(a, b document) int { return cmp.Compare(worth[b.DocID], worth[a.DocID]) })
	return slices.DeleteFunc(found, func(d document) bool {
		return worth[d.DocID] < nearBest*worth[found[0].DocID] || d.DocID == ""
	})
}

func merge(into, more map[string]bool) {
	for term := range more {
		into[term] = true
	}
}

// unread are the calls that read what was not read yet of documents.
func (t turn) unread(docs []document) (steps []step) {
	for _, d := range docs {
		pages, read := 1, map[int]bool{}
		for _, r := range t.of("read_document") {
			if r.input["doc_id"] == d.DocID && r.input["focus_query"] == nil {
				page, _ := r.input["page"].(float64)
				read[max(1, int(page))] = true
				pages = max(pages, min(r.out.Pages, mostPages))
			}
		}
		for page := 1; page <= pages; page++ {
			if !read[page] {
				steps = append(steps, step{"read_document", map[string]any{"doc_id": d.DocID, "page": page}})
			}
		}
	}
	return steps
}

// wholes are documents that were read whole, for a topic.
type wholes struct {
	pile
	docs  []document
	words []word
}

func (t turn) pileOfAll(docs []document, about string) wholes {
	var sources []source
	for _, d := range docs {
		for _, src := range t.shown() {
			if src.document.DocID == d.DocID {
				sources = append(sources, src)
			}
		}
	}
	w := wholes{pile: pileOf(sources), docs: docs}
	w.words = topicOf(turn{question: about}).weigh(w.pile)
	return w
}

// quotable reports whether a unit may stand in what a document holds: frames too, as a name or a date may be one.
func (w wholes) quotable(u unit) bool {
	u.frame = false
	return u.quotable()
}

// under is how much of the topic, 0–1, the heading or the column heads have that a unit stands under. Words that the
// documents' names have, or nothing has, tell nothing.
func (w wholes) under(u unit) float64 {
	src := w.sources[u.source]
	at := strings.Split(src.Section, "›")
	near := setOf(text.Terms(at[len(at)-1], text.Detect(src.Text)))
	if u.heading >= 0 {
		merge(near, w.units[u.heading].terms)
	}
	if u.row != nil {
		for _, name := range u.row.table.has {
			merge(near, name)
		}
	}
	names := setOf(text.Terms(src.document.Title+" "+plainName(src.document.Filename), text.Detect(src.Text)))
	held, all := 0.0, 0.0
	for _, word := range w.words {
		if len(word.terms) > 0 && word.in(names) == 0 {
			all += word.weight
			held += word.weight * word.in(near)
		}
	}
	if all == 0 {
		return 0
	}
	return held / all
}

// answer puts a head, what is quoted and the way to a written answer together. A topic of which the documents lack a
// word may mean another one.
func (w wholes) answer(head, body string) move {
	lacking, all := 0.0, total(w.words)
	for _, word := range w.words {
		if len(word.terms) == 0 {
			lacking += word.weight
		}
	}
	sure := 1.0
	if all > 0 {
		sure = 1 - lacking/all
	}
	if lacking > 0 {
		head = string(closest) + "\n\n" + head
	}
	return move{text: head + "\n\n" + body + "\n\n" + written, found: &llm.Found{Sure: sure, Likely: lacking == 0}}
}

// written ends what is quoted instead of written.
const written = "Do you want this in written words? Connect a language model in the settings."

// request answers what asks for a document or for what documents hold as wholes.
func request(t turn, k kind, about string) (next move, ok bool) {
	if k == kindSummary || k == kindOpening {
		if next, ok := summary(t, about); ok {
			return next, true
		}
	}
	if k == kindOpening {
		return move{}, false
	}
	return whole(t, k, about)
}
