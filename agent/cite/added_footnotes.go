package cite

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// addedFootnotes is a Writer's state for adding footnotes to sentences that the model copied from a passage and did
// not cite. A footnote is added when the sentence's block ends, or at the next footnote in the block. If that
// footnote cites a passage with the same sentence, it covers both. Until then the text after the sentence is
// buffered, since stored text never changes. Offsets are bytes of the writer's text.
type addedFootnotes struct {
	evidence *Evidence // nil: disabled
	ended    []endedBlock
	from     int  // start of the text with undecided sentences
	isTail   bool // that text continues a sentence with a footnote
	seen     int  // offset before which no sentence needs buffering
	checked  int  // offset before which the ends of sentences were examined
	held     int  // end of the storable text; 0: all of it
}

// endedBlock is a block that no later text continues.
type endedBlock struct {
	end  int
	kind lineKind // of its last line
}

// AddFootnotes makes the writer add footnotes to sentences that the model copied verbatim from passages of e. It
// must be called before the first write.
func (w *Writer) AddFootnotes(e *Evidence) { w.added.evidence = e }

// addsFootnotes reports whether the current text may get added footnotes.
func (w *Writer) addsFootnotes() bool {
	return w.added.evidence != nil && w.origin == fromModel && !w.plain && !w.isRefusal
}

// storable returns the end of the text that may be stored.
func (w *Writer) storable() int {
	if w.added.held > 0 {
		return w.added.held
	}
	return w.text.Len()
}

// bufferCopied buffers the text from the end of the first copied sentence. It parses sentences only when the new text
// has an end of one, since it is called for each token.
func (w *Writer) bufferCopied() {
	a := &w.added
	if !w.addsFootnotes() || a.held > 0 {
		return
	}
	a.seen = max(a.seen, a.from)
	all, begin := w.text.String(), a.seen
	fresh := all[max(a.checked, begin):]
	a.checked = len(all)
	if !strings.ContainsAny(fresh, ".!。！\n") {
		return
	}
	said := all[begin:]
	for _, s := range sentencesOf(said) {
		if at := begin + s.mark; at >= w.stored && len(a.evidence.findCopied(said[s.start:s.end])) > 0 {
			a.held = at
			return
		}
		a.seen = begin + s.start
	}
}

// addFootnotes adds the missing footnotes to the text so far. cited are the passages of the footnote that follows;
// it is nil at the end of the answer.
func (w *Writer) addFootnotes(ctx context.Context, cited []int) error {
	if err := w.addToEndedBlocks(ctx); err != nil {
		return err
	}
	line := w.text.String()[w.line:]
	if cited != nil {
		line += "["
	}
	reader := w.lines
	kind := reader.readLine(line)
	if !kind.continuesBlock(w.lines.last) {
		w.added.ended = append(w.added.ended, endedBlock{w.line, w.lines.last})
		if err := w.addToEndedBlocks(ctx); err != nil {
			return err
		}
	}
	return w.addUntil(ctx, w.text.Len(), kind, cited)
}

// addToEndedBlocks adds footnotes to the blocks that have ended.
func (w *Writer) addToEndedBlocks(ctx context.Context) error {
	a := &w.added
	for len(a.ended) > 0 {
		b := a.ended[0]
		if err := w.addUntil(ctx, b.end, b.kind, nil); err != nil {
			return err
		}
		a.ended, a.isTail = a.ended[1:], false
	}
	return nil
}

