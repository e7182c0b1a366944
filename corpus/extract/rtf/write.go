package rtf

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/text"
)

// addBody appends text to the current paragraph. The heading level is that at its first letter, because the next
// paragraph's style may apply before its end.
func (r *reader) addBody(s string) {
	if r.state.raised {
		s = text.Superscript(s)
	}
	if r.line.Len() == 0 {
		r.level = r.state.outline
	}
	start := r.line.Len()
	r.line.WriteString(s)
	if r.state.link == "" {
		return
	}
	// Adjacent runs of a link are merged.
	if n := len(r.links); n > 0 && r.links[n-1].end == start && r.links[n-1].address == r.state.link {
		r.links[n-1].end = r.line.Len()
		return
	}
	r.links = append(r.links, link{start, r.line.Len(), r.state.link})
}

// takeLine returns the current paragraph and begins another. Offsets of links are bytes of the line.
func (r *reader) takeLine() (line string, links []link) {
	line, links = r.line.String(), r.links
	r.line.Reset()
	r.links = nil
	return line, links
}

// Longer text in a heading's style is a paragraph.
const maxHeading = 500 // bytes

// endParagraph writes the current paragraph. In a table it is part of a cell. The number comes from the group
// "listtext", which holds the displayed number or bullet for readers without list support, so that items need no
// counting. A numbered heading keeps its number in its text.
func (r *reader) endParagraph() {
	// In a cell \par separates two lines; the cell ends with \cell.
	if r.inside {
		if r.line.Len() > 0 {
			r.line.WriteString(" ")
		}
		return
	}
	r.endTable()
	line, links := r.takeLine()
	mark := strings.TrimSpace(r.mark)
	r.mark = ""
	if strings.TrimSpace(line) == "" {
		return
	}
	b := corpus.Block{Kind: corpus.BlockParagraph}
	ordinal, listed := doctext.ItemMark(mark)
	switch {
	case r.level > 0 && r.level < 10 && len(line) <= maxHeading:
		b.Kind, b.Level = corpus.BlockHeading, min(r.level, 6)
	case mark != "":
		b.Kind, b.Level, b.Ordinal = corpus.BlockList, 1, ordinal
	}
	r.w.Begin(b)
	switch {
	case b.Kind == corpus.BlockHeading && mark != "":
		r.w.Text(mark + " ")
	case b.Kind == corpus.BlockList && (ordinal > 0 || !listed && isWord(mark)):
		r.w.Number(mark)
	}
	r.writeLine(line, links, b.Kind == corpus.BlockHeading)
	r.w.End()
	r.writeNotes()
}

// isWord reports whether a list marker is a number and not a bullet: a symbol, or the "o" of a monospaced font.
func isWord(mark string) bool {
	return mark != "o" && strings.ContainsFunc(mark, func(c rune) bool {
		return c < 0xE000 && (unicode.IsLetter(c) || unicode.IsDigit(c))
	})
}

// writeLine splits the line at its links and writes each piece, with a mark for links.
func (r *reader) writeLine(line string, links []link, flat bool) {
	// The text between two cuts has the same link, or none.
	cuts := []int{0, len(line)}
	for _, l := range links {
		cuts = append(cuts, l.start, l.end)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i := 0; i+1 < len(cuts); i++ {
		end := func() {}
		for _, l := range links {
			if l.start <= cuts[i] && cuts[i] < l.end {
				end = r.w.Mark("link", l.address)
			}
		}
		for j, part := range strings.Split(line[cuts[i]:cuts[i+1]], "\n") {
			if j > 0 && flat {
				r.w.Text(" ")
			} else if j > 0 {
				r.w.Break()
			}
			r.w.Text(part)
		}
		end()
	}
}

// endCell ends a cell of the current row. Links in cells are dropped.
func (r *reader) endCell() {
	if r.state.to != toBody {
		return
	}
	line, _ := r.takeLine()
	if r.mark != "" {
		line, r.mark = strings.TrimSpace(r.mark)+" "+line, ""
	}
	r.row = append(r.row, strings.TrimSpace(line))
}

const maxCells = doctext.MaxCells // buffered until their table ends

// endRow ends a row. A table with very many rows is written in batches, so that its rows are not all buffered. The
// limit assumes eight columns.
func (r *reader) endRow() {
	if len(r.row) > 0 {
		r.rows = append(r.rows, r.row)
	}
	r.row = nil
	if len(r.rows)*8 > maxCells {
		r.endTable()
	}
}

// endTable writes the buffered rows. A table with one column is written as text. It is called wherever a table may
// end, because no control word ends it.
func (r *reader) endTable() {
	// a row without \row, as in a truncated file
	if len(r.row) > 0 {
		r.endRow()
	}
	if len(r.rows) > 0 {
		r.w.Table(r.rows, corpus.Block{})
		r.rows = nil
		r.writeNotes()
	}
}

// beginNote begins a note, and writes its number into the text. A nested note is read as part of the outer one.
func (r *reader) beginNote() {
	if r.state.to != toBody {
		return
	}
	// Numbers are counted here: the file has them only if a program wrote them into the text.
	r.marked++
	r.addBody(text.Superscript(strconv.Itoa(r.marked)))
	r.state.to = toNote
}

// storeNote stores the completed note, which is written below its block.
func (r *reader) storeNote() {
	if note := strings.TrimSpace(r.note.String()); note != "" {
		r.notes = append(r.notes, text.Superscript(strconv.Itoa(r.marked))+" "+note)
	}
	r.note.Reset()
}

// writeNotes writes the notes of the previous block, each as a paragraph.
func (r *reader) writeNotes() {
	for _, note := range r.notes {
		r.w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
		r.w.Text(note)
	}
	r.w.End()
	r.notes = nil
}
