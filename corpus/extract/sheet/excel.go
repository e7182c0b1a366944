// Package sheet reads spreadsheets as doctext: each sheet is a heading with its tables, whose cells know their rows and
// columns and hold what the program shows.
//
// excel.go reads .xlsx with the library excelize, which knows how Excel formats numbers, and opendocument.go reads .ods
// itself. Both give rows to tables.go, which finds out where tables begin and end and which columns they have.
// outline.go checks what the library can't be trusted with, merges.go fills merged cells, package.go and drawing.go
// read the parts beside the cells. Nothing is calculated: of a formula the value is read that the program saved with
// it.
package sheet

import (
	"context"
	"errors"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
	"github.com/footnote/footnote/text/english"
)

const (
	maxUnpacked = 512 << 20 // bytes of a file
	inMemory    = 32 << 20  // bytes of a part that is not put on disk
	// What a workbook shows as the short date of whatever machine it is on has no century in one country and the day
	// before the month in another.
	shortDate = "yyyy-mm-dd"
)

// ReadExcel reads an Excel file (ECMA-376, SpreadsheetML): the values as their formats show them, of formulas what they
// came to when the file was saved. It fails with a *corpus.Failure for one that is damaged, encrypted or too large.
// Formats and shared strings are checked before the library sees the file, see outline.go. Hidden sheets are read and
// named in the metadata.
func ReadExcel(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	parts, err := openParts(f.Path)
	if err != nil {
		return corpus.Extracted{}, err
	}
	defer parts.Close()
	if err := errors.Join(parts.checkFormats(), parts.checkStrings()); err != nil {
		return corpus.Extracted{}, err
	}
	file, err := excelize.OpenFile(f.Path, excelize.Options{
		UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: inMemory, ShortDatePattern: shortDate,
	})
	if err != nil {
		return corpus.Extracted{}, errors.Join(ooxml.Damaged, err)
	}
	defer file.Close()
	var w doctext.Writer
	var hidden []string
	for _, name := range file.GetSheetList() {
		if visible, err := file.GetSheetVisible(name); err == nil && !visible {
			hidden = append(hidden, name)
		}
		if err := writeSheet(ctx, &w, file, parts, name); err != nil {
			return corpus.Extracted{}, err
		}
	}
	x := w.Result()
	if about, err := file.GetDocProps(); err == nil {
		x.Title = doctext.Title(doctext.Line(about.Title), "", x.Text)
		if author := doctext.Line(about.Creator); author != "" {
			x.Meta["author"] = author
		}
		if len(about.Modified) >= len("2006-01-02") {
			x.Meta["date"] = about.Modified[:len("2006-01-02")]
		}
	}
	noteHidden(&x, hidden)
	parts.NoteLeftOut(&x)
	return x, nil
}

// noteHidden names hidden sheets in the metadata, none if there are none.
func noteHidden(x *corpus.Extracted, sheets []string) {
	if len(sheets) > 0 {
		x.Meta[corpus.MetaHidden] = english.Choose(len(sheets) == 1, "sheet ", "sheets ") +
			doctext.Line(strings.Join(sheets, ", "))
	}
}

// writeSheet writes the cells of a sheet, then the words of what is drawn on it. A sheet of neither is passed over.
func writeSheet(
	ctx context.Context, w *doctext.Writer, file *excelize.File, parts *workbookParts, name string,
) error {
	t := tables{w: w, name: name}
	if err := writeCells(ctx, &t, file, parts); err != nil {
		return err
	}
	drawn, err := parts.drawn(name)
	t.writeDrawn(drawn)
	return err
}

// writeCells writes the rows of a sheet. A sheet that the library can't open, such as one that is all chart, has no
// rows. Afterwards the outline says whether all rows were there.
func writeCells(ctx context.Context, t *tables, file *excelize.File, parts *workbookParts) error {
	outline, err := parts.outline(t.name)
	if err != nil {
		return err
	}
	rows, err := file.Rows(t.name)
	if err != nil {
		return nil
	}
	defer rows.Close()
	merged := merger{begin: outline.merges}
	n := 0
	for rows.Next() {
		n++
		if n%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		cells, err := rows.Columns()
		if err != nil {
			return errors.Join(ooxml.Damaged, err)
		}
		t.add(n, merged.fill(n, cells))
	}
	t.flush()
	if err := rows.Error(); err != nil {
		return errors.Join(ooxml.Damaged, err)
	}
	return outline.check(n)
}
