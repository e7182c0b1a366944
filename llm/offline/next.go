package offline

import (
	"fmt"
	"slices"
	"strings"
)

const (
	mostReads    = 3 // documents of one turn
	mostSearches = 2
	nearBest     = 0.55 // a document with this share of the best one's score is read too
)

// next decides what to do: call tools, or say the text.
func next(t turn) ([]step, string) {
	for _, say := range []func(turn) (string, bool){retell, ownText, behind} {
		if said, ok := say(t); ok {
			return nil, said
		}
	}
	switch k, about := classify(t.question); k {
	case kindEmpty:
		return nil, "Ask a question about your documents, and I will search them for the answer."
	case kindTalk:
		return nil, smallTalk(t.question)
	case kindFurther:
		return goOn(t)
	case kindArithmetic:
		return calculate(t, about)
	case kindSummary:
		return summary(t, about)
	case kindOpening:
		return open(t, about)
	case kindListing:
		return list(t, about)
	case kindCatalogue:
		c, _ := catalogue(about)
		return consult(t, c)
	default:
		return documents(t)
	}
}

func smallTalk(q string) string {
	if gratitude().MatchString(q) {
		return "You're welcome. Ask another question about your documents whenever you like."
	}
	return "Hello! Footnote is in offline mode, without a language model: I search your documents, read what fits, " +
		"and answer with sentences " +
		"taken word for word from them, each with its footnote. Ask a question about your documents."
}

func calculate(t turn, expression string) ([]step, string) {
	done := t.of("calculate")
	if len(done) == 0 {
		if !t.has("calculate") {
			return nil, "I can't calculate here."
		}
		return []step{{"calculate", map[string]any{"expression": expression}}}, ""
	}
	out := done[len(done)-1].out
	if out.Error != nil {
		return nil, "This can't be calculated: " + escape(fmt.Sprint(out.Error))
	}
	return nil, escape(expression) + " = " + escape(fmt.Sprint(out.Result))
}

// documents answers a question from what documents say: search, search again if need be, read, answer; in two steps
// if no sentence answers it.
func documents(t turn) ([]step, string) {
	q := understand(t)
	var two []hop
	if !q.follows && !asksSum(t.question) {
		two = hops(t.question)
	}
	first, done := t.parted(two)
	steps, said, missing := inOneStep(first, q, two)
	if len(steps) > 0 || said != "" {
		return steps, said
	}
	if steps, said = inTwoSteps(t, two, done); len(steps) > 0 || said != "" {
		return steps, said
	}
	if missing != "" {
		return nil, refuse(t, q) + alone(missing)
	}
	if len(two) > 0 && two[0].role { // "the cover of the slates" may be no thing of its own
		if a := compose(first, q, nil); a.supported {
			return nil, a.text
		}
	}
	return nil, refuse(t, q)
}

// inOneStep looks for sentences that answer a question by themselves. Neither steps nor an answer mean that there are
// none; missing is as in reply.
func inOneStep(t turn, q query, two []hop) (steps []step, said, missing string) {
	searches, found := t.searches(), t.found()
	if len(searches) == 0 && t.canSearch() {
		return t.search(q.text), "", ""
	}
	if len(found) == 0 {
		if wider := t.again(q); wider != nil {
			return wider, "", ""
		}
	}
	if reads := toRead(t, found); len(reads) > 0 && len(t.read()) == 0 {
		return readAll(t, reads, q), "", ""
	}
	steps, sum, asked := answerSum(t, q)
	if len(steps) > 0 || sum != "" {
		return steps, sum, ""
	}
	var a reply
	if !asked {
		a = compose(t, q, two)
	}
	if a.supported {
		return nil, a.text, ""
	}
	if a.half && two[0].role {
		return nil, "", ""
	}
	if wider := t.again(q); wider != nil {
		return wider, "", ""
	}
	if t.rounds() == mostSearches {
		if reads := toRead(t, t.lastRound()); len(reads) > 0 && t.readTurns() < 2 {
			return readAll(t, reads, q), "", ""
		}
	}
	return nil, "", a.missing
}

// readTurns is 2 after a second search was followed by reading.
func (t turn) readTurns() int {
	turns, searched := 0, false
	for _, r := range t.results {
		switch {
		case isSearch(r.tool):
			searched = true
		case isReading(r.tool):
			if searched {
				turns++
			}
			searched = false
		}
	}
	return turns
}

func readAll(t turn, docs []document, q query) []step {
	var steps []step
	for _, d := range docs {
		steps = append(steps, t.reading(d.DocID, q.text))
	}
	return steps
}

// toRead returns the best of the found documents that were not tried yet.
func toRead(t turn, found []document) []document {
	if t.offered(readers()) == "" {
		return nil
	}
	tried := map[any]bool{}
	for _, r := range t.results {
		if isReading(r.tool) {
			tried[r.input["doc_id"]] = true
		}
	}
	var out []document
	for _, d := range found {
		if len(out) < mostReads && !tried[d.DocID] && d.DocID != "" &&
			(len(out) == 0 || d.Score >= nearBest*found[0].Score) {
			out = append(out, d)
		}
	}
	return out
}

// widen makes another query of one that found too little: other words for the same, and only the words that say most.
func widen(q query, done []result) string {
	var words []string
	for _, w := range slices.Concat(q.words, q.borrowed) {
		if w.Gram {
			continue
		}
		words = append(words, w.Text)
		words = append(words, synonyms(w)...)
	}
	if len(words) == len(q.words)+len(q.borrowed) && len(words) > 2 { // no other words are known: drop the shortest
		slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
		words = words[:(len(words)+1)/2]
	}
	wider := clip(strings.Join(words, " "), 900)
	for _, r := range done {
		if r.input["query"] == wider {
			return ""
		}
	}
	return wider
}

// refuse says that nothing was found, and what was searched and read.
func refuse(t turn, q query) string {
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
	said := Refusal
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

func joinNames(names []string) string {
	if len(names) > 4 {
		names = append(names[:3:3], fmt.Sprintf("%d more", len(names)-3))
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
