package views

import (
	"context"
	"html"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/footnote/footnote/corpus"
)

// tone is the mark of a text segment.
type tone int

const (
	toneNone tone = iota
	tonePassage
	toneQuote
)

// toneOf returns the mark of a text segment: the quote takes precedence over its passage. A formula is marked as a
// whole.
func (v *Viewer) toneOf(start, end int) tone {
	overlaps := func(s Span) bool { return !s.isEmpty() && s.Start < end && start < s.End }
	switch {
	case overlaps(v.Quote) || slices.ContainsFunc(v.Also, overlaps):
		return toneQuote
	case overlaps(v.Passage):
		return tonePassage
	default:
		return toneNone
	}
}

// markFormula is the kind of the mark of a formula with its delimiters.
const markFormula = "math"

// isWithin reports whether an offset is strictly inside a mark.
func isWithin(marks []corpus.Mark, at int) bool {
	return slices.ContainsFunc(marks, func(m corpus.Mark) bool { return m.Start < at && at < m.End })
}

// inline renders [start, end) of the text. The quote's mark is the outer element and the document's formatting the
// inner one, so that the marked elements hold exactly the marked words. A formula is rendered, and marked, as a
// whole.
//
// Offsets are in runes. Formatting that crosses the boundary of a marked range is rendered as two elements.
func (v *Viewer) inline(marks []corpus.Mark, start, end int) templ.Component {
	var formulas []corpus.Mark
	for _, m := range marks {
		if m.Kind == markFormula {
			formulas = append(formulas, m)
		}
	}
	cuts := []int{start, end}
	cut := func(at int) {
		if at > start && at < end && !isWithin(formulas, at) {
			cuts = append(cuts, at)
		}
	}
	for _, m := range marks {
		cut(m.Start)
		cut(m.End)
	}
	for _, s := range append([]Span{v.Passage, v.Quote}, v.Also...) {
		cut(s.Start)
		cut(s.End)
	}
	// No mark starts or ends between two cuts, so each segment has one format.
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var b strings.Builder
	open := toneNone
	for i := 0; i+1 < len(cuts); i++ {
		if now := v.toneOf(cuts[i], cuts[i+1]); now != open {
			closeTone(&b, open)
			v.openTone(&b, now, cuts[i], cuts[i+1])
			open = now
		}
		writeFormatted(&b, marks, cuts[i], v.textRange(cuts[i], cuts[i+1]))
	}
	closeTone(&b, open)
	return templ.Raw(b.String())
}

// openTone opens the mark of a tone. The first mark of the document is the target of links.
func (v *Viewer) openTone(b *strings.Builder, t tone, start, end int) {
	if t == toneNone {
		return
	}
	b.WriteString(`<mark class="`)
	if t == toneQuote {
		b.WriteString("quote")
	} else {
		b.WriteString("passage")
	}
	b.WriteString(`"`)
	// The fragment is the same in every document, so it works without scripts.
	if at := v.anchorAt(); start <= at && at < end {
		b.WriteString(` id="cited"`)
	}
	b.WriteString(`>`)
}

// closeTone closes the element of openTone.
func closeTone(b *strings.Builder, t tone) {
	if t != toneNone {
		b.WriteString(`</mark>`)
	}
}

// anchorAt returns the offset of the first marked word, or -1.
func (v *Viewer) anchorAt() int {
	switch {
	case !v.Quote.isEmpty():
		return v.Quote.Start
	case !v.Passage.isEmpty():
		return v.Passage.Start
	default:
		return -1
	}
}

// writeFormatted writes a text at an offset inside the elements of the marks that cover the offset.
func writeFormatted(b *strings.Builder, marks []corpus.Mark, at int, text string) {
	var closing []string
	linked, isFormula := false, false
	opened := map[string]bool{} // nested bold text is one element
	for _, m := range marks {
		if at < m.Start || at >= m.End {
			continue
		}
		switch m.Kind {
		case "strong", "em", "code":
			if opened[m.Kind] {
				continue
			}
			opened[m.Kind] = true
			b.WriteString("<" + m.Kind + ">")
			closing = append(closing, "</"+m.Kind+">")
		case markFormula:
			isFormula = true
		case "link":
			if linked || !safeLink(m.URL) {
				continue
			}
			linked = true
			address, title := documentLink(m.URL)
			b.WriteString(`<a href="` + html.EscapeString(address) + `" title="` + html.EscapeString(title) +
				`" target="_blank" rel="noopener noreferrer nofollow">`)
			closing = append(closing, "</a>")
		}
	}
	if isFormula {
		b.WriteString(documentFormula(text))
	} else {
		b.WriteString(html.EscapeString(text))
	}
	for _, end := range slices.Backward(closing) {
		b.WriteString(end)
	}
}

// documentLink returns the href and title of a document's link. An http or https link leads to the confirmation
// page, and its title is the host.
func documentLink(address string) (href, title string) {
	u, err := url.Parse(address)
	if err != nil {
		return address, address
	}
	if host, ok := ShownHost(u); ok {
		return LeavePath(address), host
	}
	return address, address
}

