package offline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/text"
)

var (
	fileName   = lazily(`(?i)\S+\.(pdf|md|txt|html?|docx?|csv|xlsx?)\b`)
	everything = lazily(`(?i)^(?:all|everything|(?:my |the |all )*(?:documents?|files?|library))$`)
)

const mostSaid = 12 // sentences of a summary

// summary sums a document up by its own sentences. ok is false when no document is meant: then its name is a question.
// With a tool for summaries that is asked, else the document is read and the first sentence of each passage stands for
// its key sentences.
func summary(t turn, name string) (next move, ok bool) {
	tool := t.offered(append([]string{"get_document_summary"}, readers()...))
	if tool == "" {
		return move{}, false
	}
	// The tool is called first; when its result is there, its sentences are quoted.
	done := t.of(tool)
	if len(done) == 0 {
		if d, ok := t.pastMeant(name); ok {
			name = d.DocID
		}
		if name == "" {
			return move{}, false
		}
		return call(step{tool, map[string]any{"doc_id": name}}), true
	}
	said := summaryText(done, sentencesAsked(t.question))
	return say(said), said != ""
}

// keyHead stands above sentences that sum a document up.
const keyHead = "The key sentences, word for word:"

// sumUp sums documents up by their own sentences.
func (t turn) sumUp(docs []document, about string) (next move, ok bool) {
	tool := t.offered(append([]string{"get_document_summary"}, readers()...))
	var steps []step
	var done []result
	for _, d := range docs {
		at := slices.IndexFunc(t.results, func(r result) bool { return r.tool == tool && r.input["doc_id"] == d.DocID })
		if at < 0 {
			steps = append(steps, step{tool, map[string]any{"doc_id": d.DocID}})
		} else {
			done = append(done, t.results[at])
		}
	}
	if tool == "" || len(steps) > 0 {
		return call(steps...), tool != ""
	}
	said := summaryText(done, sentencesAsked(t.question))
	return t.pileOfAll(docs, about).answer(keyHead, said), said != ""
}

// summaryText quotes each document's key sentences, most of them at most, and below their names where there are several
// documents.
func summaryText(done []result, most int) string {
	var blocks []string
	if len(done) > 1 {
		most = min(most, 3)
	}
	for _, r := range done {
		keys := keySentences(r.out)
		if len(keys) == 0 || r.out.Error != nil {
			continue
		}
		if len(done) > 1 {
			blocks = append(blocks, escape(r.out.label())+":")
		}
		blocks = append(blocks, keys[:min(most, len(keys))]...)
	}
	return strings.Join(blocks, "\n\n")
}

// keySentences quotes sentences: those that the tool picked, else the first of each passage. Each is quoted once.
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
		pile := pileOf([]source{{passage: p, document: out.document}})
		if i := slices.IndexFunc(pile.units, unit.quotable); i >= 0 {
			said = text.AppendNew(said, sentence(pile.units[i].text, p.N))
		}
	}
	return said
}

// inPieces is how a question says how long an answer is to be: “in three short sentences”.
var inPieces = `in (?:about )?(a few|\d+|` + strings.Join(numerals, "|") +
	`) (?:\p{L}+ )?(?:words?|sentences?|lines?|points?|bullets?|quotes?)`

var (
	numerals = strings.Fields("one two three four five six seven eight nine ten")
	asked    = lazily(`(?i)\b` + inPieces + `\b`)
)

// sentencesAsked is how many sentences a question asks for, mostSaid at most.
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
