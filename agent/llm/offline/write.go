package offline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text"
)

// quoteMark stands around each footnote in an answer that is being put together. No text of a document has it: it is
// stored without NUL.
const quoteMark = "\x00"

// cited is the footnote that quotes words of a passage exactly as they stand there, and which of them the question has.
// A passage without a number, which is text that came with the question, gets none.
func cited(words string, n int, matched []string) string {
	if n == 0 {
		return ""
	}
	return " " + quoteMark + strconv.Itoa(n) + ":" + strings.Join(matched, "\x01") + "\x01\x01" + words + quoteMark
}

// quotedBy reads what cited wrote between two marks.
func quotedBy(s string) llm.Quoted {
	number, rest, _ := strings.Cut(s, ":")
	matched, words, _ := strings.Cut(rest, "\x01\x01")
	n, _ := strconv.Atoi(number) // cited wrote it
	q := llm.Quoted{Passage: n, Words: words}
	if matched != "" {
		q.Matched = strings.Split(matched, "\x01")
	}
	return q
}

// escape keeps words of a document from being read as Markdown or as footnotes of ours.
func escape(s string) string { return text.EscapeMarkdown(s) }

// blocks writes quotes one after another. Rows of one table stand below one head.
func (p pile) blocks(quotes []quote, words []word) (out []string) {
	above, said := "", map[int]bool{} // units that were written
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

// lead writes what introduces the list that a quote is an item of, unless it was said. It has no footnote: that is for
// the words of the quote.
func (p pile) lead(q quote, said map[int]bool) string {
	i := p.leadOf(q.first)
	if i < 0 || said[i] {
		return ""
	}
	said[i] = true
	return text.QuoteMarkdown(strings.Split(p.units[i].text, "\n")) + "\n>\n"
}

// block writes a quote with its footnote. Lines stay lines, and items of a list items.
func (p pile) block(q quote, words []word) string {
	raw := p.runes[q.source][q.start:q.end]
	var lines []string
	for _, span := range p.lines(q) {
		line := string(raw[span[0]:span[1]])
		// Indented lines below a line stay lines of their own.
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

// sentence writes a sentence of a passage as a quote with its footnote.
func sentence(said string, n int) string {
	return text.QuoteMarkdown([]string{said}) + cited(said, n, nil)
}

// matchedWords returns the words of a text that are the question's, as they stand there, each once.
func matchedWords(s string, words []word, lang string) []string {
	var out []string
	runes, spans := []rune(s), text.NewAnalyser(lang).Spans(s)
	for i := 0; i < len(spans); i++ {
		if !isOfQuestion(spans[i].Term, words) {
			continue
		}
		start, end := spans[i].Start, spans[i].End
		for i+1 < len(spans) && spans[i+1].Start < end && isOfQuestion(spans[i+1].Term, words) { // bigrams overlap
			i++
			end = spans[i].End
		}
		out = text.AppendNew(out, string(runes[start:end]))
	}
	return out
}

// isOfQuestion reports whether a term stands for one of the words.
func isOfQuestion(term string, words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.terms[term] > 0 })
}

// label is what an answer calls a document: its title, where it has one of its own.
func (d document) label() string {
	if d.Title == "" || d.Title == d.Filename || d.Filename == "" {
		return d.name()
	}
	return d.Title
}
