package views

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/extract"
)

// maxShown is the number of runes of a step's text that are rendered. maxInline is the number of bytes of its JSON
// in the page; the rest is loaded on request.
const (
	// Both values are tuned by hand.
	maxShown  = 10_000
	maxInline = 2_000
)

// output is a step's result, prepared for the template.
type output struct {
	chat.StepResult
	Places []hit // its results: hits, read passages, matches, documents
	Rows   []pair
	Todo   []todo // a plan
}

// hit is a search result in a document.
type hit struct {
	URL     string // empty: no link
	Score   string
	Title   string
	Kind    string
	Loc     string
	Snippet []span
	Sub     bool // a passage of the document above it
}

// span is a segment of a snippet. Match segments match the query.
type span struct {
	Text  string
	Match bool
}

// todo is an item of a plan.
type todo struct{ Text, Status string }

// output returns the step's result. It is empty while the step runs.
//
// The result is cached in the step, so two goroutines must not render a step at the same time.
func (s *Step) output() *output {
	if s.drawn == nil {
		s.drawn = newOutput(s.Result)
	}
	return s.drawn
}

// newOutput prepares the result of a call. Passages without a title belong to the document above them.
func newOutput(r *chat.StepResult) *output {
	if r == nil {
		return &output{}
	}
	out := &output{StepResult: *r}
	document := r.Title // the document of hits without a title
	for _, h := range r.Hits {
		if h.Title != "" {
			document = h.Title
		}
		out.Places = append(out.Places, newHit(h, document))
	}
	for _, fact := range r.Facts {
		out.Rows = append(out.Rows, pair{fact.Name, fact.Value})
	}
	for _, part := range r.Parts {
		out.Todo = append(out.Todo, todo{part.Query, firstOf(string(part.Status), string(chat.StatusPending))})
	}
	return out
}

// pagePlace returns the text of a hit's page.
func pagePlace(h chat.Hit) string {
	if h.Page == 0 {
		return ""
	}
	return extract.Formats.PageWord(h.MIME, firstOf(h.Filename, h.Title)) + " " + strconv.Itoa(h.Page)
}

// newHit prepares a hit in a document with that title.
//
// A score takes precedence over a similarity; both have two decimals. A web page without a place shows its host.
func newHit(h chat.Hit, document string) hit {
	shown := hit{
		Title: h.Title, Kind: fileKind(firstOf(h.Filename, h.Title), h.MIME),
		Loc:     sourcePlace(document, pagePlace(h), h.Section),
		Snippet: cutSpans(h.Snippet, h.Matches), Sub: h.Sub,
	}
	if link := h.Link(); chat.IsLink(link) {
		shown.URL = link
	}
	if u, err := url.Parse(h.SourceURL); err == nil && shown.Loc == "" {
		shown.Loc, _ = ShownHost(u)
	}
	if h.Note != "" {
		shown.Loc = strings.TrimPrefix(shown.Loc+" · "+h.Note, " · ")
	}
	switch {
	case h.Score != nil:
		shown.Score = strconv.FormatFloat(*h.Score, 'f', 2, 64)
	case h.Similarity != nil:
		shown.Score = strconv.FormatFloat(*h.Similarity, 'f', 2, 64)
	}
	return shown
}

// cutSpans splits a snippet at its matches, which are sorted rune ranges.
//
// Overlapping, empty and out-of-range matches are skipped: another version may have written the log.
func cutSpans(text string, ranges [][2]int) []span {
	if text == "" {
		return nil
	}
	runes, at := []rune(text), 0
	var out []span
	for _, r := range ranges {
		if r[0] < at || r[1] <= r[0] || r[1] > len(runes) {
			continue
		}
		if r[0] > at {
			out = append(out, span{Text: string(runes[at:r[0]])})
		}
		out = append(out, span{Text: string(runes[r[0]:r[1]]), Match: true})
		at = r[1]
	}
	if at < len(runes) {
		out = append(out, span{Text: string(runes[at:])})
	}
	return out
}

// indented returns indented JSON if it is small enough to be in the page.
func indented(raw json.RawMessage) (string, bool) {
	var b bytes.Buffer
	if len(raw) > maxInline || json.Indent(&b, raw, "", "  ") != nil {
		return "", false
	}
	return b.String(), true
}

// firstOf returns the first value that is not empty.
func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
