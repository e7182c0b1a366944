package extract

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

const (
	// Programs that write tables have a few hundred columns at most, so that a thousand is a safe limit.
	csvColumns = 1000 // per record; a file with more is read as plain text
	// Five hundred records are more than the lines that programs write above a table, and few enough to be buffered.
	csvSample = 500
)

// readCSV parses tables with commas, semicolons, tabs, bars or other symbols as delimiters (RFC 4180). The parser is
// lenient, see csvParser. Blank lines may separate several tables, and text may be above each, see csvSection. The
// first record of a table is its header. A text without a consistent delimiter falls back to plain text. The rest
// beyond doctext.MaxCells is written as plain text too, so that nothing is lost.
func readCSV(ctx context.Context, src string, f corpus.File) (corpus.Extracted, error) {
	dialect, body := declaredDialect(src)
	if dialect.delimiter == 0 {
		var score float64
		dialect, score = sniffDialect(src)
		// Database programs escape a quote with a backslash, which RFC 4180 does not know.
		if strings.Contains(src, `\"`) {
			doubled := strings.ReplaceAll(src, `\"`, `""`)
			if d, fits := sniffDialect(doubled); d.delimiter != 0 && fits > score {
				dialect, src, body = d, doubled, doubled
			}
		}
	}
	if dialect.delimiter == 0 {
		return plainText(ctx, src, f)
	}
	records := csvParser{src: body, csvDialect: dialect}
	t := csvTables{main: mainWidth(sampleSections(records))}
	for t.cells < doctext.MaxCells {
		section := records.section()
		if ctx.Err() != nil {
			return corpus.Extracted{}, ctx.Err()
		}
		if records.wide {
			return plainText(ctx, src, f)
		}
		if len(section) == 0 {
			return t.w.Result(), nil
		}
		t.add(section, records.inside)
	}
	t.w.End()
	if err := writeLines(ctx, &t.w, records.src); err != nil {
		return corpus.Extracted{}, err
	}
	return t.w.Result(), nil
}

// declaredDialect returns the delimiter that a first line "sep=;" declares, which Excel reads and writes, and the
// text below it. The delimiter is 0 without such a line.
func declaredDialect(src string) (d csvDialect, body string) {
	line, body, _ := strings.Cut(src, "\n")
	if line = strings.Trim(line, `" `); len(line) == len("sep=;") && strings.EqualFold(line[:4], "sep=") {
		return csvDialect{line[4], '"'}, body
	}
	return csvDialect{}, src
}

// sniffDialect returns the dialect whose records are most consistent and their consistency, from 0 to 1. The
// delimiter is 0 if none divides the text into columns. Of equal dialects it chooses the one that leaves the fewest
// cells in quotes, and then the one with the most columns.
func sniffDialect(src string) (d csvDialect, score float64) {
	best := csvFit{width: 1}
	for _, quote := range []byte(`"'`) {
		if quote == '\'' && strings.IndexByte(src, quote) < 0 {
			continue
		}
		for _, delimiter := range []byte(",;\t|") {
			tried := csvDialect{delimiter, quote}
			if fit := tried.fit(src); fit.better(best) {
				d, best = tried, fit
			}
		}
	}
	if best.score < 1 {
		if symbols := symbolDialect(src); symbols.delimiter != 0 {
			return symbols, 1
		}
	}
	return d, best.score
}

// symbolDialect returns the dialect of a text whose records all have the same columns between symbols such as “^” and
// “~”, below the names of the columns. The delimiter is 0 if there is none.
func symbolDialect(src string) (d csvDialect) {
	best := csvFit{width: 1}
	for c := byte('!'); c <= '~'; c++ {
		if !unicode.IsSymbol(rune(c)) || strings.IndexByte(src, c) < 0 {
			continue
		}
		tried := csvDialect{c, '"'}
		names := (&csvParser{src: src, csvDialect: tried}).record()
		noName := func(cell string) bool { return cell == "" || isNumeric(cell) }
		if fit := tried.fit(src); fit.score == 1 && fit.records > 1 && fit.better(best) &&
			!slices.ContainsFunc(names, noName) {
			d, best = tried, fit
		}
	}
	return d
}

// csvFit is how well a dialect divides a text. quoted is the number of cells that stay in quotes.
type csvFit struct {
	score                  float64
	records, quoted, width int
}

