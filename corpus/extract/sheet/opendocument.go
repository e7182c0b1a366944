package sheet

import (
	"context"
	"encoding/xml"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/odf"
	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// Limits on repeated cells with text. Programs fill sheets to the last row and column with repeated empty cells,
// which are only counted.
const (
	maxRepeated = 1000      // per element
	maxRepeats  = 1_000_000 // per file
)

// ReadOpenDocument reads an OpenDocument spreadsheet (ISO 26300). It fails with a *corpus.Failure for one that is
// damaged, encrypted or too large.
func ReadOpenDocument(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	p, err := ooxml.Open(f.Path)
	if err != nil {
		return corpus.Extracted{}, err
	}
	defer p.Close()
	if err := odf.CheckPackage(p); err != nil {
		return corpus.Extracted{}, err
	}
	r := openReader{ctx: ctx, pack: p, hiddenStyles: map[string]bool{}, repeats: maxRepeats}
	if err := p.Decode("content.xml", r.walk); err != nil {
		return corpus.Extracted{}, err
	}
	x := r.w.Result()
	noteHidden(&x, r.hidden)
	noteUnstored(&x, r.unstored)
	return x, nil
}

// plainRefs removes the brackets of references in formulas: "[.B2]".
var plainRefs = strings.NewReplacer("[.", "", ":.", ":", "]", "")

// openReader parses one spreadsheet as a stream, row by row.
type openReader struct {
	ctx          context.Context
	pack         *ooxml.Package
	w            doctext.Writer
	hidden       []string
	hiddenStyles map[string]bool
	drawn        []string // text of the current sheet's drawings
	unstored     int      // formulas without a stored result
	repeats      int      // remaining limit of repeated cells
}

// walk reads the styles and the sheets. The styles precede the sheets that use them.
func (r *openReader) walk(d *ooxml.Decoder) error {
	return d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "body", "spreadsheet", "automatic-styles":
			return r.walk(d)
		case "style":
			return r.readStyle(d, ooxml.Attr(e, "name"))
		case "table":
			return r.readTable(d, e)
		}
		return d.Skip()
	})
}

// readStyle stores the styles of hidden sheets. A sheet is hidden by the property display of its automatic style.
func (r *openReader) readStyle(d *ooxml.Decoder, name string) error {
	return d.Children(func(e xml.StartElement) error {
		if e.Name.Local == "table-properties" && ooxml.Attr(e, "display") == "false" {
			r.hiddenStyles[name] = true
		}
		return d.Skip()
	})
}

// readTable reads a sheet. A repeated row is added as often as repeat allows. The row number counts all repetitions,
// up to maxRows.
func (r *openReader) readTable(d *ooxml.Decoder, e xml.StartElement) error {
	name := ooxml.Attr(e, "name")
	if r.hiddenStyles[ooxml.Attr(e, "style-name")] {
		r.hidden = append(r.hidden, name)
	}
	t := tables{w: &r.w, name: name}
	n := 0
	var walk func(xml.StartElement) error
	walk = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "table-header-rows", "table-rows", "table-row-group":
			return d.Children(walk)
		case "table-row":
			cells, err := r.readRow(d)
			times := max(ooxml.IntAttr(e, "number-rows-repeated", 1), 1)
			if len(cells) > 0 {
				for i := range 1 + r.repeat(times-1, len(cells)) {
					t.add(n+i+1, cells)
				}
			}
			n = min(n+min(times, maxRows), maxRows)
			if err == nil {
				err = r.ctx.Err()
			}
			return err
		case "shapes":
			return d.Children(func(e xml.StartElement) error { return r.readDrawn(d, e) })
		}
		return d.Skip()
	}
	err := d.Children(walk)
	t.flush()
	t.writeDrawn(r.drawn)
	r.drawn = nil
	return err
}

// readDrawn reads the paragraphs of a text box, and the words of a chart without its values, which are in cells. It
// descends into other drawings, such as groups and frames.
func (r *openReader) readDrawn(d *ooxml.Decoder, e xml.StartElement) error {
	var words []string
	var err error
	switch e.Name.Local {
	case "p":
		var text string
		text, err = d.Text()
		words = []string{doctext.Line(text)}
	case "object":
		if words, err = odf.ChartLines(r.pack, ooxml.Attr(e, "href"), false); err == nil {
			err = d.Skip()
		}
	case "title", "desc", "annotation": // alternative text; a cell's comment
		return d.Skip()
	default:
		return d.Children(func(e xml.StartElement) error { return r.readDrawn(d, e) })
	}
	for _, line := range words {
		if line != "" && len(r.drawn) < maxDrawn {
			r.drawn = append(r.drawn, line)
		}
	}
	return err
}

// readRow returns the cells of a row without trailing empty ones. Empty cells are counted, and appended when a
// non-empty cell follows. Covered cells of a merged range count too.
func (r *openReader) readRow(d *ooxml.Decoder) (cells []string, err error) {
	blank := 0
	err = d.Children(func(e xml.StartElement) error {
		if e.Name.Local != "table-cell" && e.Name.Local != "covered-table-cell" {
			return d.Skip()
		}
		text, err := r.cellText(d)
		if _, formula, ok := strings.Cut(ooxml.Attr(e, "formula"), "="); ok && text == "" &&
			ooxml.Attr(e, "value-type") == "" {
			text = "=" + plainRefs.Replace(formula[:min(len(formula), maxFormula)])
			r.unstored++
		}
		times := max(ooxml.IntAttr(e, "number-columns-repeated", 1), 1)
		if text == "" {
			blank = min(blank+min(times, maxColumns), maxColumns)
			return err
		}
		for ; blank > 0; blank-- {
			cells = append(cells, "")
		}
		for range 1 + r.repeat(times-1, 1) {
			cells = append(cells, text)
		}
		return err
	})
	return cells[:min(len(cells), maxColumns)], err
}

// repeat returns the number of further repetitions of cells that the limits allow. maxRepeats is the total of the
// file.
func (r *openReader) repeat(times, cells int) int {
	times = min(times, maxRepeated-1, r.repeats/cells)
	r.repeats -= times * cells
	return times
}

// cellText returns the display text of a cell without its comment. Drawings anchored in the cell are written below
// the table. The paragraphs of a cell are joined by a space; they are already formatted.
func (r *openReader) cellText(d *ooxml.Decoder) (string, error) {
	var parts []string
	err := d.Children(func(e xml.StartElement) error {
		if e.Name.Local != "p" {
			return r.readDrawn(d, e)
		}
		text, err := d.Text()
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
		return err
	})
	return strings.Join(parts, " "), err
}
