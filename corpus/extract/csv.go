package extract

import (
	"context"
	"encoding/csv"
	"io"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

const (
	// Twenty records are enough to distinguish a delimiter from a character that also occurs in some fields.
	// Programs that write tables have a few hundred columns at most, so that a thousand is a safe limit.
	csvSample  = 20   // records sampled for choosing the delimiter
	csvColumns = 1000 // per record; a file with more is read as plain text
)

// readCSV parses a table with commas, semicolons, tabs or bars as delimiters (RFC 4180). The parser is lenient:
// quotes may be inside a field, and records may differ in length. The first record is the header. A text without
// such a delimiter falls back to plain text. The rest beyond doctext.MaxCells is written as plain text too, from the
// parser's input offset, so that nothing is lost.
func readCSV(ctx context.Context, src string, f corpus.File) (corpus.Extracted, error) {
	delimiter, ok := csvDelimiter(src)
	if !ok {
		return plainText(ctx, src, f)
	}
	var w doctext.Writer
	w.Begin(corpus.Block{Kind: corpus.BlockTable})
	records := csvReader(src, delimiter)
	for cells := 0; cells < doctext.MaxCells; {
		record, err := records.Read()
		switch {
		case err == io.EOF:
			w.End()
			return w.Result(), nil
		case err != nil || len(record) > csvColumns:
			return plainText(ctx, src, f)
		case ctx.Err() != nil:
			return corpus.Extracted{}, ctx.Err()
		}
		cells += len(record)
		w.Row()
		for _, field := range record {
			w.Cell()
			w.Text(field)
		}
	}
	w.End()
	if err := writeLines(ctx, &w, src[records.InputOffset():]); err != nil {
		return corpus.Extracted{}, err
	}
	return w.Result(), nil
}

// csvDelimiter returns the delimiter that splits all sampled records into the same number of fields, at least two.
// Of several delimiters it chooses the one with the most fields. Four are tried. The equal number of fields
// distinguishes commas from decimal commas: a table of numbers with semicolons has more semicolons, or an unequal
// number of commas.
func csvDelimiter(src string) (delimiter rune, ok bool) {
	most := 1
	for _, d := range []rune{',', ';', '\t', '|'} {
		records := csvReader(src, d)
		columns := 0
		for i := range csvSample {
			record, err := records.Read()
			if err == io.EOF && i > 0 {
				break
			}
			if err != nil || i > 0 && len(record) != columns {
				columns = 0
				break
			}
			columns = len(record)
		}
		if columns > most && columns <= csvColumns {
			most, delimiter, ok = columns, d, true
		}
	}
	return delimiter, ok
}

// csvReader returns a lenient parser. FieldsPerRecord -1 allows records of different lengths, and LazyQuotes allows
// quotes inside a field. ReuseRecord saves an allocation for each record, so a record is valid only until the next
// Read.
func csvReader(src string, delimiter rune) *csv.Reader {
	records := csv.NewReader(strings.NewReader(src))
	records.Comma, records.FieldsPerRecord, records.LazyQuotes, records.ReuseRecord = delimiter, -1, true, true
	return records
}