// better reports whether a dialect that fits like this is chosen over one that fits like the other.
func (f csvFit) better(than csvFit) bool {
	if f.score == 0 || f.score != than.score {
		return f.score > than.score
	}
	if f.quoted != than.quoted {
		return f.quoted < than.quoted
	}
	return f.width > than.width
}

// fit weighs the records that fit their section by the cells that are whole. Numbers with a delimiter inside are not:
// in “1,5;2,5”, commas leave a cell “5;2”.
func (d csvDialect) fit(src string) (f csvFit) {
	sections := sampleSections(csvParser{src: src, csvDialect: d})
	fits, whole, cells := 0, 0, 0
	for _, section := range sections {
		shape := section.shape()
		f.records += len(section)
		if shape.width < 2 {
			continue
		}
		fits += shape.fits
		for _, record := range section[shape.start:] {
			cells += len(record)
			for _, cell := range record {
				if !holdsDelimiter(cell) {
					whole++
				}
				if inQuotes(cell) {
					f.quoted++
				}
			}
		}
	}
	if fits > 0 {
		f.score = float64(fits) / float64(f.records) * float64(whole) / float64(cells)
		f.width = mainWidth(sections)
	}
	return f
}

// inQuotes reports whether a cell begins and ends with the same quote.
func inQuotes(cell string) bool {
	n := len(cell)
	return n > 1 && cell[0] == cell[n-1] && (cell[0] == '"' || cell[0] == '\'')
}

// holdsDelimiter reports whether a cell holds a delimiter next to a digit, other than a comma.
func holdsDelimiter(cell string) bool {
	digit := func(i int) bool { return i >= 0 && i < len(cell) && cell[i] >= '0' && cell[i] <= '9' }
	for i := range len(cell) {
		if (cell[i] == ';' || cell[i] == '\t' || cell[i] == '|') && (digit(i-1) || digit(i+1)) {
			return true
		}
	}
	return false
}

// csvSection is the records between two blank lines.
type csvSection [][]string

// sampleSections returns the sections of the first csvSample records.
func sampleSections(records csvParser) (sections []csvSection) {
	for n := 0; n < csvSample; {
		section := records.section()
		if len(section) == 0 || records.wide {
			break
		}
		section = section[:min(len(section), csvSample-n)]
		n += len(section)
		sections = append(sections, section)
	}
	return sections
}

// mainWidth returns the number of columns of the main table: the section with the most cells in consistent records.
func mainWidth(sections []csvSection) (width int) {
	most := 0
	for _, section := range sections {
		if s := section.shape(); s.fits*s.width > most {
			most, width = s.fits*s.width, s.width
		}
	}
	return width
}

// filled returns the length of a record without the empty fields at its end.
func filled(record []string) int {
	n := len(record)
	for n > 0 && record[n-1] == "" {
		n--
	}
	return n
}

// csvShape is the table of a section: its columns, its first record, and the number of records that have just as
// many fields. A width below 2 means that it has no table.
type csvShape struct{ width, start, fits int }

// shape returns the table of a section. A record fits a width if only empty fields are beyond it, since some
// programs end some records with a delimiter. The table begins where two records fit, below the lines of a title or
// the properties of the whole. It takes the width with the most fitting cells, of those that most records fit.
func (s csvSection) shape() (best csvShape) {
	sample := s[:min(len(s), csvSample)]
	lengths, tried := make([]int, len(sample)), map[int]bool{}
	for i, record := range sample {
		lengths[i] = filled(record)
	}
	for _, width := range lengths {
		if width < 2 || tried[width] {
			continue
		}
		tried[width] = true
		fit := func(i int) bool { return lengths[i] <= width && width <= len(sample[i]) }
		start := 0
		for start < len(sample) && !(fit(start) && lengths[start] > 1 && (start+1 == len(sample) || fit(start+1))) {
			start++
		}
		fits := 0
		for i := start; i < len(sample); i++ {
			if fit(i) {
				fits++
			}
		}
		rest := len(sample) - start
		if 5*fits < 3*rest || fits < min(2, len(sample)) || fits*(width-1) <= best.fits*(best.width-1) {
			continue
		}
		best = csvShape{width, start, fits}
	}
	return best.withHead(sample)
}

