package offline

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// mostPages is the maximum number of pages of a document that are read for a list.
const mostPages = 4

// whole answers a request about one or two whole documents. ok is false if no document matches or there is nothing
// to show: the request is then treated as a question. It resolves the documents (by a search or a list, if needed),
// reads their unread pages, and renders the requested form.
func whole(t turn, k kind, about string) (next move, ok bool) {
	value, word, rest := valueAsked(about)
	if len(contentWords(rest)) == 0 {
		about = rest
	}
	docs, next, ok := t.meant(k, about)
	if !ok || len(next.steps) > 0 {
		return next, ok
	}
	// A summary needs no full reading, since its tool picks sentences.
	if k == kindSummary {
		said, steps, ok := t.keysOf(docs)
		if len(steps) > 0 || !ok {
			return call(steps...), ok
		}
		return t.poolOfAll(docs, rest).answer(keyHead, said), true
	}
	if !t.has("read_document") {
		return move{}, false
	}
	if unread := t.unread(docs); len(unread) > 0 {
		return call(unread...), true
	}
	w := t.poolOfAll(docs, rest)
	switch {
	case k == kindItems:
		return w.items(value, word)
	case len(docs) == 2:
		return w.aligned(k, value)
	case k == kindChanges:
		return w.items(noValue, "")
	}
	return move{}, false
}

// meant returns the documents of a topic, or the calls that find them in next. ok is false if no document matches.
func (t turn) meant(k kind, about string) (docs []document, next move, ok bool) {
	most := 1
	if k == kindComparison || k == kindChanges {
		most = 2
	}
	// “Summarise it” refers to the document of the last answer.
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
	docs = t.nearest(about, most)
	return docs, move{}, len(docs) > 0
}

// nearest returns the documents, at most most, that match a topic best: by the share of its weight that their texts and
// names have. The second must score nearly as much as the first, or share most of its words, as another version does.
func (t turn) nearest(about string, most int) []document {
	found := t.found()
	var sources []source
	for _, d := range found {
		sources = append(sources, source{document: d}) // for its names
		for _, p := range d.Passages {
			sources = append(sources, source{passage: p, document: d})
		}
	}
	p := newPool(sources)
	words := topicOf(turn{question: about}).weigh(p)
	worth, said := map[string]float64{}, map[string]map[string]bool{}
	for _, d := range found {
		said[d.DocID] = p.termsOf(d.DocID)
		for _, w := range words {
			worth[d.DocID] += w.weight * w.in(said[d.DocID])
		}
	}
	slices.SortStableFunc(found, func(a, b document) int { return cmp.Compare(worth[b.DocID], worth[a.DocID]) })
	if len(found) > 1 && most > 1 {
		first, second := found[0].DocID, found[1].DocID
		if worth[second] >= nearBest*worth[first] || shared(said[first], said[second]) >= mostOf {
			return found[:2]
		}
	}
	return found[:min(len(found), 1)]
}

// shared returns the share of the smaller of two sets that the other one contains.
func shared(a, b map[string]bool) float64 {
	both := 0
	for term := range a {
		if b[term] {
			both++
		}
	}
	return float64(both) / float64(max(1, min(len(a), len(b))))
}

// unread returns the calls that read the unread pages of documents.
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

// wholes are fully read documents, for a topic.
type wholes struct {
	pool
	docs  []document
	words []word
	names map[string]bool // terms of the documents' names
}

// poolOfAll returns the pool of these documents, from all their shown passages, with the weights of the topic's
// words in it.
func (t turn) poolOfAll(docs []document, about string) wholes {
	var sources []source
	for _, d := range docs {
		for _, src := range t.shown() {
			if src.document.DocID == d.DocID {
				sources = append(sources, src)
			}
		}
	}
	w := wholes{pool: newPool(sources), docs: docs, names: setOf(nil)}
	for _, src := range sources {
		maps.Copy(w.names, namesOf(src.document, text.Detect(src.Text)))
	}
	w.words = topicOf(turn{question: about}).weigh(w.pool)
	return w
}

// holds reports whether a unit may be listed as content, including frames, since a name or a date may be one.
func (w wholes) holds(i int) bool {
	u := w.units[i]
	u.frame = false
	return u.quotable() && !w.isTitle(i)
}

// isTitle reports whether a unit is the first line of a block, has no end of sentence, and has lines below it.
func (w wholes) isTitle(i int) bool {
	u := w.units[i]
	if u.row != nil || strings.Contains(u.text, "\n") || text.EndsSentence(u.text) || listItem.MatchString(u.text) {
		return false
	}
	begins := i == 0 || w.units[i-1].source != u.source || blankLines(w.between(w.units[i-1], u)) > 0
	return begins && i+1 < len(w.units) && w.units[i+1].source == u.source && !w.inOneLine(u, w.units[i+1]) &&
		blankLines(w.between(u, w.units[i+1])) == 0
}

// titleOf returns the index of the title of a unit, -1 for none.
func (w wholes) titleOf(i int) int {
	for k := i - 1; k >= 0 && w.units[k].source == w.units[i].source; k-- {
		if w.isTitle(k) {
			return k
		}
	}
	return w.units[i].heading
}

// lacking returns the weight of the topic's words that the best of the documents lacks.
func (w wholes) lacking() float64 {
	least := total(w.words)
	for _, d := range w.docs {
		has, lacks := w.termsOf(d.DocID), 0.0
		maps.Copy(has, w.names)
		for _, word := range w.words {
			if word.in(has) == 0 {
				lacks += word.weight
			}
		}
		least = min(least, lacks)
	}
	return least
}

