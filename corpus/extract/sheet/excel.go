// Package sheet reads spreadsheets as doctext: each sheet is a heading with its tables, whose cells know their rows and
// columns and hold what the program shows.
//
// excel.go reads .xlsx with the library excelize, which knows how Excel formats numbers, and opendocument.go reads .ods
// itself. Both give rows to tables.go, which finds out where tables begin and end and which columns they have.
// excel.go checks what the library can't be trusted with, merges.go fills merged cells, package.go and drawing.go
// read the parts beside the cells. Nothing is calculated: of a formula the value is read that the program saved with
// it.
package sheet

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
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
	maxUnpacked = 512 << 20 // bytes of a file
	inMemory    = 32 << 20  // bytes of a part that is not put on disk
	// What a workbook shows as the short date of whatever machine it is on has no century in one country and the day
	// before the month in another.
	shortDate = "yyyy-mm-dd"
)

// ReadExcel reads an Excel file (ECMA-376, SpreadsheetML): the values as their formats show them, of formulas what they
// came to when the file was saved. It fails with a *corpus.Failure for one that is damaged, encrypted or too large.
// Formats and shared strings are checked before the library sees the file, see excel.go. Hidden sheets are read and
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

// Limits of what is looked at of a sheet besides reading its cells.
const (
	// The last row may be large, but one that is larger than maxEnd is not compared again.
	maxMerges = 100_000
	maxRows   = 1 << 20  // which no program has more of
	maxEnd    = 16 << 20 // bytes of the last row
	maxFormat = 1000     // bytes of a cell's format; Excel has up to 255 characters
)

// outline is what a sheet's tags say. The library that reads its cells passes over whatever is no XML, with all rows
// behind it: the outline tells that they are there. end is kept because the last row is where a cut file breaks off in
// the middle: the library reads what is there of it.
type outline struct {
	merges map[int][]merge // by the row that they begin in
	rows   int             // number of the last row
	end    []byte          // the last row and what follows, up to the end of the cells
	ended  bool            // the cells have an end
	plain  bool            // the part is in UTF-8
}

// outline looks for tags only: reading all cells a second time as XML would double the time of a large sheet. It fails
// with a *corpus.Failure for a part that is no sheet. A missing part has an empty outline. It goes from one "<" to the
// next and looks only at what follows directly: the root, rows and their numbers, merged cells, and the end of
// sheetData. A piece of text that is longer than the scanner's buffer comes in parts, of which only the first can be a
// tag.
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
	o.merges, o.plain = map[int][]merge{}, true
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
		case string(name) == "row" && !o.ended: // behind the cells it is where something is anchored
			if row = rowNumber(tag, row+1); row > maxRows {
				return o, ooxml.Damaged
			}
			o.rows, o.end = max(o.rows, row), o.end[:0]
		case string(name) == "mergeCell" && merges < maxMerges:
			merges++
			o.addMerge(tag)
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

// check fails with a *corpus.Failure if a reader that found so many rows missed some, or what is wrong is in the last.
// The last row is decoded as XML only where it is whole and in UTF-8.
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

// addMerge keeps a range such as "B2:D5". One that is no range, or stands on its head, is passed over.
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

// tagName is the name of a tag without its prefix, and whether it ends an element. The "<" is not part of it.
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

// attribute is the value of a tag's attribute, empty if it is missing. It must have double quotes, which all programs
// write.
func attribute(tag []byte, name string) string {
	_, value, _ := bytes.Cut(tag, []byte(" "+name+`="`))
	value, _, _ = bytes.Cut(value, []byte(`"`))
	return string(value)
}

// rowNumber is the number that a row's tag says, else the next. A number that is too large for an integer is beyond
// maxRows, which the caller refuses.
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

// checkStrings fails with a *corpus.Failure for shared strings that are no XML. Of those that the library keeps in
// memory it tells itself; in those that it puts on disk what is behind the damage would be missing from the cells.
func (w *workbookParts) checkStrings() error {
	const name = "xl/sharedStrings.xml"
	if w.Size(name) <= inMemory {
		return nil
	}
	return w.Decode(name, func(d *ooxml.Decoder) error {
		return d.Root(func(xml.StartElement) error { return d.Skip() })
	})
}

// checkFormats fails with a *corpus.Failure for a workbook with a format that no program would have written: taking it
// apart takes the library a time that grows with the square of its length. Formats are the attributes of numFmt in the
// styles; a tag without its text is hardly longer than its format.
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

// upToTag is a bufio.SplitFunc that gives what stands up to a "<" with it, or a part of what is long. A part is at most
// about 32 KiB long, so that memory stays bounded in a file without any tag.
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
