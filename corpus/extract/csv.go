package extract

import (
	"context"
	"encoding/csv"
	"io"
	"strings"

	"footnote/corpus"
	"footnote/corpus/extract/doctext"
)

const (
	csvSample  = 20   // records by which the delimiter is chosen
	csvColumns = 1000 // in a record; what has more is text
)

// readCSV reads a table whose fields are separated by a comma, a semicolon, a tab or a bar, as RFC 4180 says, or less
// strictly: quotes may stand in a field, and records may have different numbers of fields. The first record is the
// header. A text without such a delimiter is text, and so is what goes beyond doctext.MaxCells.
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

// csvDelimiter returns the delimiter that the first records have the same number of, at least one; of several the one
// they have most of.
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

func csvReader(src string, delimiter rune) *csv.Reader {
	records := csv.NewReader(strings.NewReader(src))
	records.Comma, records.FieldsPerRecord, records.LazyQuotes, records.ReuseRecord = delimiter, -1, true, true
	return records
}
