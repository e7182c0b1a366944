package offline

import (
	"slices"
	"strings"
)

var (
	fileName   = lazily(`(?i)\S+\.(pdf|md|txt|html?|docx?|csv|xlsx?)\b`)
	everything = lazily(`(?i)^(?:all|everything|(?:my |the |all )*(?:documents?|files?|library))$`)
)

const mostSaid = 5 // sentences of a summary

// summary sums a document up by its own sentences. ok is false when no document is meant: then its name is a question.
func summary(t turn, name string) (next move, ok bool) {
	tool := t.offered(append([]string{"get_document_summary"}, readers()...))
	if tool == "" {
		return move{}, false
	}
	done := t.of(tool)
	if len(done) == 0 {
		if d, ok := t.pastMeant(name); ok {
			name = d.DocID
		}
		if everything().MatchString(name) {
			return summariseAll(t, tool)
		}
		if name == "" {
			return move{}, false
		}
		return call(step{tool, map[string]any{"doc_id": name}}), true
	}
	said := summaryText(done)
	return say(said), said != ""
}

func summariseAll(t turn, tool string) (next move, ok bool) {
	if !t.has("list_documents") {
		return move{}, false
	}
	listed := t.of("list_documents")
	if len(listed) == 0 {
		return call(step{"list_documents", map[string]any{}}), true
	}
	var steps []step
	for _, d := range listed[0].out.Documents {
		if len(steps) < mostReads && d.DocID != "" {
			steps = append(steps, step{tool, map[string]any{"doc_id": d.DocID}})
		}
	}
	if len(steps) == 0 {
		return say("There are no documents yet. Add some, then ask again."), true
	}
	return call(steps...), true
}

// summaryText gives each document's key sentences, each with the number of the passage it stands in.
func summaryText(done []result) string {
	var parts []string
	most := mostSaid
	if len(done) > 1 {
		most = 2
	}
	for _, r := range done {
		var said []string
		for _, key := range keySentences(r.out) {
			if len(said) < most && !slices.Contains(said, key) {
				said = append(said, key)
			}
		}
		switch {
		case len(said) == 0 || r.out.Error != nil:
		case len(done) > 1:
			parts = append(parts, "- "+strings.Join(said, " "))
		default:
			parts = append(parts, strings.Join(said, " "))
		}
	}
	return strings.Join(parts, "\n")
}

// keySentences returns cited sentences: the ones that the tool picked, else the first of each passage.
func keySentences(out output) []string {
	var said []string
	for _, key := range out.KeySentences {
		for _, p := range out.Passages {
			if strings.Contains(p.Text, key) {
				said = append(said, escape(key)+cited(key, p.N, nil))
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
			said = append(said, escape(pile.units[i].text)+cited(pile.units[i].text, p.N, nil))
		}
	}
	return said
}
