package odf

import (
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
	"github.com/footnote/footnote/text"
)

// readContent parses and writes the body.
func (r *reader) readContent(d *ooxml.Decoder) error {
	return d.Children(func(e xml.StartElement) error {
		if e.Name.Local != "body" {
			return d.Skip()
		}
		return d.Children(
			func(xml.StartElement) error { return r.blocks(d, nil) },
		) // office:text or office:presentation
	})
}

// blocks writes the blocks inside the current element. in is the enclosing list, nil outside of lists. It descends
// into grouping elements, such as sections and indexes. Elements that are not listed are drawings without text, or
// settings.
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
		// The new list replaces the enclosing one for its content.
		case "list":
			return r.blocks(d, r.enter(e, in))
		// A list-header is at the start of a list without a number, and begins no item.
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
		// An object is an embedded document, mostly a chart; see ChartLines.
		case "object":
			return r.chart(d, e)
		case "notes":
			return r.slideNotes(d)
		}
		return d.Skip()
	})
}

// chart writes the words of a chart, each line as a paragraph.
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

// heading writes a heading. Its number is that of the list that contains it, else that of the outline style. Levels
// beyond 6 become 6.
func (r *reader) heading(d *ooxml.Decoder, e xml.StartElement, in *listPlace) error {
	// OpenDocument has ten levels, blocks have six.
	level := min(max(ooxml.IntAttr(e, "outline-level", 1), 1), 6)
	// take returns the number only for the first paragraph of an item.
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

// paragraph writes a paragraph, a list item or the title. A blank item is counted and not written.
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
		// An item without a number has no ordinal, and a block's ordinal can't be negative.
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

// isTitle reports whether a style is that of a document's title, or derived from it. It follows at most twenty
// parent styles; a longer chain is a cycle.
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

// finish ends a block, and writes its notes and text boxes.
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
	// A sheet repeats empty cells to its right edge by thousands, and a malicious table would exhaust memory. A cell
	// above maxCell bytes is a part of a page layout.
	maxRepeat = 100 // repetitions of a cell by one element
	maxCell   = 6000
)

// table writes a table. One with a single column, or with parts of a page layout, is written as text. Covered cells
// of merged ranges are kept as cells, so that columns stay aligned. The notes of all cells follow the table.
func (r *reader) table(d *ooxml.Decoder) error {
	var rows [][]string
	layout := false
	var notes paragraph
	// Rows may be grouped at any depth; groups are ignored.
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
				// A cell is parsed once and then repeated, so that its notes and comments are counted once.
				cell, err := r.cell(d, &notes)
				for range min(max(ooxml.IntAttr(e, "number-columns-repeated", 1), 1), maxRepeat) {
					row = append(row, cell)
				}
				layout = layout || len(cell) > maxCell
				return err
			})
			rows = append(rows, row)
			return err
		}
		return d.Skip()
	}
	if err := d.Children(walk); err != nil {
		return err
	}
	if layout { // it is read cell by cell
		rows = slices.Collect(slices.Chunk(slices.Concat(rows...), 1))
	}
	r.w.Table(rows, corpus.Block{Page: r.page})
	return r.finish(&notes)
}

// cell returns the text of a cell, with its paragraphs joined by a space and list items numbered. Embedded objects
// are read as charts, and comments are counted.
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
			// Notes can't be inside a cell, where a line break ends nothing: they follow the table.
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

// slide writes a slide as a page, numbered from 1, with its title first. It is below none of the previous slide's
// headings. Slide numbers and dates are dropped, since they repeat on all slides.
func (r *reader) slide(d *ooxml.Decoder, e xml.StartElement) error {
	r.page++
	r.w.LeaveHeadings()
	return d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "notes":
			return r.slideNotes(d)
		case "frame":
			// presentation:class is the role of a frame in the slide's layout.
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

// slideTitle writes the title of a slide. The first one is the fallback for the document's title.
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

// slideNotes writes the speaker notes below a heading. Notes pages without notes contain only the slide number or
// its placeholder, and are skipped.
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

// readMargins writes the headers and footers of the pages, each text once. In a presentation they are placeholder
// texts of the master, and are skipped.
func (r *reader) readMargins(d *ooxml.Decoder) error {
	if r.page > 0 {
		return nil
	}
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
}
