// Package sheet reads spreadsheets as doctext. Each sheet is a heading with its tables, whose cells have row and
// column numbers and display values.
//
// excel.go reads .xlsx with the library excelize, which implements Excel's number formats, and opendocument.go
// parses .ods. Both pass rows to tables.go, which detects the bounds and columns of tables. excel.go also validates
// input that the library doesn't handle safely. merges.go fills merged cells, and package.go and drawing.go read the
// other parts. No formula is calculated: its value is the stored one, or the formula itself without one, see
// formulas.go.
package sheet

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
	"github.com/footnote/footnote/text/english"
)

const (
	maxUnpacked = 512 << 20 // bytes of an unpacked file
	inMemory    = 32 << 20  // bytes of a part that is kept in memory and not on disk
	// The short date format depends on a machine's locale: in some it has no century, or the day before the month.
	shortDate = "yyyy-mm-dd"
)

// ReadExcel reads an Excel file (ECMA-376, SpreadsheetML): display values, and for formulas the cached values. It
// fails with a *corpus.Failure for one that is damaged, encrypted or too large. Formats and shared strings are
// validated before the library opens the file. Hidden sheets are read and listed in the metadata.
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
	noteUnstored(&x, parts.unstored)
	return x, nil
}

// noteHidden lists hidden sheets in the metadata, if there are any.
func noteHidden(x *corpus.Extracted, sheets []string) {
	if len(sheets) > 0 {
		x.Meta[corpus.MetaHidden] = english.Choose(len(sheets) == 1, "sheet ", "sheets ") +
			doctext.Line(strings.Join(sheets, ", "))
	}
}

// writeSheet writes the cells of a sheet, then the text of its drawings. An empty sheet is skipped.
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

// writeCells writes the rows of a sheet. A sheet that the library can't open, such as a chart sheet, has no rows.
// Afterwards the number of rows is validated against the outline.
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
	parts.unstored += outline.formulas.count
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
		t.add(n, merged.fill(n, outline.formulas.fill(n, cells)))
	}
	t.flush()
	if err := rows.Error(); err != nil {
		return errors.Join(ooxml.Damaged, err)
	}
	return outline.check(n)
}

// Limits of the outline of a sheet.
const (
	// A last row above maxEnd is not validated.
	maxMerges = 100_000
	maxRows   = 1 << 20  // the maximum of all programs
	maxEnd    = 16 << 20 // bytes of the last row
	maxFormat = 1000     // bytes of a cell's format; Excel has up to 255 characters
)

// outline holds the structure of a sheet's tags. The library ignores invalid XML and all rows after it; the outline
// detects the missing rows. end buffers the last row for validation, because a truncated file ends inside it and the
// library reads the part that is there.
type outline struct {
	merges map[int][]merge // by first row
	rows   int             // number of the last row
	end    []byte          // the last row and what follows, up to the end of sheetData
	ended  bool            // sheetData has an end
	plain  bool            // the part is encoded in UTF-8

	formulas formulas
}

