package offline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text/english"
)

const (
	mostReads = 3    // documents of one turn
	nearBest  = 0.55 // a document with this share of the best one's score is read too
)

// move is what to do next: call tools, or say the text. found is what is known of the quotes in it.
type move struct {
	steps []step
	text  string
	found *llm.Found
}

func say(text string) move { return move{text: text} }

func call(steps ...step) move { return move{steps: steps} }

// next decides what to do. Texts that came with the question are looked at first, then what the question's form says. A
// request that means no document goes on as a question.
func (m model) next(ctx context.Context, t turn) (move, error) {
	// Rules that need no search, by the form of the question; the first that fits answers.
	for _, rule := range []func(turn) (string, bool){retell, aboutTranscript, ownText, behind} {
		if said, ok := rule(t); ok {
			return say(said), nil
		}
	}
	switch k, about := classify(t.question); k {
	case kindEmpty:
		return say("Ask a question about your documents, and I will search them for the answer."), nil
	case kindTalk:
		return say(smallTalk(t.question)), nil
	case kindFurther:
		return goOn(t), nil
	case kindArithmetic:
		return calculate(t, about), nil
	case kindSummary, kindOpening, kindItems, kindComparison, kindChanges:
		if next, ok := request(t, k, about); ok {
			return next, nil
		}
	case kindListing:
		if tool := t.offered([]string{"list_documents", "metadata_search"}); tool != "" {
			return list(t, tool), nil
		}
	case kindFind:
	}
	return m.find(ctx, t)
}

// find searches, reads the best documents, and quotes what answers; it searches once more when that is unlikely to. The
// order of the steps is that of the calls before it, as each call of Stream sees only the history: search, read, quote,
// ask a table, search once more.
func (m model) find(ctx context.Context, t turn) (move, error) {
	q := topicOf(t)
	if len(t.searches()) == 0 && t.canSearch() && len(t.given()) == 0 {
		return call(t.search(q.query())), nil
	}
	// Each search is followed by one reading, so a second search has its documents read as well.
	if reads := toRead(t, q.past); len(reads) > 0 && t.readings() < t.rounds() {
		return call(readAll(t, reads, q.query())...), nil
	}
	if said, ok := t.tableAnswer(); ok {
		return said, nil
	}
	a, err := compose(ctx, t, m.similar)
	if err != nil {
		return move{}, err
	}
	if asks, ok := t.asksTable(a); ok {
		return call(asks), nil
	}
	if asks, ok := t.asksCheck(a); ok {
		return call(asks), nil
	}
	a = t.checked(a)
	if a.finding != answers {
		if again, ok := t.again(q, a.pile); ok {
			return call(again), nil
		}
	}
	if a.finding == none {
		return say(refuse(t) + wayOn(t, a)), nil
	}
	return move{text: a.text, found: &llm.Found{Sure: a.sure, Likely: a.finding == answers}}, nil
}

// again is a second search, for the words of the question that nothing which was found has; for its rarest when
// everything was found somewhere. A question that names its own subject is filled up with the one before it. A query
// that was searched already is not searched again. semantic_search gets no lower bound then: what is far is better than
// nothing.
func (t turn) again(q topic, p pile) (step, bool) {
	if t.rounds() >= mostSearches || !t.canSearch() || len(t.given()) > 0 {
		return step{}, false
	}
	query := q.filled()
	if !q.names {
		var missing, others []string
		for _, w := range q.weigh(p) {
			if len(w.terms) == 0 {
				missing = append(missing, w.typed)
			} else {
				others = append(others, w.typed)
			}
		}
		query = clip(strings.Join(slices.Concat(missing, others), " "), 900)
	}
	if query == "" || slices.ContainsFunc(t.searches(), func(r result) bool { return r.input["query"] == query }) {
		return step{}, false
	}
	input := map[string]any{"query": query}
	if t.offered(searchers()) == "semantic_search" {
		input["min_score"] = 0
	}
	return step{t.offered(searchers()), input}, true
}

const mostSearches = 2

// smallTalk answers greetings and thanks, and says what this mode is.
func smallTalk(q string) string {
	if gratitude().MatchString(q) {
		return "You're welcome. Ask another question about your documents whenever you like."
	}
	return "Hello! Footnote is in offline mode, without a language model: I search your documents, read what fits, " +
		"and quote what answers, " +
		"each quote with its footnote. Ask a question about your documents."
}

// calculate has the tool calculate an expression, and says what it returned. The rules never calculate themselves.
func calculate(t turn, expression string) move {
	done := t.of("calculate")
	if len(done) == 0 {
		if !t.has("calculate") {
			return say("I can't calculate here.")
		}
		return call(step{"calculate", map[string]any{"expression": expression}})
	}
	out := done[len(done)-1].out
	if out.Error != nil {
		return say("This can't be calculated: " + escape(fmt.Sprint(out.Error)))
	}
	return say(escape(expression) + " = " + escape(fmt.Sprint(out.Result)))
}

// toRead returns the best of the found documents that were not read yet, and first the one that the question may go on
// from. A document is read too when its score is near the best one's (nearBest): scores of one search compare with each
// other, and with nothing else. What was tried is not tried again, even when reading failed.
func toRead(t turn, past document) []document {
	if t.offered(readers()) == "" || len(t.searches()) == 0 {
		return nil
	}
	tried := map[any]bool{}
	for _, r := range t.results {
		if isReading(r.tool) {
			tried[r.input["doc_id"]] = true
		}
	}
	var out []document
	if past.DocID != "" && !tried[past.DocID] {
		out, tried[past.DocID] = append(out, past), true
	}
	found := t.lastRound()
	for _, d := range found {
		if len(out) < mostReads && !tried[d.DocID] && d.DocID != "" &&
			(len(out) == 0 || d.Score >= nearBest*found[0].Score) {
			out = append(out, d)
		}
	}
	return out
}

// readAll reads documents at once, in one round of calls.
func readAll(t turn, docs []document, about string) []step {
	var steps []step
	for _, d := range docs {
		steps = append(steps, t.reading(d.DocID, about))
	}
	return steps
}

// list names the documents of the library.
func list(t turn, tool string) move {
	done := t.of(tool)
	if len(done) == 0 {
		if tool == "metadata_search" { // without a filter it finds all
			return call(step{tool, map[string]any{"filters": map[string]any{}}})
		}
		return call(step{tool, map[string]any{}})
	}
	out := done[0].out
	if out.Error != nil || len(out.Documents) == 0 {
		return say("There are no documents yet. Add some, then ask again.")
	}
	at := ""
	if out.More {
		at = "at least "
	}
	lines := []string{"You have " + at + english.Count(len(out.Documents), "document") + ":", ""}
	for _, d := range out.Documents {
		lines = append(lines, "- "+escape(d.label()))
	}
	return say(strings.Join(lines, "\n"))
}