// addUntil adds footnotes to the sentences before end, in a block of the given kind. Headings, code and table rows
// get none. If a footnote follows, the last sentence gets none.
func (w *Writer) addUntil(ctx context.Context, end int, kind lineKind, cited []int) error {
	a := &w.added
	if end <= a.from {
		return nil
	}
	begin, said := a.from, w.text.String()[a.from:end]
	a.from, a.held = end, 0
	if a.isTail && strings.ContainsAny(said[:len(said)-len(strings.TrimLeft(said, sentenceEnd))], ".!?。！？…") {
		rest := strings.TrimLeft(said, sentenceEnd)
		begin, said, a.isTail = begin+len(said)-len(rest), rest, false
	}
	skip := a.isTail
	if body := strings.TrimRightFunc(said, unicode.IsSpace); body != "" {
		a.isTail = !strings.ContainsAny(body[len(strings.TrimRight(body, sentenceEnd)):], ".!?。！？…")
	}
	if !w.addsFootnotes() || kind != textLine && kind != itemLine {
		return nil
	}
	sentences := sentencesOf(said)
	if cited != nil && len(sentences) > 0 {
		sentences = sentences[:len(sentences)-1]
	}
	for i, s := range sentences {
		if i == 0 && skip {
			continue
		}
		size, err := w.addTo(ctx, begin, said, s, cited)
		if err != nil {
			return err
		}
		begin += size
	}
	return nil
}

// sentenceEnd lists the characters that end a sentence.
const sentenceEnd = "\"'”’»)*_`.!?。！？…"

// addTo adds a footnote to a sentence of said, which starts at offset begin. It adds none if no passage contains the
// sentence, or the next footnote covers it. It returns the number of bytes added.
func (w *Writer) addTo(ctx context.Context, begin int, said string, s sentence, cited []int) (grown int, err error) {
	found := w.added.evidence.findCopied(said[s.start:s.end])
	at := begin + s.mark
	covered := slices.ContainsFunc(found, func(c copied) bool { return slices.Contains(cited, c.passage) })
	if len(found) == 0 || covered || at < w.stored || !isRunningAt(said, s.mark) {
		return 0, nil
	}
	c := found[max(0, slices.IndexFunc(found, w.cite.isInLastDocument))]
	number, err := w.citePassage(ctx, c.passage, "", citedWords{c.words, nil, true})
	if err != nil || number == 0 {
		return 0, err
	}
	whole, mark := w.text.String(), " ["+strconv.Itoa(number)+"]"
	w.text.Reset()
	w.text.WriteString(whole[:at] + mark + whole[at:])
	for _, offset := range []*int{&w.line, &w.begin, &w.added.from, &w.added.seen, &w.added.checked} {
		if *offset >= at {
			*offset += len(mark)
		}
	}
	for i := range w.added.ended {
		w.added.ended[i].end += len(mark)
	}
	return len(mark), nil
}

// sentence is a sentence's byte range in a text. mark is the offset for its footnote.
type sentence struct{ start, end, mark int }

// sentencesOf parses a text into its sentences, in order.
func sentencesOf(s string) []sentence {
	var out []sentence
	runes, bytes := 0, 0
	offset := func(rune int) int {
		for ; runes < rune; runes++ {
			_, size := utf8.DecodeRuneInString(s[bytes:])
			bytes += size
		}
		return bytes
	}
	for _, span := range sentenceSpans(s) {
		one := sentence{start: offset(span[0]), end: offset(span[1])}
		one.mark = one.start + len(strings.TrimRightFunc(s[one.start:one.end], func(r rune) bool {
			return isStop(r) || unicode.IsSpace(r)
		}))
		out = append(out, one)
	}
	return out
}

// isRunningAt reports whether a footnote at an offset of a block is in running text, and not in code, a formula or a
// link.
func isRunningAt(block string, at int) bool {
	return text.IsRunning(block[:at]+" ") &&
		!slices.ContainsFunc(withFormulas(block, codeSpans(block)), func(span [2]int) bool {
			return span[0] < at && at < span[1]
		})
}

// isInLastDocument reports whether a passage is in the last cited document. If several documents share a sentence,
// the answer is probably about that one.
func (c *Citer) isInLastDocument(in copied) bool {
	src, ok := c.sources.At(in.passage)
	last := len(c.Citations) - 1
	return ok && last >= 0 && c.Citations[last].DocumentID == src.Document.ID
}