// withHead includes a header of another length in the table. Statisticians' programs write none for the column of
// row names, and others leave out empty fields at the end of all records but the header.
func (c csvShape) withHead(sample csvSection) csvShape {
	if c.start == 0 || c.width < 2 {
		return c
	}
	above, first := sample[c.start-1], sample[c.start]
	n := len(above)
	if n == filled(above) && n > 1 && n >= c.width-1 && !slices.ContainsFunc(above, isNumeric) &&
		(n > c.width || slices.ContainsFunc(first, isNumeric)) {
		c.start--
	}
	return c
}

// isNumeric reports whether a cell is a number or a date, possibly with a unit or a currency: it has a digit, and
// digits are not fewer than letters.
func isNumeric(cell string) bool {
	digits, letters := 0, 0
	for _, r := range cell {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case isLetter(r):
			letters++
		}
	}
	return digits > 0 && digits >= letters
}

// hasHead reports whether the first record of a table names its columns: some column has numbers in all records
// below it alone.
func (s csvSection) hasHead() bool {
	if len(s) < 2 {
		return false
	}
	for c, name := range s[0] {
		below := func(record []string) bool { return c >= len(record) || !isNumeric(record[c]) }
		if name != "" && !isNumeric(name) && !slices.ContainsFunc(s[1:], below) {
			return true
		}
	}
	return false
}

// csvTables writes sections as tables. main is the width of the file's main table, and width that of the open one.
// numeric holds the open table's columns whose sampled cells are numbers.
type csvTables struct {
	w       doctext.Writer
	main    int
	width   int // 0: no table is open
	numeric []int
	cells   int
}

// add writes a section: the lines above its table as text, then its records. It continues the open table if it has
// the same width and no header of its own, since some programs separate all records by blank lines. A narrower
// section is the text around the main table unless it has a header. inside means that the section is a part of a
// long one.
func (t *csvTables) add(section csvSection, inside bool) {
	var shape csvShape
	widest := 0
	for _, record := range section {
		widest = max(widest, filled(record))
	}
	continues := t.width > 0 && (inside || widest == t.width && !t.renames(section[0]))
	if !continues {
		shape = section.shape()
	}
	switch {
	case continues:
	case shape.width < 2 || shape.width < t.main && !section[shape.start:].hasHead():
		shape.start = len(section)
	}
	for _, record := range section[:shape.start] {
		t.writeText(record)
	}
	if section = section[shape.start:]; len(section) == 0 {
		return
	}
	if !continues {
		t.w.Begin(corpus.Block{Kind: corpus.BlockTable})
		t.width, t.numeric = shape.width, nil
		for c := range shape.width {
			if section[1:].isNumeric(c) {
				t.numeric = append(t.numeric, c)
			}
		}
	}
	for i, record := range section {
		if i == 0 && !continues && len(record) == t.width-1 && len(section) > 1 && len(section[1]) == t.width {
			record = append([]string{""}, record...) // the column of row names has no name
		}
		t.writeRow(record)
	}
}

// isNumeric reports whether a column has numbers alone, among the first records.
func (s csvSection) isNumeric(column int) bool {
	sample := s[:min(len(s), csvSample)]
	return len(sample) > 0 && !slices.ContainsFunc(sample, func(record []string) bool {
		return column >= len(record) || !isNumeric(record[column])
	})
}

// renames reports whether a record is the header of another table: it has words in the open table's columns of
// numbers.
func (t *csvTables) renames(record []string) bool {
	return len(t.numeric) > 0 && !slices.ContainsFunc(t.numeric, func(c int) bool {
		return c >= len(record) || record[c] == "" || isNumeric(record[c])
	})
}

// writeText writes a record outside of the tables as a line.
func (t *csvTables) writeText(record []string) {
	t.width = 0
	t.w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
	for _, field := range record {
		if field != "" {
			t.w.Text(field + " ")
		}
	}
	t.w.End()
}

// writeRow writes a record of the open table, without empty fields beyond its columns.
func (t *csvTables) writeRow(record []string) {
	record = record[:min(len(record), max(t.width, filled(record)))]
	t.cells += len(record)
	t.w.Row()
	for _, field := range record {
		t.w.Cell()
		t.w.Text(field)
	}
}
