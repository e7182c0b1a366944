package offline

import (
	"fmt"
	"slices"
	"strings"

	"footnote/corpus/text"
	"footnote/english"
)

const aFile = `["“]?([\p{L}\p{N}_.-]+\.(?:pdf|md|markdown|txt|html?|docx?|csv|xlsx?))["”]?`

// What is asked about the library itself, beside lists of it.
var (
	fieldOf = lazily(`(?i)^(?:please )?(?:what(?:'s| is)|tell me|give me|show me) the (title|type|format|number of ` +
		`pages|page count) of (?:the )?(?:document |file )?` +
		aFile + `[?.! ]*$`)
	pagesOf = lazily(`(?i)^how many pages (?:does|do|has|have|are (?:there )?in) (?:the )?(?:document |file )?` +
		aFile + `(?: (?:have|contain|hold))?[?.! ]*$`)
	nameOf = lazily(
		`(?i)^(?:which|what) (?:file|document|pdf) (?:holds|is|has) (?:the |my |our )?(.+?)[?.! ]*$|^(?:what(?:'s| ` +
			`is)|tell me) the file ?name of (?:the |my |our )?(.+?)[?.! ]*$`,
	)
	titled = lazily(
		`(?i)^(?:please )?(?:list|show|find|which|what)\b.*\b(?:documents?|files?|pdfs?)\b.*\b(?:titles?|names?|` +
			`called|titled|named)\b(?: that| which)?(?: contains?| containing| includes?| including| has| have| ` +
			`with| holds?)?(?: the)?(?: words?)? ["“]?([\p{L}\p{N}][^"”?]*?)["”]?[?.! ]*$`,
	)
	within = lazily(
		`(?i)^(?:please )?(?:list|show|find|which|what)\b.*\b(?:documents?|files?|pdfs?)\b.*\b(?:have|has|with|hold|` +
			`contain)(?: the)?(?: words?)? ["“]?([\p{L}\p{N}][^"”?]*?)["”]? in (?:their|its|the) ` +
			`(?:titles?|names?|file ?names?)[?.! ]*$`,
	)
	byAge = lazily(
		`(?i)^(?:which|what)(?:'s| is| was)?(?: the| my| our)* (?:(newest|latest|most recent|oldest) ` +
			`(?:document|file|pdf)\b|(?:document|file|pdf) (?:is|was|did i|have i|did we|have we)(?: the)?(?: ` +
			`add(?:ed)?| upload(?:ed)?)? ?(newest|latest|most recent(?:ly)?|oldest|last|first)\b)(?: ` +
			`(?:one|document|file|added|uploaded|in (?:the|my|our) library|here|that (?:i|we) ` +
			`(?:have|added|uploaded)))*[?.! ]*$`,
	)
	ageLast = lazily(`(?i)oldest|first`)
)

// catalogued is a question that the list of documents answers.
type catalogued struct {
	field   string // title, type or pages of the document file; file for its name; age; empty: a list
	about   string
	filters map[string]any
}

// catalogue reads a question about the library itself.
func catalogue(q string) (catalogued, bool) {
	if m := fieldOf().FindStringSubmatch(q); m != nil {
		field := map[string]string{"title": "title", "type": "type", "format": "type"}[strings.ToLower(m[1])]
		if field == "" {
			field = "pages"
		}
		return catalogued{field, m[2], map[string]any{"title": m[2]}}, true
	}
	if m := pagesOf().FindStringSubmatch(q); m != nil {
		return catalogued{"pages", m[1], map[string]any{"title": m[1]}}, true
	}
	if m := byAge().FindStringSubmatch(q); m != nil {
		sort := "newest"
		if ageLast().MatchString(m[1] + m[2]) {
			sort = "oldest"
		}
		return catalogued{"age", sort, map[string]any{"sort": sort}}, true
	}
	m := within().FindStringSubmatch(q)
	if m == nil {
		m = titled().FindStringSubmatch(q)
	}
	if m != nil {
		return catalogued{"", m[1], map[string]any{"title": m[1]}}, true
	}
	if m := nameOf().FindStringSubmatch(q); m != nil {
		return catalogued{"file", m[1] + m[2], map[string]any{"title": m[1] + m[2]}}, true
	}
	return catalogued{}, false
}

// consult answers from the list of documents. What the list does not hold is looked for in the documents, if it may
// stand there.
func consult(t turn, c catalogued) ([]step, string) {
	tool := t.offered([]string{"list_documents", "metadata_search"})
	if tool == "" {
		return documents(t)
	}
	done := t.of(tool)
	if len(done) == 0 {
		return []step{{tool, map[string]any{"filters": c.filters}}}, ""
	}
	docs := done[0].out.Documents
	if c.field == "title" || c.field == "type" || c.field == "pages" {
		docs = slices.DeleteFunc(
			slices.Clone(docs), func(d document) bool { return !strings.EqualFold(d.Filename, c.about) },
		)
	}
	if c.field == "file" {
		docs = slices.DeleteFunc(slices.Clone(docs), func(d document) bool { return !hasWords(d.Title, c.about) })
	}
	if len(docs) == 0 {
		if c.field == "file" { // it may stand in a document
			t.question = c.about
			return documents(t)
		}
		return nil, "There is no such document in your library."
	}
	return nil, c.say(docs, done[0].out.More)
}

func (c catalogued) say(docs []document, more bool) string {
	d := docs[0]
	switch c.field {
	case "title":
		return fmt.Sprintf("The title of %s is “%s”.", escape(d.Filename), escape(d.Title))
	case "type":
		return fmt.Sprintf("%s is of the type %s.", escape(d.Filename), escape(d.Type))
	case "pages":
		if d.Pages == 0 {
			return escape(d.Filename) + " has no pages: only PDFs have."
		}
		return fmt.Sprintf("%s has %s.", escape(d.Filename), english.Count(d.Pages, "page"))
	case "age":
		return fmt.Sprintf(
			"The %s document in your library is %s, added on %s.", c.about, escape(d.label()), escape(d.Added),
		)
	case "file":
		if len(docs) == 1 {
			return fmt.Sprintf("“%s” is the file %s.", escape(d.Title), escape(d.Filename))
		}
	}
	return enumerate("These documents have it in their title", docs, more)
}

// hasWords reports whether a title has every word of a phrase.
func hasWords(title, phrase string) bool {
	have := map[string]bool{}
	for _, w := range text.QueryWords(title, nil) {
		have[w.Terms[0]] = true
	}
	words := text.QueryWords(phrase, nil)
	return len(words) > 0 && !slices.ContainsFunc(words, func(w text.Word) bool { return !have[w.Terms[0]] })
}

// enumerate lists documents after a line that says what they are.
func enumerate(lead string, docs []document, more bool) string {
	var b strings.Builder
	b.WriteString(lead + ":\n")
	for _, d := range docs {
		b.WriteString("\n- " + escape(d.label()))
	}
	if more {
		b.WriteString("\n\nThere are more.")
	}
	return b.String()
}
