package runlog

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/locale"
)

// CitationStyle is the format of an answer's footnotes in the API. The log always holds [N].
type CitationStyle string

// The formats of footnotes.
const (
	StyleSource  CitationStyle = "source"  // [Source N] and a list of sources at the end; the default
	StyleNumeric CitationStyle = "numeric" // [N], unchanged
)

// Check fails with a chat.Error for an unknown style.
func (style CitationStyle) Check() error {
	if style == "" || style == StyleSource || style == StyleNumeric {
		return nil
	}
	return httpio.Invalid(`citation_style must be "source" or "numeric".`)
}

// Apply converts the footnotes of an answer with citations; one without, such as a refusal, is unchanged. base is
// the prefix of their links.
//
// base is the server's address without a path, such as https://example.org. The source's own address comes first if
// it has one, then the link to the document here.
func (style CitationStyle) Apply(markdown string, citations []chat.Citation, base string) string {
	if style == StyleNumeric || len(citations) == 0 {
		return markdown
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(style.Mark(markdown, citations), "\n"))
	b.WriteString("\n\nSources:\n")
	for _, cite := range citations {
		fmt.Fprintf(&b, "[Source %d] %s", cite.Number, OneLine(PlaceName(cite.Title, cite.Section, ", ")))
		if place := cite.PlaceWords(); place != "" {
			b.WriteString(", " + OneLine(place))
		}
		b.WriteString(": ")
		if link := chat.WebLink(cite.SourceURL); link != "" {
			b.WriteString(link + " · ")
		}
		b.WriteString(Absolute(base, cite.URL) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// Named is Apply for an answer read later: in the style of its question, and as in the log without one.
func (style CitationStyle) Named(markdown string, citations []chat.Citation, base string) string {
	if style == "" {
		return markdown
	}
	return style.Apply(markdown, citations, base)
}

// Frame is ProgramFrame with the whole answer in the requested style. The deltas before it keep the log's form, and
// without a style so does the answer.
//
// Only the event of the whole answer differs from the log; it keeps its number.
func (style CitationStyle) Frame(base string) Framing {
	if style != StyleSource {
		return ProgramFrame
	}
	return func(dst []byte, entry *chat.Entry) ([]byte, error) {
		if entry.Type != chat.KindAnswer {
			return ProgramFrame(dst, entry)
		}
		p, err := entry.Payload()
		if err != nil {
			return dst, err
		}
		answer, ok := p.(chat.Answer)
		if !ok {
			return dst, fmt.Errorf("event %d of run %s is not an answer", entry.Seq, entry.RunID)
		}
		answer.Markdown = style.Apply(answer.Markdown, answer.Citations, base)
		ev, err := chat.NewEvent(entry.RunID, answer)
		if err != nil {
			return dst, err
		}
		ev.Seq, ev.At = entry.Seq, entry.At
		return ProgramFrame(dst, &chat.Entry{Event: ev, JSON: ev.AppendJSON(nil)})
	}
}

// PlaceName joins the names of a document and a section.
func PlaceName(title, section, joint string) string {
	if section = chat.SectionIn(title, section); section != "" {
		return title + joint + section
	}
	return title
}

// marker matches a footnote in Markdown, and code and escaped characters, which contain no footnotes.
var marker = regexp.MustCompile("(?s)```.*?(?:```|$)|`[^`\n]*`|\\\\.|\\[(\\d{1,4})\\]")

// Footnotes returns the byte ranges of every [N] in Markdown, outside links and code.
func Footnotes(markdown string) [][2]int {
	var list [][2]int
	for _, at := range marker.FindAllStringSubmatchIndex(markdown, -1) {
		if at[2] >= 0 && !strings.HasPrefix(markdown[at[1]:], "(") {
			list = append(list, [2]int{at[0], at[1]})
		}
	}
	return list
}

// WithoutFootnotes removes every [N]: in another answer the numbers would refer to other passages.
func WithoutFootnotes(markdown string) string {
	var b strings.Builder
	last := 0
	for _, at := range Footnotes(markdown) {
		b.WriteString(strings.TrimSuffix(markdown[last:at[0]], " "))
		last = at[1]
	}
	b.WriteString(markdown[last:])
	return b.String()
}

// Mark rewrites the citations' [N] as [Source N]. Other numbers in brackets, links and code are unchanged.
func (style CitationStyle) Mark(markdown string, citations []chat.Citation) string {
	if style == StyleNumeric {
		return markdown
	}
	known := make(map[string]bool, len(citations))
	for _, cite := range citations {
		known[strconv.Itoa(cite.Number)] = true
	}
	var b strings.Builder
	last := 0
	for _, at := range Footnotes(markdown) {
		if !known[markdown[at[0]+1:at[1]-1]] {
			continue
		}
		b.WriteString(markdown[last:at[0]+1] + "Source ")
		last = at[0] + 1
	}
	b.WriteString(markdown[last:])
	return b.String()
}

// OneLine returns a text with collapsed white space.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Absolute returns a link with the server's address as prefix, unless it is absolute.
func Absolute(base, url string) string {
	if strings.HasPrefix(url, "/") {
		return base + url
	}
	return url
}

// GroundedSource is one citation of a grounded answer.
type GroundedSource struct {
	Number     int        `json:"number"`
	DocumentID string     `json:"document_id"`
	ChunkID    string     `json:"chunk_id"`
	Title      string     `json:"title"`
	Section    string     `json:"section"`
	Page       int        `json:"page,omitempty"`
	Place      string     `json:"place,omitempty"`
	URL        string     `json:"url"`
	SourceURL  string     `json:"source_url,omitempty"`
	Quote      string     `json:"quote"`
	Check      chat.Check `json:"check"`
	Score      float64    `json:"score"`
	Added      bool       `json:"added,omitempty"`
}

// SourcesOf converts citations to sources; base is the prefix of their links.
//
// They are in the order of the citations, and never nil, so that JSON has a list.
func SourcesOf(citations []chat.Citation, base string) []GroundedSource {
	out := make([]GroundedSource, 0, len(citations))
	for _, cite := range citations {
		out = append(out, GroundedSource{
			Number:     cite.Number,
			DocumentID: cite.DocumentID,
			ChunkID:    cite.ChunkID,
			Title:      cite.Title,
			Section:    cite.Section,
			Page:       cite.Page,
			Place:      cite.Place,
			URL:        Absolute(base, cite.URL),
			SourceURL:  cite.SourceURL,
			Quote:      cite.Quote,
			Check:      cite.Check,
			Score:      cite.Score,
			Added:      cite.Added,
		})
	}
	return out
}

// FailureOf returns the error of a run that ended without a result.
//
// A cancelled run, and one that a guardrail ended, have a result and no error. It is also nil while the run is under
// way.
func FailureOf(t *Trace) error {
	if t.Status != chat.RunFailed && t.Status != chat.RunInterrupted {
		return nil
	}
	e := &chat.Error{
		Code: chat.CodeModelFailed, Message: "The question could not be answered. Try again in a moment.",
	}
	if t.Status == chat.RunInterrupted {
		e.Code, e.Message = chat.CodeUnavailable, "The server stopped during this run. Ask again."
	}
	if t.Error != nil {
		e.Code, e.Message = t.Error.Code, t.Error.Localised()
	}
	return e
}

// Failure returns the error of a run without an answer: FailureOf, or the reason why a guardrail withheld the
// answer.
func (t *Trace) Failure() error {
	if t.Withheld() {
		text, _ := t.Spoken()
		return &chat.Error{Code: chat.CodeGuardrail, Message: locale.Message(text)}
	}
	return FailureOf(t)
}

// APIStatus returns a run's status for the API: "success" for a completed one.
func APIStatus(status chat.RunStatus) string {
	if status == chat.RunCompleted {
		return "success"
	}
	return string(status)
}

// Withheld reports whether a guardrail ended the run: its text is then no answer.
func (t *Trace) Withheld() bool {
	return t.Status == chat.RunGuardrailTriggered || t.Status == chat.RunCitationValidationFailed
}

// Spoken returns the answer text and citations for a program. If a guardrail ended the run, it returns a sentence
// about that, without citations.
func (t *Trace) Spoken() (string, []chat.Citation) {
	switch {
	case !t.Withheld():
		return t.Text, t.Citations
	case t.Error != nil && t.Error.Message != "":
		return t.Error.Message, []chat.Citation{}
	case t.Status == chat.RunGuardrailTriggered:
		return "The question was blocked by a guardrail. Ask about your documents.", []chat.Citation{}
	}
	return "The answer was withheld, because its footnotes could not be verified. Rephrase the question, or ask " +
			"about one topic at a time.",
		[]chat.Citation{}
}

// runLatency returns the duration of the run so far, in milliseconds.
func runLatency(t *Trace) int64 {
	if t.Answer != nil && t.Answer.LatencyMS > 0 {
		return t.Answer.LatencyMS
	}
	last := t.Log.LastAt
	if t.EndedAt != nil {
		last = *t.EndedAt
	}
	return max(0, last.Sub(t.CreatedAt).Milliseconds())
}
