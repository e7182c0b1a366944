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

// addBody adds text to the paragraph at work. The level of a heading is that at its first letter: at its end the next
// paragraph's style may hold already.
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
	// A link's text often comes in several runs, which are one link.
	if n := len(r.links); n > 0 && r.links[n-1].end == start && r.links[n-1].address == r.state.link {
		r.links[n-1].end = r.line.Len()
		return
	}
	r.links = append(r.links, link{start, r.line.Len(), r.state.link})
}

// takeLine returns the paragraph at work and begins another. Offsets of links are bytes of the line.
func (r *reader) takeLine() (line string, links []link) {
	line, links = r.line.String(), r.links
	r.line.Reset()
	r.links = nil
	return line, links
}

// A longer paragraph is text in a heading's style.
const maxHeading = 500 // bytes

// endParagraph writes the paragraph at work. In a table it is part of a cell. The mark comes from the group "listtext",
// where programs write the number or bullet for readers that know no lists. That is taken as it is, so that numbers
// need no counting. A heading that is numbered keeps its number in its text.
func (r *reader) endParagraph() {
	// \par in a cell parts two of its lines; the cell itself ends with \cell.
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

// isWord reports whether a list's mark is a number and no bullet: a sign, or the "o" of a font for programs.
func isWord(mark string) bool {
	return mark != "o" && strings.ContainsFunc(mark, func(c rune) bool {
		return c < 0xE000 && (unicode.IsLetter(c) || unicode.IsDigit(c))
	})
}

// writeLine cuts the line at the ends of its links and writes each piece, inside a mark where it is a link.
func (r *reader) writeLine(line string, links []link, flat bool) {
	// Between two cuts the text belongs to one link or to none.
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

// endCell ends a cell of the row at work. Links in cells are not kept.
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

const maxCells = doctext.MaxCells // that are kept until their table ends

// endRow ends a row. A table with very many rows is written in pieces, so that its rows don't all wait in memory; eight
// columns are assumed.
func (r *reader) endRow() {
	if len(r.row) > 0 {
		r.rows = append(r.rows, r.row)
	}
	r.row = nil
	if len(r.rows)*8 > maxCells {
		r.endTable()
	}
}

// endTable writes the rows that were read. A table of one column is text. It is called at whatever ends a table: there
// is no word for it.
func (r *reader) endTable() {
	// A row that no \row ended, as in a file that was cut off.
	if len(r.row) > 0 {
		r.endRow()
	}
	rows := r.rows
	r.rows = nil
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	if len(rows) == 0 {
		return
	}
	if columns < 2 {
		for _, row := range rows {
			r.w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
			r.w.Text(row[0])
			r.w.End()
		}
		return
	}
	r.w.Begin(corpus.Block{Kind: corpus.BlockTable})
	for _, row := range rows {
		r.w.Row()
		for _, cell := range row {
			r.w.Cell()
			r.w.Text(cell)
		}
	}
	r.w.End()
	r.writeNotes()
}

// beginNote begins a note. Its number stands in the text. A note inside a note is read as part of it.
func (r *reader) beginNote() {
	if r.state.to != toBody {
		return
	}
	// Numbers are counted through the document: the file has them only where a program wrote them into the text.
	r.marked++
	r.addBody(text.Superscript(strconv.Itoa(r.marked)))
	r.state.to = toNote
}

// keepNote puts the note that ended among those that are written below their block.
func (r *reader) keepNote() {
	if note := strings.TrimSpace(r.note.String()); note != "" {
		r.notes = append(r.notes, text.Superscript(strconv.Itoa(r.marked))+" "+note)
	}
	r.note.Reset()
}

// writeNotes writes the notes of the block before, each as a paragraph.
func (r *reader) writeNotes() {
	for _, note := range r.notes {
		r.w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
		r.w.Text(note)
	}
	r.w.End()
	r.notes = nil
}
