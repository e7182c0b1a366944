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
	if !any && !strings.Contains(said, english.Refusal) { // the answer was in other words, such as a language model's
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

// What is asked to be done with a text, and the words that such a request has beside its text.
var (
	task = lazily(
		`(?i)^(?:please |can you |could you ` +
			`)*(?:explain|summari[sz]e|simplify|rewrite|rephrase|paraphrase|shorten|clarify|translate|sum up|break ` +
			`(?:it|this|that) down|describe|put (?:it|this|that)|tl;?dr|what (?:does|is) (?:this|it|that|the ` +
			`(?:text|passage|paragraph))|what's this|erkläre?|fasse|vereinfache|übersetze)\b`,
	)
	how = lazily(
		`(?i)^(?:what|does|is|this|that|it|the|simple|simpler|simply|plain|plainly|easy|easier|terms|words?|language|` +
			`short|shorter|briefly|brief|detail|text|passage|paragraph|sentences?|bullets?|points?|child|beginner|` +
			`layman|different|own|explain|summari[sz]e|simplify|rewrite|rephrase|paraphrase|shorten|clarify|mean|` +
			`please|sum|break|describe|put|tl|dr|understandable|einfach\w*|worten|text|zusammen|german|english|` +
			`french|spanish|translate|into)$`,
	)
)

// unable is said by a model made of rules of what only a language model can do.
const unable = "I can't put a text in other words: that needs a language model, and Footnote is in offline mode. "

// given returns the text that came with the question, as its parts.
func (t turn) given() []passage {
	if len(t.results) == 0 || t.results[0].input["doc_id"] != llm.GivenDocument {
		return nil
	}
	return t.results[0].out.Passages
}

// retell answers what asks for nothing but the given text in other words: with its own sentences, as rules have no
// others. Units that stand in one line stay in one line.
func retell(t turn) (string, bool) {
	parts := t.given()
	if len(parts) == 0 || !task().MatchString(t.question) {
		return "", false
	}
	for _, w := range text.QueryWords(t.question, languages(t.question)) {
		if !how().MatchString(w.Text) {
			return "", false
		}
	}
	p := pileOf(t.shown())
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

// ownText answers a question that brings a text of its own to be worked on.
func ownText(t turn) (string, bool) {
	if len(t.given()) > 0 || !text.OwnText.MatchString(t.question) {
		return "", false
	}
	return unable + "I can search your documents, and answer with sentences from them.", true
}
