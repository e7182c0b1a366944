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
	// Twenty records are enough to tell a delimiter from a sign that the texts of some fields have too. Programs that
	// write tables have a few hundred columns at most, so that a thousand is beyond any table that people look at.
	csvSample  = 20   // records by which the delimiter is chosen
	csvColumns = 1000 // in a record; what has more is text
)

// readCSV reads a table whose fields are separated by a comma, a semicolon, a tab or a bar, as RFC 4180 says, or less
// strictly: quotes may stand in a field, and records may have different numbers of fields. The first record is the
// header. A text without such a delimiter is text, and so is what goes beyond doctext.MaxCells. The reader's place in
// the text at that point tells where the rest begins, so that nothing is lost.
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
// they have most of. Four signs are tried, and each has to split every sampled record into the same number of fields.
// That number tells commas from decimal commas: a table of numbers with semicolons has more semicolons, or an unequal
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

// csvReader reads leniently: FieldsPerRecord -1 lets records differ in length, LazyQuotes lets quotes stand anywhere,
// and ReuseRecord saves an allocation for each record, for which reason no record may be kept after the next Read.
func csvReader(src string, delimiter rune) *csv.Reader {
	records := csv.NewReader(strings.NewReader(src))
	records.Comma, records.FieldsPerRecord, records.LazyQuotes, records.ReuseRecord = delimiter, -1, true, true
	return records
}