// outline scans for tags only: parsing all cells a second time as XML would double the time of a large sheet. It
// fails with a *corpus.Failure for a part that is no sheet. A missing part has an empty outline. It splits the part
// at each "<" and matches the text after it: the root, rows and their numbers, merged cells, and the end of
// sheetData. Text longer than the scanner's buffer is split, and only the first piece can be a tag.
func (w *workbookParts) outline(sheet string) (o outline, err error) {
	name := w.sheets[sheet]
	if !w.Has(name) {
		return o, nil
	}
	part, err := w.Part(name)
	if err != nil {
		return o, err
	}
	defer part.Close()
	o.merges, o.plain, o.formulas.recalculated = map[int][]merge{}, true, w.recalculated
	defer o.formulas.finish()
	root, row, merges, isTag, next := false, 0, 0, false, false
	lines := bufio.NewScanner(part)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	lines.Split(upToTag)
	for lines.Scan() {
		var tag []byte
		isTag = next
		tag, next = bytes.CutSuffix(lines.Bytes(), []byte("<"))
		name, ends := tagName(tag)
		switch {
		case !isTag:
		case ends && string(name) == "c":
			o.formulas.end()
		case ends:
			o.ended = o.ended || string(name) == "sheetData"
		case len(tag) > 0 && (tag[0] == '?' || tag[0] == '!'):
			said := bytes.ToLower(tag)
			o.plain = o.plain && (!bytes.Contains(said, []byte("encoding")) || bytes.Contains(said, []byte("utf-8")))
		case !root && len(name) > 0:
			if root = bytes.HasSuffix(name, []byte("sheet")); !root {
				return o, ooxml.Damaged
			}
		case string(name) == "sheetData":
			o.ended = bytes.Contains(tag, []byte("/>"))
		case string(name) == "row" && !o.ended: // after sheetData, a row element is an anchor
			if row = rowNumber(tag, row+1); row > maxRows {
				return o, ooxml.Damaged
			}
			o.rows, o.end = max(o.rows, row), o.end[:0]
		case string(name) == "mergeCell" && merges < maxMerges:
			merges++
			o.addMerge(tag)
		default:
			o.formulas.look(name, tag, row)
		}
		if o.rows > 0 && !o.ended && len(o.end) < maxEnd {
			if isTag {
				o.end = append(o.end, '<')
			}
			o.end = append(o.end, tag...)
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return o, err
	}
	if !root {
		return o, ooxml.Damaged
	}
	return o, nil
}

// check fails with a *corpus.Failure if the reader found fewer rows than the outline, or if the last row is damaged.
// The last row is parsed as XML only if it is complete and encoded in UTF-8.
func (o *outline) check(rows int) error {
	if rows < o.rows || o.rows > 0 && !o.ended {
		return ooxml.Damaged
	}
	if !o.plain || len(o.end) >= maxEnd {
		return nil
	}
	d := ooxml.NewDecoder(bytes.NewReader(o.end))
	for {
		if _, err := d.Next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// addMerge stores a range such as "B2:D5". It skips invalid and inverted ranges.
func (o *outline) addMerge(tag []byte) {
	from, to, isRange := strings.Cut(attribute(tag, "ref"), ":")
	m := merge{}
	var errFrom, errTo error
	m.left, m.top, errFrom = excelize.CellNameToCoordinates(from)
	m.right, m.bottom, errTo = excelize.CellNameToCoordinates(to)
	if isRange && errFrom == nil && errTo == nil && m.left <= m.right && m.top <= m.bottom {
		o.merges[m.top] = append(o.merges[m.top], m)
	}
}

// tagName returns the name of a tag without its prefix, and whether it is a closing tag. tag excludes the "<".
func tagName(tag []byte) (name []byte, ends bool) {
	if ends = len(tag) > 0 && tag[0] == '/'; ends {
		tag = tag[1:]
	}
	if end := bytes.IndexFunc(tag, func(c rune) bool { return c <= ' ' || c == '/' || c == '>' }); end >= 0 {
		tag = tag[:end]
	}
	if _, local, ok := bytes.Cut(tag, []byte(":")); ok {
		tag = local
	}
	return tag, ends
}

// attribute returns the value of a tag's attribute, "" without one. It parses double quotes only, which all programs
// write.
func attribute(tag []byte, name string) string {
	_, value, _ := bytes.Cut(tag, []byte(" "+name+`="`))
	value, _, _ = bytes.Cut(value, []byte(`"`))
	return string(value)
}

// rowNumber returns the number in a row's tag, or next without one. A number that overflows an integer returns
// maxRows + 1, which the caller rejects.
func rowNumber(tag []byte, next int) int {
	n, err := strconv.Atoi(attribute(tag, "r"))
	if errors.Is(err, strconv.ErrRange) {
		return maxRows + 1
	}
	if err != nil || n == 0 {
		return next
	}
	return n
}

// checkStrings fails with a *corpus.Failure for shared strings that are invalid XML. The library reports errors in
// those that it keeps in memory. In those that it buffers on disk, strings after the damage would be missing from
// the cells.
func (w *workbookParts) checkStrings() error {
	const name = "xl/sharedStrings.xml"
	if w.Size(name) <= inMemory {
		return nil
	}
	return w.Decode(name, (*ooxml.Decoder).Skip)
}

// checkFormats fails with a *corpus.Failure for a workbook with an implausibly long number format, since the library
// parses formats in quadratic time. Formats are attributes of numFmt in the styles; such a tag is hardly longer than
// its format.
func (w *workbookParts) checkFormats() error {
	for _, name := range w.Names("xl/styles") {
		part, err := w.Part(name)
		if err != nil {
			return err
		}
		lines := bufio.NewScanner(part)
		lines.Buffer(make([]byte, 64<<10), 1<<20)
		lines.Split(upToTag)
		for lines.Scan() {
			if name, _ := tagName(lines.Bytes()); string(name) == "numFmt" && len(lines.Bytes()) > maxFormat {
				return errors.Join(ooxml.Damaged, part.Close())
			}
		}
		err = lines.Err()
		if err = errors.Join(err, part.Close()); err != nil && !errors.Is(err, bufio.ErrTooLong) {
			return err
		}
	}
	return nil
}

// upToTag is a bufio.SplitFunc that splits after each "<". Longer text is split at about 32 KiB, so that memory
// stays bounded in a file without tags.
func upToTag(data []byte, atEnd bool) (advance int, token []byte, err error) {
	const long = 32 << 10
	if i := bytes.IndexByte(data, '<'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if len(data) > long || atEnd && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
