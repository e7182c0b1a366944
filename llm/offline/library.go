package offline

import (
	"slices"
	"strings"

	"footnote/corpus/text"
	"footnote/english"
)

var (
	fileName   = lazily(`(?i)\S+\.(pdf|md|txt|html?|docx?|csv|xlsx?)\b`)
	everything = lazily(`(?i)^(?:all|everything|(?:my |the |all )*(?:documents?|files?|library))?$`)
	typeOf     = lazily(`(?i)\b(pdf|markdown|html|text)s?\b`)
)

// summary summarises the document that is meant: by its name, by a search for it, or the newest ones if none is named.
func summary(t turn, about string) ([]step, string) {
	if done := t.of("get_document_summary"); len(done) > 0 {
		if text := summaryText(done); text != "" {
			return nil, text
		}
		if len(t.searches()) > 0 || about == "" {
			return nil, refuse(t, query{text: about})
		}
	}
	if !t.has("get_document_summary") {
		return documents(t)
	}
	if d, ok := t.pastMeant(); ok && len(t.of("get_document_summary")) == 0 &&
		(about == "" || refersToItem(t.question)) {
		return []step{{"get_document_summary", map[string]any{"doc_id": d.DocID}}}, ""
	}
	q := about
	if q == "" && len(t.earlier) > 0 { // "summarise it"
		q = understand(t).text
	}
	if found := t.found(); len(found) > 0 {
		return []step{{"get_document_summary", map[string]any{"doc_id": meant(found, q).DocID}}}, ""
	}
	switch {
	case len(t.searches()) > 0:
		return nil, refuse(t, query{text: q})
	case everything().MatchString(q) && t.has("list_documents"):
		return summariseAll(t)
	case fileName().MatchString(q) && len(t.of("get_document_summary")) == 0:
		return []step{{"get_document_summary", map[string]any{"doc_id": q}}}, ""
	case t.canSearch():
		return t.search(q), ""
	}
	return nil, refuse(t, query{text: q})
}

func summariseAll(t turn) ([]step, string) {
	listed := t.of("list_documents")
	if len(listed) == 0 {
		return []step{{"list_documents", map[string]any{}}}, ""
	}
	var steps []step
	for _, d := range listed[0].out.Documents {
		if len(steps) < mostReads && d.DocID != "" {
			steps = append(steps, step{"get_document_summary", map[string]any{"doc_id": d.DocID}})
		}
	}
	if len(steps) == 0 {
		return nil, "There are no documents yet. Add some, then ask again."
	}
	return steps, ""
}

// meant picks the document whose name has most of the words, else the best hit.
func meant(found []document, about string) document {
	best, most := found[0], 0
	for _, d := range found {
		n := 0
		name := strings.ToLower(text.Fold(d.Filename + " " + d.Title))
		for _, w := range text.QueryWords(about, nil) {
			if strings.Contains(name, w.Terms[0]) {
				n++
			}
		}
		if n > most {
			best, most = d, n
		}
	}
	return best
}

// summaryText gives each document's key sentences, each with the number of the passage it stands in.
func summaryText(done []result) string {
	var parts []string
	most := 5
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
		if len(said) == 0 {
			continue
		}
		if len(done) > 1 {
			parts = append(parts, "- "+strings.Join(said, " "))
		} else {
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
			if strings.Contains(p.Text, key) && sayable(key) {
				said = append(said, cited(key, p.N))
				break
			}
		}
	}
	if len(said) > 0 {
		return said
	}
	for _, p := range out.Passages {
		for _, s := range sentencesOf(p.Text) {
			if !s.heading && sayable(s.text) {
				said = append(said, cited(s.words, p.N))
				break
			}
		}
	}
	return said
}

// list lists the library, or the documents of an author or a type.
func list(t turn, about string) ([]step, string) {
	tool, filters := t.offered([]string{"list_documents", "metadata_search"}), map[string]any{}
	if tool == "" && (everything().MatchString(strings.TrimSpace(about)) || ownership().MatchString(about)) {
		return nil, refuse(t, query{})
	}
	if m := byAuthor().FindStringSubmatch(about); m != nil && t.has("metadata_search") {
		tool, filters["author"] = "metadata_search", m[1]
	}
	if m := byYear().FindStringSubmatch(about); m != nil && t.has("metadata_search") {
		tool, filters["year"] = "metadata_search", m[1]
	}
	if m := typeOf().FindStringSubmatch(t.question); m != nil {
		filters["type"] = strings.ToLower(m[1])
	}
	done := t.of(tool)
	if len(done) == 0 {
		if !t.has(tool) {
			return documents(t)
		}
		input := map[string]any{}
		if len(filters) > 0 || tool == "metadata_search" {
			input["filters"] = filters
		}
		return []step{{tool, input}}, ""
	}
	out := done[0].out
	if out.Error != nil || len(out.Documents) == 0 {
		if len(filters) > 0 {
			return nil, "There is no such document in your library."
		}
		return nil, "There are no documents yet. Add some, then ask again."
	}
	at := ""
	if out.More {
		at = "at least "
	}
	return nil, enumerate("You have "+at+english.Count(len(out.Documents), "document"), out.Documents, false)
}

func (d document) label() string {
	if d.Title == "" || d.Title == d.Filename || d.Filename == "" {
		return d.name()
	}
	return d.Title + " (" + d.Filename + ")"
}

// escape keeps a name from being read as Markdown.
func escape(s string) string { return text.EscapeMarkdown(s) }
