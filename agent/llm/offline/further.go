package offline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
)

// mostFurther is how many sentences are said of what was not said yet.
const mostFurther = 4

// ofSource are the words that say how something stands in a source; stop words say nothing beside them.
var ofSource = lazily(
	`(?i)^(?:behind|comes?|based|rests?|refers?|stands?|open|quote|read|page|supports?|backs?|exactly|wording)$`,
)

// subject is the turn of the last question that was about something in the documents, and all that was answered
// since; a turn without a question when there is none.
func (t turn) subject() (topic turn, said string) {
	for i := len(t.earlier) - 1; i >= 0; i-- {
		said = t.earlier[i].answer + "\n" + said
		q := t.earlier[i].question
		if goesOn(q) || text.OwnText.MatchString(q) {
			continue
		}
		if k, _ := classify(q); k != kindListing {
			topic = t
			topic.question, topic.earlier = q, t.earlier[:i:i]
		}
		break
	}
	return topic, said
}

// goOn says what the passages of the last answer hold beside what was said: first the rest of those that it came
// from, then what follows them.
func goOn(t turn) move {
	topic, said := t.subject()
	if topic.question == "" {
		return say("Ask a question about your documents first. Then I can go on from its answer.")
	}
	query := topicOf(topic).query()
	if len(t.searches()) == 0 && t.canSearch() {
		return call(t.search(query))
	}
	if reads := toRead(t, document{}); len(reads) > 0 && t.readings() == 0 {
		return call(readAll(t, reads, query)...)
	}
	p := pileOf(t.shown())
	left, any := p.unsaid(said)
	if !any && !strings.Contains(said, Refusal) { // the answer was in other words, such as a language model's
		left = p.best()
	}
	switch {
	case len(left) > 0:
		return say(p.join(left))
	case any:
		return say(refuse(t) + " What they say about it was said already.")
	}
	return say(refuse(t))
}

// unsaid picks the units of passages that the answers so far took some from, in the order in which they did, or that
// stand next in the same documents. any is false when the answers took none. Answers are compared without white space
// and signs (plain), since they quote in Markdown. The order is that of the answers, so that what goes on follows on
// from what was read.
func (p pile) unsaid(said string) (left []unit, any bool) {
	said = plain(said)
	from, documents := map[int]int{}, map[string]bool{} // where the answers took from a source first
	// What was said is known by its words, wherever the answer quoted it from.
	var others []unit
	for _, u := range p.units {
		if !u.quotable() {
			continue
		}
		at := strings.Index(said, plain(u.text))
		if at < 0 {
			others = append(others, u)
			continue
		}
		documents[p.sources[u.source].document.DocID] = true
		if first, known := from[u.source]; !known || at < first {
			from[u.source] = at
		}
	}
	var next []unit
	for _, u := range others {
		if _, same := from[u.source]; same {
			left = append(left, u)
		} else if documents[p.sources[u.source].document.DocID] {
			next = append(next, u)
		}
	}
	slices.SortStableFunc(left, func(a, b unit) int { return cmp.Compare(from[a.source], from[b.source]) })
	if len(left) == 0 {
		left = next
	}
	return left[:min(len(left), mostFurther)], len(from) > 0
}

// best picks the first units of the passage that fits best.
func (p pile) best() (units []unit) {
	for _, u := range p.units {
		if u.source == 0 && u.quotable() && len(units) < mostFurther {
			units = append(units, u)
		}
	}
	return units
}

// plain is a text without footnotes, white space and the signs that set it as a quotation, a table or an escape.
func plain(s string) string {
	return strings.Join(strings.Fields(setting.Replace(marker().ReplaceAllString(s, ""))), "")
}

var (
	setting = strings.NewReplacer(`\`, "", "|", "", ">", "")
	marker  = lazily(`\s*\[(?:Source )?\d+\]`)
)

// join writes units of passages one after another, each with its footnote.
func (p pile) join(units []unit) string {
	var said []string
	for _, u := range units {
		said = append(said, sentence(u.text, p.sources[u.source].N))
	}
	return strings.Join(said, "\n\n")
}

// aboutFootnote reports whether a question asks for nothing but what stands behind a footnote.
func aboutFootnote(q string) bool {
	if !text.Footnote.MatchString(q) {
		return false
	}
	for _, w := range strings.Fields(text.Footnote.ReplaceAllString(q, " ")) {
		w = strings.ToLower(strings.Trim(w, "?.!,:;\"“”"))
		if w != "" && !text.IsStop(w, "en") && !ofSource().MatchString(w) {
			return false
		}
	}
	return true
}

// behind says a footnote's sentence with those that stand around it, from the source that was read for it.
func behind(t turn) (string, bool) {
	if !aboutFootnote(t.question) {
		return "", false
	}
	p := pileOf(t.shown())
	for _, r := range t.results {
		quote, _ := r.input["focus_query"].(string)
		if !isReading(r.tool) || quote == "" {
			continue
		}
		quote = strings.Join(strings.Fields(quote), " ")
		at := slices.IndexFunc(p.units, func(u unit) bool {
			said := strings.Join(strings.Fields(u.text), " ")
			return strings.Contains(said, quote) || u.quotable() && strings.Contains(quote, said)
		})
		if at < 0 {
			continue
		}
		var out []unit
		for _, u := range p.units[max(0, at-1):min(len(p.units), at+3)] {
			if u.source == p.units[at].source && u.quotable() {
				out = append(out, u)
			}
		}
		if len(out) > 0 {
			return p.join(out), true
		}
	}
	return "", false
}
