package export

import (
	"bytes"
	"fmt"
	"html"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/footnote/footnote/chat"
)

// Markdown encodes answers with footnotes in the common syntax: [^1], numbered through, with their texts at the end.
// All text except the answers, which are Markdown, is escaped.
//
// Repeated citations share one footnote. The output ends with a line feed.
func Markdown(answers []chat.Evidence) []byte {
	var body, notes strings.Builder
	count := 0
	for _, e := range answers {
		// Footnotes are numbered through all answers, in order of first citation.
		numbers := map[int]int{}
		fmt.Fprintf(&body, "# %s\n\n%s\n\n", literal(e.Question),
			literal("Asked "+e.AskedAt.UTC().Format("2 January 2006, 15:04 UTC")+" · answered by "+e.Model))
		body.WriteString(withFootnotes(e, func(c chat.EvidenceCitation) string {
			n, known := numbers[c.Number]
			if !known {
				count++
				n = count
				numbers[c.Number] = n
				fmt.Fprintf(&notes, "[^%d]: %s\n", n, noteText(c))
			}
			return fmt.Sprintf("[^%d]", n)
		}))
		body.WriteString("\n\n")
	}
	return []byte(strings.TrimRight(body.String(), "\n") + "\n\n" + notes.String())
}

// noteText returns a footnote as Markdown, on one line. The document's name is followed by place and section; a
// quote that is not word for word is marked.
func noteText(c chat.EvidenceCitation) string {
	name := literal(sourceName(c))
	if address := chat.WebLink(c.SourceURL); address != "" {
		name = "[" + name + "](<" + strings.NewReplacer("<", "%3C", ">", "%3E").Replace(address) + ">)"
	}
	parts := []string{name}
	for _, place := range []string{placeOf(c), c.Section} {
		if place != "" {
			parts = append(parts, literal(place))
		}
	}
	where := strings.Join(parts, ", ")
	switch {
	case c.Quote == "":
		return "Quote not found: " + literal(c.Claimed) + " " + where
	case c.Check != chat.CheckVerified:
		where += literal(" (" + strings.ReplaceAll(string(c.Check), "_", " ") + ")")
	}
	if c.Added {
		where += literal(" (added by Footnote)")
	}
	return "“" + literal(c.Quote) + "” " + where
}

// literal escapes text for Markdown, on one line. Every ASCII character with a meaning in Markdown gets a backslash.
func literal(words string) string {
	var b strings.Builder
	for _, r := range oneLine(shown(words)) {
		if r < 0x80 && strings.ContainsRune("\\`*_{}[]()<>#+-.!|~&$^\"'=:/", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// HTML encodes answers as a page in one file, without scripts and external resources. The policy in its head forbids
// scripts and all fetches, whatever an answer contains.
//
// It renders the output of Markdown, so both have the same content. title is shown in the browser's tab.
func HTML(title string, answers []chat.Evidence) ([]byte, error) {
	md := goldmark.New(goldmark.WithExtensions(
		extension.Table, extension.Strikethrough, extension.Linkify, extension.Footnote,
	)) // omits raw HTML and executable URLs
	var b bytes.Buffer
	b.WriteString("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">" +
		`<meta name="viewport" content="width=device-width, initial-scale=1">` +
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">` +
		`<meta name="color-scheme" content="light dark"><title>` +
		html.EscapeString(oneLine(shown(title))) + "</title><style>" + pageStyle + "</style></head><body><main>\n")
	if err := md.Convert(Markdown(answers), &b); err != nil {
		return nil, fmt.Errorf("draw answers: %w", err)
	}
	b.WriteString("</main></body></html>\n")
	return b.Bytes(), nil
}

// pageStyle is the page's stylesheet.
const pageStyle = `body{margin:0;font:1rem/1.6 system-ui,sans-serif}main{max-width:44rem;margin:auto;` +
	`padding:2rem 1rem;overflow-wrap:anywhere}h1{margin-top:2.5rem;font-size:1.375rem;line-height:1.35}` +
	`h2,h3{font-size:1.125rem}h1+p{color:light-dark(#5c5c56,#a5a59d);font-size:.875rem}blockquote{margin:1rem 0;` +
	`padding-inline-start:.75rem;border-inline-start:3px solid #c99b1d}pre{overflow:auto;padding:.5rem;` +
	`background:light-dark(#f2f2ee,#252523);font-size:.8125rem}table{border-collapse:collapse}` +
	`td,th{padding:.25rem .75rem;border-bottom:1px solid #8888}a{color:light-dark(#2450be,#96b4ff)}` +
	`.footnotes{font-size:.875rem}@media print{a{color:inherit}}`
