package offline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text"
)

// quoteMark delimits each footnote in a composed answer. Stored texts contain no NUL, so it never occurs in a
// document.
const quoteMark = "\x00"

// cited encodes a footnote that quotes words of a passage exactly, with the words that match the question. A passage
// without a number, which is text that came with the question, gets none.
func cited(words string, n int, matched []string) string {
	if n == 0 {
		return ""
	}
	return " " + quoteMark + strconv.Itoa(n) + ":" + strings.Join(matched, "\x01") + "\x01\x01" + words + quoteMark
}

// quotedBy decodes a footnote that cited encoded.
func quotedBy(s string) llm.Quoted {
	number, rest, _ := strings.Cut(s, ":")
	matched, words, _ := strings.Cut(rest, "\x01\x01")
	n, _ := strconv.Atoi(number) // encoded by cited
	q := llm.Quoted{Passage: n, Words: words}
	if matched != "" {
		q.Matched = strings.Split(matched, "\x01")
	}
	return q
}

// escape escapes a document's text, so that it is not parsed as Markdown or as footnotes.
func escape(s string) string { return text.EscapeMarkdown(s) }

// blocks renders quotes as blocks. Rows of one table share its head.
func (p pool) blocks(quotes []quote, words []word) (out []string) {
	above, said := "", map[int]bool{} // units that were rendered
	for i, q := range quotes {
		head := p.headOf(q)
		switch {
		case head == "":
			out = append(out, p.lead(q, said)+p.block(q, words))
		case head == above && p.sameTable(p.units[q.first], p.units[quotes[i-1].first]):
			out[len(out)-1] += "\n" + p.rows(q, words)
		default:
			out = append(out, head+p.rows(q, words))
		}
		above = head
		for u := q.first; u <= q.last; u++ {
			said[u] = true
		}
	}
	return out
}

// lead renders the lead of a quoted list item, unless it was rendered before. It has no footnote, which is for the
// quote.
func (p pool) lead(q quote, said map[int]bool) string {
	i := p.leadOf(q.first)
	if i < 0 || said[i] {
		return ""
	}
	said[i] = true
	return text.QuoteMarkdown(strings.Split(p.units[i].text, "\n")) + "\n>\n"
}

// block renders a quote with its footnote. Lines and list items are kept.
func (p pool) block(q quote, words []word) string {
	raw := p.runes[q.source][q.start:q.end]
	var lines []string
	for _, span := range p.lines(q) {
		line := string(raw[span[0]:span[1]])
		// Indented lines below a line are kept as lines.
		if !isNested(line) {
			lines = append(lines, line)
			continue
		}
		lines = slices.AppendSeq(lines, strings.Lines(line))
	}
	src := p.sources[q.source]
	matched := matchedWords(string(raw), words, text.Detect(src.Text))
	return text.QuoteMarkdown(lines) + cited(string(raw), src.N, matched)
}

// sentence renders a sentence of a passage as a quote with its footnote.
func sentence(said string, n int) string {
	return text.QuoteMarkdown([]string{said}) + cited(said, n, nil)
}

// matchedWords returns the words of a text that match the question, as written and deduplicated.
func matchedWords(s string, words []word, lang string) []string {
	var out []string
	runes, spans := []rune(s), append(text.NewAnalyser(lang).Spans(s), text.Identifiers(s)...)
	slices.SortStableFunc(spans, func(a, b text.Span) int { return a.Start - b.Start })
	for i := 0; i < len(spans); i++ {
		if !isOfQuestion(spans[i].Term, words) {
			continue
		}
		start, end := spans[i].Start, spans[i].End
		for i+1 < len(spans) && spans[i+1].Start < end && isOfQuestion(spans[i+1].Term, words) { // bigrams overlap
			i++
			end = max(end, spans[i].End)
		}
		out = text.AppendNew(out, string(runes[start:end]))
	}
	return out
}

// isOfQuestion reports whether a term matches one of the words.
func isOfQuestion(term string, words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.terms[term] > 0 })
}

// label returns a document's title, or its name if it has no title of its own.
func (d document) label() string {
	if d.Title == "" || d.Title == d.Filename || d.Filename == "" {
		return d.name()
	}
	return d.Title
}