// safeLink reports whether a document's link may be rendered: http, https and mailto only.
//
// Documents are untrusted: a URL that runs a script must never become a link.
func safeLink(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		_, ok := ShownHost(u)
		return ok && len(address) <= maxAddress
	case "mailto":
		return u.Opaque != ""
	}
	return false
}

// gap renders the text between two blocks, such as a blank line, if the quote continues over it.
func (v *Viewer) gap(from, to int) templ.Component {
	if !v.Quote.holdsPlace(from) || to <= from {
		return templ.NopComponent
	}
	return templ.Raw(`<mark class="quote vh">` + html.EscapeString(v.textRange(from, min(to, v.Quote.End))) + `</mark>`)
}

// field is a name and value in a row. next is the offset of the next field, or the end of the last.
type field struct {
	Span
	next int
}

// fields returns the fields of a row: each starts with a strong mark and ends before the separator.
func (v *Viewer) fields(b corpus.Block) (out []field) {
	for _, m := range b.Marks {
		if m.Kind != "strong" {
			continue
		}
		if n := len(out); n > 0 {
			before := &out[n-1]
			words := strings.TrimRight(v.textRange(before.Start, m.Start), " ·")
			before.End, before.next = before.Start+utf8.RuneCountInString(words), m.Start
		}
		out = append(out, field{Span{m.Start, b.End}, b.End})
	}
	if len(out) == 0 || out[0].Start > b.Start {
		return []field{{Span{b.Start, b.End}, b.End}}
	}
	return out
}

// code renders a block with preserved white space.
func (v *Viewer) code(b numberedBlock) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		lines := ""
		if b.Line > 0 {
			lines = `<p class="line-no num">` + html.EscapeString(lineNumber.Say(ctx, b.Line)) + `</p>`
		}
		if _, err := io.WriteString(w, lines+`<pre class="doc-code" tabindex="0"><code>`); err != nil {
			return err
		}
		if err := templ.Join(v.inline(nil, b.Start, b.End), v.gap(b.End, b.next)).Render(ctx, w); err != nil {
			return err
		}
		_, err := io.WriteString(w, `</code></pre>`)
		return err
	})
}

// plain renders the text of a block that is too large to be formatted. A table's rows are lines of its text.
func (v *Viewer) plain(ctx context.Context, b numberedBlock) templ.Component {
	return plainText(txtTooLarge.In(ctx), v.inline(nil, b.Start, b.End), v.gap(b.End, b.next))
}

// plainPage renders a page's text that exceeds the text layer's budget or has no known positions.
func (v *Viewer) plainPage(ctx context.Context, s Sheet) templ.Component {
	notice := txtPageTooLarge
	if s.unplaced() {
		notice = txtPageUnplaced
	}
	return plainText(notice.In(ctx), v.inline(nil, s.Text.Start, s.Text.End))
}

// plainText renders unformatted text under a notice with the reason.
func plainText(notice string, content ...templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		if _, err := io.WriteString(
			w, tooLargeNotice(notice)+`<pre class="plain" tabindex="0" dir="auto">`,
		); err != nil {
			return err
		}
		if err := templ.Join(content...).Render(ctx, w); err != nil {
			return err
		}
		_, err := io.WriteString(w, `</pre>`)
		return err
	})
}

// cellGap returns the offset of the cell after (row, column) of a table, or of the next block.
func cellGap(b numberedBlock, row, column int) int {
	if column+1 < len(b.Cells[row]) {
		return b.Cells[row][column+1][0]
	}
	if row+1 < len(b.Cells) && len(b.Cells[row+1]) > 0 {
		return b.Cells[row+1][0][0]
	}
	return b.next
}

// MaxBlockNodes limits the sum of BlockNodes of the blocks that are rendered together.
const MaxBlockNodes = maxNodes

// plainNodes is the BlockNodes of a block shown as plain text: its notice and its text.
const plainNodes = 4

// BlockNodes returns a block's node count against MaxBlockNodes. It is at most MaxBlockNodes: a larger block is
// shown as plain text.
func BlockNodes(b corpus.Block) int {
	if tooLarge(b) {
		return plainNodes
	}
	return formattedNodes(b)
}

// tooLarge reports whether a single block exceeds the budget.
func tooLarge(b corpus.Block) bool { return formattedNodes(b) > MaxBlockNodes }

// formattedNodes counts the nodes of a formatted block. A cell is an element and its text. A mark splits the text
// into up to two more segments, each an element and its text.
func formattedNodes(b corpus.Block) int {
	n := 2 + 4*len(b.Marks)
	for _, m := range b.Marks {
		if m.Kind == markFormula {
			n += formulaNodes(m.End - m.Start)
		}
	}
	for _, row := range b.Cells {
		n += 1 + 2*len(row)
	}
	return n
}
