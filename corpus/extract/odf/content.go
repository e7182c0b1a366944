package odf

import (
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
	"github.com/footnote/footnote/text"
)

// readContent writes the body.
func (r *reader) readContent(d *ooxml.Decoder) error {
	return d.Root(func(xml.StartElement) error {
		return d.Children(func(e xml.StartElement) error {
			if e.Name.Local != "body" {
				return d.Skip()
			}
			return d.Children(
				func(xml.StartElement) error { return r.blocks(d, nil) },
			) // office:text or office:presentation
		})
	})
}

// blocks writes the blocks inside the element that began last. in is the list around them, nil outside of lists.
// Elements that only group others, such as sections and indexes, are gone through; those that are not named here are
// drawings without words or settings.
func (r *reader) blocks(d *ooxml.Decoder, in *listPlace) error {
	return d.Children(func(e xml.StartElement) error {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		switch e.Name.Local {
		case "h":
			return r.heading(d, e, in)
		case "p":
			return r.paragraph(d, e, in)
		// What stands in this list belongs to it, and no more to the one around it.
		case "list":
			return r.blocks(d, r.enter(e, in))
		// A list-header stands at the beginning of a list without a number, so that it begins no item.
		case "list-item", "list-header":
			if in != nil && e.Name.Local == "list-item" {
				r.begin(in, e)
			}
			return r.blocks(d, in)
		case "table":
			return r.table(d)
		case "page":
			return r.slide(d, e)
		case "section",
			"index-body",
			"table-of-content",
			"text-box",
			"frame",
			"g",
			"custom-shape",
			"rect",
			"illustration-index",
			"alphabetical-index",
			"bibliography",
			"user-index",
			"object-index",
			"table-index",
			"numbered-paragraph",
			"a":
			return r.blocks(d, in)
		// An object is another document inside of this one, mostly a chart; see ChartLines.
		case "object":
			return r.chart(d, e)
		case "notes":
			return r.slideNotes(d)
		}
		return d.Skip()
	})
}

// chart writes the words of a chart, each line a paragraph.
func (r *reader) chart(d *ooxml.Decoder, e xml.StartElement) error {
	lines, err := ChartLines(r.pack, ooxml.Attr(e, "href"), true)
	if err != nil {
		return err
	}
	for _, line := range lines {
		r.w.Begin(corpus.Block{Kind: corpus.BlockParagraph, Page: r.page})
		r.w.Text(line)
	}
	r.w.End()
	return d.Skip()
}

// heading writes a heading. Its number is that of the outline style, unless the heading stands in a list, whose number
// it has then. Levels beyond 6 are 6.
func (r *reader) heading(d *ooxml.Decoder, e xml.StartElement, in *listPlace) error {
	// OpenDocument has ten levels, blocks have six.
	level := min(max(ooxml.IntAttr(e, "outline-level", 1), 1), 6)
	// take gives the mark to the first paragraph of an item only: those that follow belong to the same item.
	mark, _ := in.take()
	if style := r.lists[outline]; in == nil && ooxml.Attr(e, "is-list-header") != "true" && style[level].numbered {
		r.headings.count(style, level, ooxml.IntAttr(e, "start-value", 0))
		mark = style.mark(level, &r.headings)
	}
	p, err := r.inline(d)
	if p.isBlank() || err != nil {
		return err
	}
	r.w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: level, Page: r.page})
	if mark != "" {
		r.w.Text(mark + " ")
	}
	r.writeFlat(p)
	return r.finish(p)
}

