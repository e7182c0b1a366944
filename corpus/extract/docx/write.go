package docx

import (
	"encoding/xml"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
	"github.com/footnote/footnote/text"
)

// readPart writes the blocks inside the named child of a part's root. Nodes are written as they are parsed.
func (r *reader) readPart(part string, relations ooxml.Relations, inside string) error {
	return r.pack.Decode(part, func(d *ooxml.Decoder) error {
		p := &parser{r: r, d: d, relations: relations}
		return d.Children(func(e xml.StartElement) error {
			if e.Name.Local != inside {
				return d.Skip()
			}
			return p.blocks(r.writeNode)
		})
	})
}

// readMargins writes the headers or footers of the pages, each text once. A document has up to three headers for
// each section, most of them equal. Relationships have no order, so that parts are sorted by name.
func (r *reader) readMargins(kind string) error {
	var parts []string
	for _, relation := range r.relations {
		if relation.Type == kind && !relation.External && !slices.Contains(parts, relation.Target) {
			parts = append(parts, relation.Target)
		}
	}
	slices.Sort(parts)
	for _, part := range parts {
		relations, err := r.pack.Relations(part)
		if err != nil {
			return err
		}
		err = r.pack.Decode(part, func(d *ooxml.Decoder) error {
			p := &parser{r: r, d: d, relations: relations}
			return p.blocks(r.writeMargin)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeMargin writes the text of a header or footer unless it was written before. It is never a heading, because no
// text would be below it.
func (r *reader) writeMargin(n node) error {
	for _, p := range n.paragraphs() {
		line := doctext.Line(p.text())
		if line == "" || r.margins[line] {
			continue
		}
		r.margins[line] = true
		// Body text without a style and a list.
		p.outline, p.style, p.list = bodyText, "", listRef{num: "0", numSaid: true}
		r.writeParagraph(p)
	}
	return nil
}

// paragraphs returns all paragraphs of a node, including those of tables and text boxes. It removes the boxes from
// their paragraph, so that they are written once.
func (n node) paragraphs() (all []*paragraph) {
	if n.paragraph != nil {
		all = append(all, n.paragraph)
		for _, box := range n.paragraph.boxes {
			all = append(all, box.paragraphs()...)
		}
		n.paragraph.boxes = nil
		return all
	}
	for _, row := range n.table.rows {
		for _, c := range row {
			for _, inner := range c.nodes {
				all = append(all, inner.paragraphs()...)
			}
		}
	}
	return all
}

// writeNode writes a node of the body, and below it the notes that it refers to.
func (r *reader) writeNode(n node) error {
	if n.table != nil {
		r.writeTable(n.table)
	} else {
		r.writeParagraph(n.paragraph)
	}
	r.flushNotes()
	return r.ctx.Err()
}

// headingLevel returns the level of a heading, 0 for other paragraphs. The paragraph's level takes precedence over
// its style. A document's title is a heading of level 1.
func (r *reader) headingLevel(p *paragraph) int {
	switch {
	// An explicit body text level overrides a heading style.
	case p.outline == bodyText:
		return 0
	case p.outline > 0:
		return min(p.outline, 6)
	}
	style := p.styleOf(r)
	if level := r.styles.outline(style); level > 0 {
		return level
	}
	if r.styles.isNamed(style, "title") {
		return 1
	}
	return 0
}

// styleOf returns the style of a paragraph, by default the document's default style.
func (p *paragraph) styleOf(r *reader) string {
	if p.style == "" {
		return r.styles.normal
	}
	return p.style
}

// listOf returns the list of a paragraph. The paragraph's list takes precedence over that of its style. A list "0"
// removes a paragraph from the list of its style.
func (r *reader) listOf(p *paragraph) listRef {
	ref, by := p.list, r.styles.list(p.styleOf(r))
	// A style may set the list and the paragraph its level, or vice versa.
	if !ref.numSaid {
		ref.num, ref.numSaid = by.num, by.numSaid
		if by.numSaid && !ref.levelSaid {
			ref.level, ref.levelSaid = r.lists.levelOfStyle(by, p.style)
		}
	}
	if !ref.levelSaid {
		ref.level = by.level
	}
	return ref
}

// maxHeading is the maximum length of a heading in bytes; longer text in a heading's style is a paragraph.
const maxHeading = 500

// writeParagraph writes a paragraph as a heading, a list item or text, and then its text boxes. It is counted in its
// list first, even if it is blank or hidden, because Word counts it. A numbered heading keeps its number in its
// text.
func (r *reader) writeParagraph(p *paragraph) {
	r.waiting = append(r.waiting, p.notes...)
	it, listed := r.lists.next(r.listOf(p)) // an empty item has a number too
	if p.isBlank() || r.styles.hides(p.style) {
		if len(p.boxes) > 0 {
			r.writeBoxes(p)
		}
		return
	}
	level := r.headingLevel(p)
	switch {
	case level > 0 && len(p.text()) <= maxHeading:
		r.w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: level})
		if it.mark != "" {
			r.w.Text(it.mark + " ")
		}
		if r.title == "" && r.styles.isNamed(p.style, "title") {
			r.title = doctext.Line(p.text())
		}
	case listed:
		r.w.Begin(corpus.Block{Kind: corpus.BlockList, Level: it.level, Ordinal: max(it.ordinal, 0)})
		if it.mark != "" {
			r.w.Number(it.mark)
		}
	default:
		r.w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
	}
	r.writeRuns(p.runs, level > 0)
	r.w.End()
	r.writeBoxes(p)
}

// writeBoxes writes the content of a paragraph's text boxes.
func (r *reader) writeBoxes(p *paragraph) {
	for _, n := range p.boxes {
		if n.table != nil {
			r.writeTable(n.table)
		} else {
			r.writeParagraph(n.paragraph)
		}
	}
}

// writeRuns writes text with its formatting. Adjacent runs of equal formatting are merged. Word splits runs at every
// change of a spelling checker or an editor, and a mark for each would be noise. In a heading, which is one line,
// only links are kept. Marks are closed in reverse order.
func (r *reader) writeRuns(runs []run, flat bool) {
	for i := 0; i < len(runs); {
		// Runs are merged while their formatting is equal, ignoring text.
		one := runs[i]
		var b strings.Builder
		for ; i < len(runs) && runs[i].sameForm(one); i++ {
			b.WriteString(runs[i].text)
		}
		var ends []func()
		if one.bold && !flat {
			ends = append(ends, r.w.Mark("strong", ""))
		}
		if one.italic && !flat {
			ends = append(ends, r.w.Mark("em", ""))
		}
		if one.link != "" {
			ends = append(ends, r.w.Mark("link", one.link))
		}
		said := b.String()
		if one.raised {
			said = text.Superscript(said)
		}
		for j, line := range strings.Split(said, "\n") {
			if j > 0 && flat {
				r.w.Text(" ")
			} else if j > 0 {
				r.w.Break()
			}
			r.w.Text(line)
		}
		for _, end := range slices.Backward(ends) {
			end()
		}
	}
}

// sameForm reports whether two runs have equal formatting.
func (a run) sameForm(b run) bool {
	a.text, b.text = "", ""
	return a == b
}

// writeTable writes a data table, or the content of a layout table. A cell that spans several columns is followed by
// empty ones, so that columns stay aligned.
func (r *reader) writeTable(t *table) {
	if t.isLayout(r) {
		for _, row := range t.rows {
			for _, c := range row {
				for _, n := range c.nodes {
					if n.table != nil {
						r.writeTable(n.table)
					} else {
						r.writeParagraph(n.paragraph)
					}
				}
			}
		}
		return
	}
	r.w.Begin(corpus.Block{Kind: corpus.BlockTable})
	for _, row := range t.rows {
		r.w.Row()
		for _, c := range row {
			r.w.Cell()
			r.writeCell(c)
			for range c.span - 1 {
				r.w.Cell()
			}
		}
	}
	r.w.End()
}

// writeCell writes the paragraphs of a cell as lines. A cell never contains a table here, because that makes a
// layout table.
func (r *reader) writeCell(c cell) {
	for _, n := range c.nodes {
		p := n.paragraph
		r.waiting = append(r.waiting, p.notes...)
		if p.isBlank() || r.styles.hides(p.style) {
			continue
		}
		r.w.Break()
		if it, ok := r.lists.next(r.listOf(p)); ok && it.mark != "" {
			r.w.Text(it.mark + " ")
		}
		r.writeRuns(p.runs, false)
	}
}

// node is a paragraph or a table of the file. Exactly one of them is set.
type node struct {
	paragraph *paragraph
	table     *table
}

// paragraph is a parsed paragraph.
type paragraph struct {
	style   string
	outline int // explicit heading level from 1; 0: not set
	list    listRef
	runs    []run
	notes   []note // referenced notes, in order
	boxes   []node // content of the text boxes and embedded documents that are anchored in it
	joined  bool   // its mark is a tracked deletion: the next paragraph continues it
}

// run is a piece of text with one formatting.
type run struct {
	text         string // "\n" alone is a line break
	bold, italic bool
	raised       bool // superscript
	link         string
}

// isBlank reports whether a paragraph has no text; its boxes may have some.
func (p *paragraph) isBlank() bool {
	for _, r := range p.runs {
		if strings.TrimSpace(r.text) != "" {
			return false
		}
	}
	return true
}

// text returns a paragraph's text with line breaks and without formatting.
func (p *paragraph) text() string {
	var b strings.Builder
	for _, r := range p.runs {
		b.WriteString(r.text)
	}
	return b.String()
}

// table is a parsed table. Rows may have different numbers of cells.
type table struct{ rows [][]cell }

// cell is a cell of a table. One that continues the row above has no nodes.
type cell struct {
	nodes []node
	span  int // columns, at least 1
}

// isLayout reports whether a table is a layout table: it has one column, or a cell with parts of a page. Letters and
// forms are often set in tables, and would be unreadable as rows of cells.
func (t *table) isLayout(r *reader) bool {
	columns := 0
	for _, row := range t.rows {
		n := 0
		for _, c := range row {
			n += c.span
			if c.isLayout(r) {
				return true
			}
		}
		columns = max(columns, n)
	}
	return columns < 2
}

// maxCell is the maximum length in bytes of a cell with a value; longer text is a part of a page layout.
const maxCell = 6000

// isLayout reports whether a cell holds a part of a page layout: a table, a text box, a heading with text below it,
// or long text.
func (c *cell) isLayout(r *reader) bool {
	size := 0
	for _, n := range c.nodes {
		if n.table != nil || len(n.paragraph.boxes) > 0 || r.headingLevel(n.paragraph) > 0 && len(c.nodes) > 1 {
			return true
		}
		size += len(n.paragraph.text())
	}
	return size > maxCell
}