// under returns the weight of the topic's words in a unit's heading or column heads.
func (w wholes) under(i int) float64 {
	u := w.units[i]
	src := w.sources[u.source]
	at := strings.Split(src.Section, "›")
	near := setOf(text.Terms(at[len(at)-1], text.Detect(src.Text)))
	if title := w.titleOf(i); title >= 0 {
		maps.Copy(near, w.units[title].terms)
	}
	if u.row != nil {
		for _, name := range u.row.table.has {
			maps.Copy(near, name)
		}
	}
	return w.topicIn(near)
}

// topicIn returns the weight of the topic's words in a set of terms. Words in the names of the documents don't
// count, since they only identify the documents.
func (w wholes) topicIn(terms map[string]bool) (held float64) {
	for _, word := range w.words {
		if worth := word.in(terms); worth > kinWorth && word.in(w.names) == 0 {
			held += word.weight * worth
		}
	}
	return held
}

// namesOf returns the terms of a document's name.
func namesOf(d document, lang string) map[string]bool {
	return setOf(text.Terms(d.Title+" "+plainName(d.Filename), lang))
}

// answer composes a head, the quotes and the hint to a written answer. If the documents lack a word of the topic,
// they are only called closest. Sure is the share of the topic's weight that the documents have.
func (w wholes) answer(head, body string) move {
	lacking := w.lacking()
	sure := 1.0
	if all := total(w.words); all > 0 {
		sure = 1 - lacking/all
	}
	if lacking > 0 {
		head = string(closest) + "\n\n" + head
	}
	return move{text: head + "\n\n" + body + "\n\n" + written, found: &llm.Found{Sure: sure, Likely: lacking == 0}}
}

// written is the hint after quotes.
const written = "Would you rather read a written answer, by a language model that you connect?"

// request answers a request for a document or its content as a whole. A document that is named by its file is not
// searched for.
func request(t turn, k kind, about string) (next move, ok bool) {
	if k == kindOpening || k == kindSummary && fileName().MatchString(about) {
		name := about
		if d, ok := t.pastMeant(about); ok {
			name = d.DocID
		}
		if said, next, ok := t.keysOf([]document{{DocID: name}}); ok && name != "" {
			if k == kindSummary && said != "" {
				said = keyHead + "\n\n" + said + "\n\n" + written
			}
			return move{steps: next, text: said}, true
		}
	}
	if k == kindOpening {
		return move{}, false
	}
	return whole(t, k, about)
}

var (
	fileName   = lazy.Regexp(`(?i)\S+\.(pdf|md|txt|html?|docx?|csv|xlsx?)\b`)
	everything = lazy.Regexp(`(?i)^(?:all|everything|(?:my |the |all )*(?:documents?|files?|library))$`)
)

const mostSaid = 12 // maximum sentences of a summary

// keyHead is the line above the sentences of a summary.
const keyHead = "The key sentences, word for word:"

// keysOf returns key sentences of each document, below its name if there are several, or the calls for them. It uses
// the summary tool, or else reads the documents. ok is false without a tool or sentences.
func (t turn) keysOf(docs []document) (said string, steps []step, ok bool) {
	tool := t.offered(append([]string{"get_document_summary"}, readers()...))
	if tool == "" {
		return "", nil, false
	}
	var blocks []string
	most := sentencesAsked(t.question)
	if len(docs) > 1 {
		most = min(most, 3)
	}
	for _, d := range docs {
		at := slices.IndexFunc(t.results, func(r result) bool { return r.tool == tool && r.input["doc_id"] == d.DocID })
		if at < 0 {
			steps = append(steps, step{tool, map[string]any{"doc_id": d.DocID}})
			continue
		}
		out := t.results[at].out
		keys := keySentences(out)
		if len(keys) == 0 || out.Error != nil {
			continue
		}
		if len(docs) > 1 {
			blocks = append(blocks, escape(out.label())+":")
		}
		blocks = append(blocks, keys[:min(most, len(keys))]...)
	}
	if len(steps) > 0 {
		return "", steps, true
	}
	return strings.Join(blocks, "\n\n"), nil, len(blocks) > 0
}

// keySentences quotes the tool's sentences, else the first of each passage, deduplicated.
func keySentences(out output) []string {
	var said []string
	for _, key := range out.KeySentences {
		for _, p := range out.Passages {
			if strings.Contains(p.Text, key) {
				said = text.AppendNew(said, sentence(key, p.N))
				break
			}
		}
	}
	if len(said) > 0 {
		return said
	}
	for _, p := range out.Passages {
		pile := newPool([]source{{passage: p, document: out.document}})
		if i := slices.IndexFunc(pile.units, unit.quotable); i >= 0 {
			said = text.AppendNew(said, sentence(pile.units[i].text, p.N))
		}
	}
	return said
}

// inPieces matches a requested length of an answer: “in three short sentences”.
var inPieces = `in (?:about )?(a few|\d+|` + strings.Join(numerals, "|") +
	`) (?:\p{L}+ )?(?:words?|sentences?|lines?|points?|bullets?|quotes?)`

var (
	numerals = strings.Fields("one two three four five six seven eight nine ten")
	asked    = lazy.Regexp(`(?i)\b` + inPieces + `\b`)
)

// sentencesAsked returns the number of sentences that a question asks for, at most mostSaid.
func sentencesAsked(question string) int {
	m := asked().FindStringSubmatch(question)
	if m == nil {
		return mostSaid
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		n = slices.Index(numerals, strings.ToLower(m[1])) + 1
	}
	if n < 1 || n > mostSaid {
		return mostSaid
	}
	return n
}