// paragraph writes a paragraph, an item or the title. An item that is blank is counted and not written.
func (r *reader) paragraph(d *ooxml.Decoder, e xml.StartElement, in *listPlace) error {
	mark, listed := in.take()
	p, err := r.inline(d)
	if err != nil {
		return err
	}
	if p.isBlank() {
		return r.finish(p)
	}
	b := corpus.Block{Kind: corpus.BlockParagraph, Page: r.page}
	switch {
	case r.isTitle(ooxml.Attr(e, "style-name")):
		b.Kind, b.Level = corpus.BlockHeading, 1
		if r.title == "" {
			r.title = doctext.Line(p.plain())
		}
	case listed:
		// An item without a number has no ordinal, and a number below 0 has none that a block can hold.
		b.Kind, b.Level = corpus.BlockList, in.level
		if mark != "" {
			b.Ordinal = max(in.ordinal(), 0)
		}
	}
	r.w.Begin(b)
	if mark != "" && b.Kind == corpus.BlockList {
		r.w.Number(mark)
	}
	r.writeRuns(p)
	return r.finish(p)
}

// isTitle reports whether a style is the one of a document's title, or based on it. Twenty styles based on each other
// are more than any file has; a longer chain is a circle.
func (r *reader) isTitle(style string) bool {
	for range 20 {
		if style == "Title" {
			return true
		}
		if style = r.parents[style]; style == "" {
			return false
		}
	}
	return false
}

// finish ends a block, and writes the notes and text boxes that belong to it.
func (r *reader) finish(p *paragraph) error {
	r.w.End()
	for _, note := range p.notes {
		r.w.Begin(corpus.Block{Kind: corpus.BlockParagraph, Page: r.page})
		r.w.Text(text.Superscript(note.mark) + " " + note.text)
	}
	for _, box := range p.boxes {
		r.w.Begin(corpus.Block{Kind: corpus.BlockParagraph, Page: r.page})
		r.w.Text(box)
	}
	r.w.End()
	return nil
}

const (
	// A sheet repeats empty cells to its right edge by thousands, and a forged table would fill memory. maxCell is in
	// bytes: a longer cell is a part of a page.
	maxRepeat = 100 // cells that one element may stand for
	maxCell   = 6000
)

// table writes a table. One of a single column, or with parts of a page in it, is written as text. Cells that a merged
// one covers are cells too, so that columns stay below each other. Notes of all cells follow the table.
func (r *reader) table(d *ooxml.Decoder) error {
	var rows [][]string
	columns, layout := 0, false
	var notes paragraph
	// Rows may stand in groups at any depth, which add nothing that is read.
	var walk func(xml.StartElement) error
	walk = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "table-header-rows", "table-rows", "table-row-group":
			return d.Children(walk)
		case "table-row":
			var row []string
			err := d.Children(func(e xml.StartElement) error {
				if e.Name.Local != "table-cell" && e.Name.Local != "covered-table-cell" {
					return d.Skip()
				}
				// A cell is read once and then repeated, so that its notes and comments are not counted again for each
				// repetition.
				cell, err := r.cell(d, &notes)
				for range min(max(ooxml.IntAttr(e, "number-columns-repeated", 1), 1), maxRepeat) {
					row = append(row, cell)
				}
				layout = layout || len(cell) > maxCell
				return err
			})
			rows = append(rows, row)
			columns = max(columns, len(row))
			return err
		}
		return d.Skip()
	}
	if err := d.Children(walk); err != nil {
		return err
	}
	// A frame around a page, or a page laid out by cells: read row by row, as somebody would.
	if columns < 2 || layout {
		for _, row := range rows {
			for _, cell := range row {
				r.w.Begin(corpus.Block{Kind: corpus.BlockParagraph, Page: r.page})
				r.w.Text(cell)
			}
		}
		return r.finish(&notes)
	}
	r.w.Begin(corpus.Block{Kind: corpus.BlockTable, Page: r.page})
	for _, row := range rows {
		r.w.Row()
		for _, cell := range row {
			r.w.Cell()
			r.w.Text(cell)
		}
	}
	return r.finish(&notes)
}

