package offline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/lazy"
)

const (
	mostReads = 3    // maximum number of documents read in one turn
	nearBest  = 0.55 // minimum share of the best score of a document that is read too
)

// move is the next action: tool calls, or the answer's text. found is the quality of its quotes.
type move struct {
	steps []step
	text  string
	found *llm.Found
}

func answerWith(text string) move { return move{text: text} }

func call(steps ...step) move { return move{steps: steps} }

// next returns the next action. Rules on texts that came with the question come first, then the question's kind. A
// request that matches no document is treated as a question.
func (m model) next(ctx context.Context, t turn) (move, error) {
	// Rules by the form of the question, without a search; the first match answers.
	for _, rule := range []func(turn) (string, bool){rewriteGiven, aboutTranscript, ownText, behind} {
		if said, ok := rule(t); ok {
			return answerWith(said), nil
		}
	}
	switch k, about := classify(t.question); k {
	case kindEmpty:
		return answerWith("Ask a question about your documents, and I will search them for the answer."), nil
	case kindTalk:
		return answerWith(smallTalk(t.question)), nil
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
		if next, ok := t.propertyOf(); ok {
			return next, nil
		}
	}
	return m.find(ctx, t)
}

// find searches, reads the best documents, and quotes the passages that answer. If these are unlikely to answer, it
// searches once more. Each call of Stream sees only the history. So the order of the steps is that of the calls:
// search, read, quote, query a table, check, search again.
func (m model) find(ctx context.Context, t turn) (move, error) {
	q := topicOf(t)
	if len(t.searches()) == 0 && t.canSearch() && len(t.given()) == 0 {
		return call(t.search(q.query())), nil
	}
	// Each search is followed by one reading, so the documents of a second search are read as well.
	if reads := toRead(t, q.past); len(reads) > 0 && t.rounds(isReading) < t.rounds(isSearch) {
		return call(readAll(t, reads, q.query())...), nil
	}
	if said, ok := t.tableAnswer(); ok {
		return said, nil
	}
	a, err := compose(ctx, t, m.similar, m.read)
	if err != nil {
		return move{}, err
	}
	// The table of the document that the question is limited to is listed first; of others a query of the quoted rows
	// may be enough.
	asking := []func(answer) (step, bool){t.asksListing, t.plansTable, t.asksTable}
	if t.chosen == "" {
		asking = []func(answer) (step, bool){t.asksTable, t.asksListing, t.plansTable}
	}
	if !a.label {
		for _, asks := range asking {
			if asked, ok := asks(a); ok {
				return call(asked), nil
			}
		}
		if a.finding == answers && t.overrates(a) {
			a.sure = mostUnsure
			a = a.rendered(t, leastFound, leastShown)
		}
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
	if rows, ok := t.closestRows(a); ok && a.finding == none {
		return rows, nil
	}
	if a.finding == none {
		return answerWith(refuse(t) + refusalAdvice(t, a)), nil
	}
	return move{text: a.text, found: &llm.Found{Sure: a.sure, Likely: a.finding == answers}}, nil
}

// again returns a second search, for the words of the question that no result has, or else for its rarest words. A
// follow-up question with its own subject is completed from the previous question. A query is never repeated.
// semantic_search gets no threshold then.
func (t turn) again(q topic, p pool) (step, bool) {
	if t.rounds(isSearch) >= mostSearches || !t.canSearch() || len(t.given()) > 0 {
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

// smallTalk answers greetings and thanks, and describes the offline mode.
func smallTalk(q string) string {
	if gratitude().MatchString(q) {
		return "You're welcome. Ask another question about your documents whenever you like."
	}
	return "Hello! Footnote is in offline mode, without a language model: I search your documents, read what fits, " +
		"and quote what answers, " +
		"each quote with its footnote. Ask a question about your documents."
}

// calculate calls the calculator, and returns its result. The rules never calculate themselves.
func calculate(t turn, expression string) move {
	done := t.of("calculate")
	if len(done) == 0 {
		if !t.has("calculate") {
			return answerWith("I can't calculate here.")
		}
		return call(step{"calculate", map[string]any{"expression": expression}})
	}
	out := done[len(done)-1].out
	if out.Error != nil {
		return answerWith("This can't be calculated: " + escape(fmt.Sprint(out.Error)))
	}
	return answerWith(escape(expression) + " = " + escape(fmt.Sprint(out.Result)))
}

// toRead returns the best results that were not read yet, first the document that the question may refer to. A
// document is read if its score is near the best one's (nearBest); scores are comparable only within one search. A
// failed reading is not retried.
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

// readAll returns the calls that read documents in one round.
func readAll(t turn, docs []document, about string) []step {
	var steps []step
	for _, d := range docs {
		steps = append(steps, t.reading(d.DocID, about))
	}
	return steps
}

// list renders the list of the library's documents.
func list(t turn, tool string) move {
	done := t.of(tool)
	if len(done) == 0 {
		if tool == "metadata_search" { // an empty filter matches all
			return call(step{tool, map[string]any{"filters": map[string]any{}}})
		}
		return call(step{tool, map[string]any{}})
	}
	out := done[0].out
	if out.Error != nil || len(out.Documents) == 0 {
		return answerWith("There are no documents yet. Add some, then ask again.")
	}
	at := ""
	if out.More {
		at = "at least "
	}
	lines := []string{"You have " + at + english.Count(len(out.Documents), "document") + ":", ""}
	for _, d := range out.Documents {
		lines = append(lines, "- "+escape(d.label()))
	}
	return answerWith(strings.Join(lines, "\n"))
}

// mostFurther is the maximum number of further sentences.
const mostFurther = 4

// ofSource are words about a source; stop words are allowed beside them.
var ofSource = lazy.Regexp(
	`(?i)^(?:behind|comes?|based|rests?|refers?|stands?|open|quote|read|page|supports?|backs?|exactly|wording)$`,
)

// subject returns the turn of the last question with a topic, and the text of all answers since; a turn without a
// question if there is none.
func (t turn) subject() (topic turn, said string) {
	for i := len(t.earlier) - 1; i >= 0; i-- {
		said = t.earlier[i].answer + "\n" + said
		q := t.earlier[i].question
		if goesOn(q) || text.OwnText().MatchString(q) {
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

// goOn renders further text from the passages of the last answer: first the rest of its passages, then the text
// after them.
func goOn(t turn) move {
	topic, said := t.subject()
	if topic.question == "" {
		return answerWith("Ask a question about your documents first. Then I can go on from its answer.")
	}
	query := topicOf(topic).query()
	if len(t.searches()) == 0 && t.canSearch() {
		return call(t.search(query))
	}
	if reads := toRead(t, document{}); len(reads) > 0 && t.rounds(isReading) == 0 {
		return call(readAll(t, reads, query)...)
	}
	p := newPool(t.shown())
	left, any := p.unquotedUnits(said)
	if !any && !strings.Contains(said, english.Refusal) { // the answer had other words, such as a language model's
		left = p.best()
	}
	switch {
	case len(left) > 0:
		return answerWith(p.join(left))
	case any:
		return answerWith(refuse(t) + " What they say about it was said already.")
	}
	return answerWith(refuse(t))
}

// unquotedUnits returns the unquoted units of passages that the answers quoted, or else those of the same documents.
// any is false if the answers quoted none. Answers are compared without white space and Markdown syntax (plain). The
// order is that of the answers, so that the text continues from there.
func (p pool) unquotedUnits(said string) (left []unit, any bool) {
	said = plain(said)
	from, documents := map[int]int{}, map[string]bool{} // the first offset in the answers of each source
	// Quoted text is identified by its words, whatever source the answer quoted.
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

// best returns the first units of the best passage.
func (p pool) best() (units []unit) {
	for _, u := range p.units {
		if u.source == 0 && u.quotable() && len(units) < mostFurther {
			units = append(units, u)
		}
	}
	return units
}

// plain normalises a text: without footnotes, white space and Markdown syntax.
func plain(s string) string {
	return strings.Join(strings.Fields(setting.Replace(marker().ReplaceAllString(s, ""))), "")
}

var (
	setting = strings.NewReplacer(`\`, "", "|", "", ">", "")
	marker  = lazy.Regexp(`\s*\[(?:Source )?\d+\]`)
)

// join joins units of passages, each with its footnote.
func (p pool) join(units []unit) string {
	var said []string
	for _, u := range units {
		said = append(said, sentence(u.text, p.sources[u.source].N))
	}
	return strings.Join(said, "\n\n")
}

// aboutFootnote reports whether a question only asks for the source of a footnote.
func aboutFootnote(q string) bool {
	if !text.Footnote().MatchString(q) {
		return false
	}
	for _, w := range strings.Fields(text.Footnote().ReplaceAllString(q, " ")) {
		w = strings.ToLower(strings.Trim(w, "?.!,:;\"“”"))
		if w != "" && !text.IsStop(w, "en") && !ofSource().MatchString(w) {
			return false
		}
	}
	return true
}

// behind quotes a footnote's sentence with its neighbours, from the source that was read for it.
func behind(t turn) (string, bool) {
	if !aboutFootnote(t.question) {
		return "", false
	}
	p := newPool(t.shown())
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

// Tasks on a text, and the further words of such a request.
var (
	task = lazy.Regexp(
		`(?i)^(?:please |can you |could you ` +
			`)*(?:explain|summari[sz]e|simplify|rewrite|rephrase|paraphrase|shorten|clarify|translate|sum up|break ` +
			`(?:it|this|that) down|describe|put (?:it|this|that)|tl;?dr|what (?:does|is) (?:this|it|that|the ` +
			`(?:text|passage|paragraph))|what's this|erkläre?|fasse|vereinfache|übersetze)\b`,
	)
	how = lazy.Regexp(
		`(?i)^(?:what|does|is|this|that|it|the|simple|simpler|simply|plain|plainly|easy|easier|terms|words?|language|` +
			`short|shorter|briefly|brief|detail|text|passage|paragraph|sentences?|bullets?|points?|child|beginner|` +
			`layman|different|own|explain|summari[sz]e|simplify|rewrite|rephrase|paraphrase|shorten|clarify|mean|` +
			`please|sum|break|describe|put|tl|dr|understandable|einfach\w*|worten|text|zusammen|german|english|` +
			`french|spanish|translate|into)$`,
	)
)

// unable explains that a task needs a language model.
const unable = "I can't put a text in other words: that needs a language model, and Footnote is in offline mode. "

// given returns the parts of the text that came with the question.
func (t turn) given() []passage {
	if len(t.results) == 0 || t.results[0].input["doc_id"] != llm.GivenDocument {
		return nil
	}
	return t.results[0].out.Passages
}

// rewriteGiven answers a request to rewrite the given text: with its own sentences, as rules have no others. Units on
// one line stay on one line.
func rewriteGiven(t turn) (string, bool) {
	parts := t.given()
	if len(parts) == 0 || !task().MatchString(t.question) {
		return "", false
	}
	for _, w := range text.QueryWords(t.question, languages(t.question)) {
		if !how().MatchString(w.Text) {
			return "", false
		}
	}
	p := newPool(t.shown())
	var lines []string
	said := 0
	for i, u := range p.units {
		if said == mostFurther || !u.quotable() {
			continue
		}
		said++
		switch {
		case i > 0 && len(lines) > 0 && p.inOneLine(p.units[i-1], u):
			lines[len(lines)-1] += string(p.runes[u.source][p.units[i-1].end:u.end])
		default:
			lines = append(lines, u.text)
		}
	}
	if len(lines) == 0 {
		return "", false
	}
	return unable + "This is what it says:\n\n" + text.QuoteMarkdown(lines), true
}

// ownText answers a question that contains a text to work on.
func ownText(t turn) (string, bool) {
	if len(t.given()) > 0 || !text.OwnText().MatchString(t.question) {
		return "", false
	}
	return unable + "I can search your documents, and answer with sentences from them.", true
}