// cell is the text of a cell, its paragraphs joined by a space. Items in it have their numbers. Objects in it are read
// as charts, and comments are counted.
func (r *reader) cell(d *ooxml.Decoder, notes *paragraph) (string, error) {
	var parts []string
	var in *listPlace
	var walk func(xml.StartElement) error
	walk = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "list":
			around := in
			in = r.enter(e, in)
			err := d.Children(walk)
			in = around
			return err
		case "list-item":
			if in != nil {
				r.begin(in, e)
			}
		case "p", "h":
			mark, _ := in.take()
			p, err := r.inline(d)
			if !p.isBlank() {
				parts = append(parts, strings.TrimSpace(mark+" "+p.plain()))
			}
			// Notes can't stand in a cell, where a line break ends nothing: they follow the table.
			notes.notes = append(notes.notes, p.notes...)
			return err
		case "object":
			lines, err := ChartLines(r.pack, ooxml.Attr(e, "href"), true)
			if len(lines) > 0 {
				parts = append(parts, strings.Join(lines, "; "))
			}
			if err != nil {
				return err
			}
			return d.Skip()
		case "annotation":
			r.comments++
			return d.Skip()
		}
		return d.Children(walk)
	}
	err := d.Children(walk)
	return strings.Join(parts, " "), err
}

// slide writes a page of a presentation: its title first. Each slide is a page, counted from 1, and stands below none
// of the headings of the one before. Numbers and dates of slides are left out, since they are the same on all.
func (r *reader) slide(d *ooxml.Decoder, e xml.StartElement) error {
	r.page++
	r.w.LeaveHeadings()
	return d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "notes":
			return r.slideNotes(d)
		case "frame":
			// presentation:class says which part of the slide's layout a frame fills.
			kind := ooxml.Attr(e, "class")
			if kind == "title" {
				return r.slideTitle(d)
			}
			if kind == "page-number" || kind == "date-time" {
				return d.Skip()
			}
			return r.blocks(d, nil)
		case "custom-shape", "rect", "ellipse", "text-box", "g", "line", "connector", "polygon", "path":
			return r.blocks(d, nil)
		}
		return d.Skip()
	})
}

// slideTitle writes the title of a slide. The first one stands for the document's, if nothing else does.
func (r *reader) slideTitle(d *ooxml.Decoder) error {
	var none paragraph
	title, err := r.cell(d, &none)
	if title == "" {
		return err
	}
	if r.title == "" {
		r.title = doctext.Line(title)
	}
	r.w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: 1, Page: r.page})
	r.w.Text(title)
	r.w.End()
	return err
}

// slideNotes writes the speaker's notes below a heading of their own. A notes page without any holds only the number of
// its slide, or the placeholder of one.
func (r *reader) slideNotes(d *ooxml.Decoder) error {
	var none paragraph
	notes, err := r.cell(d, &none)
	if number := strconv.Itoa(r.page); notes == "" || notes == number || notes == "<number>" {
		return err
	}
	r.w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: 2, Page: r.page})
	r.w.Text("Notes")
	r.w.Begin(corpus.Block{Kind: corpus.BlockParagraph, Page: r.page})
	r.w.Text(notes)
	r.w.End()
	return err
}

// readMargins writes the headers and footers of the pages, each text once. In a presentation they are texts of the
// master that stand for a slide's own ones, and are left out.
func (r *reader) readMargins(d *ooxml.Decoder) error {
	if r.page > 0 {
		return nil
	}
	return d.Root(func(xml.StartElement) error {
		var walk func(xml.StartElement) error
		walk = func(e xml.StartElement) error {
			switch e.Name.Local {
			case "master-styles", "master-page":
				return d.Children(walk)
			case "header", "footer", "header-left", "footer-left", "header-first", "footer-first":
				var none paragraph
				line, err := r.cell(d, &none)
				if line = doctext.Line(line); line != "" && !r.margins[line] {
					r.margins[line] = true
					r.w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
					r.w.Text(line)
					r.w.End()
				}
				return err
			}
			return d.Skip()
		}
		return d.Children(walk)
	})
}
