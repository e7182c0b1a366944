package postgres

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/footnote/footnote/sql/dbcopy"
	"github.com/footnote/footnote/sql/pack"
)

// Fit implements dbcopy.Target. It changes nothing of the row that it gets.
func (t *Target) Fit(table dbcopy.Table, row dbcopy.Row) (dbcopy.Row, error) {
	if len(row) != len(table.Columns) {
		return nil, fmt.Errorf("%d values for %d columns", len(row), len(table.Columns))
	}
	// A large text is packed here, as it is by PutContent for new documents.
	if table.Name == "contents" {
		var err error
		if row, err = fitContent(table, row); err != nil {
			return nil, err
		}
	}
	fitting := make(dbcopy.Row, len(row))
	for i, column := range table.Columns {
		var err error
		if fitting[i], err = fitValue(column.Kind, row[i]); err != nil {
			return nil, fmt.Errorf("column %s: %w", column.Name, err)
		}
	}
	return fitting, nil
}

// fitContent packs the text of a large document. It is packed in pieces, as TextPart reads such a text piece by piece.
func fitContent(table dbcopy.Table, row dbcopy.Row) (dbcopy.Row, error) {
	place := func(name string) int {
		return slices.IndexFunc(table.Columns, func(c dbcopy.Column) bool { return c.Name == name })
	}
	body, packed := place("body"), place("packed")
	text, _ := row[body].(string)
	if text = legibleText(text); len(text) < pack.TextFrom {
		return row, nil
	}
	var all []byte
	for piece := range textPieces(text) {
		short, err := pack.Pack(piece)
		if err != nil {
			return nil, err
		}
		all = append(all, short...)
	}
	row = slices.Clone(row)
	row[body], row[packed] = "", all
	return row, nil
}

// fitValue changes a value of the source to what the target's column holds, and refuses what is of another type: a
// schema that was changed on one side alone fails here.
func fitValue(kind dbcopy.Kind, value any) (any, error) {
	switch v := value.(type) {
	case int64:
		if kind == dbcopy.Bool {
			return v != 0, nil
		}
		if kind == dbcopy.Int {
			return v, nil
		}
	case string:
		switch kind {
		case dbcopy.Text:
			return legibleText(v), nil
		case dbcopy.JSON:
			return fitJSON(v)
		case dbcopy.Bytes:
			return append([]byte{}, v...), nil
		case dbcopy.Int, dbcopy.Bool:
		}
	case []byte:
		if kind == dbcopy.Bytes {
			return append([]byte{}, v...), nil
		}
	case bool:
		if kind == dbcopy.Bool {
			return v, nil
		}
	}
	return nil, fmt.Errorf("a %T is not what belongs there", value)
}

// fitJSON makes a text of JSON one that a column of type jsonb takes: without NUL, which SQLite's text may hold.
func fitJSON(text string) (string, error) {
	text = legibleText(text)
	if !strings.Contains(text, `\u0000`) {
		return text, nil
	}
	return toJSONB(json.RawMessage(text))
}

// scanRow reads a row of the target with the Go types that Fit gives its values, so that both sides of the comparison
// are hashed alike.
func scanRow(table dbcopy.Table, from scanner) (dbcopy.Row, error) {
	dest := make([]any, len(table.Columns))
	for i, column := range table.Columns {
		switch column.Kind {
		case dbcopy.Int:
			dest[i] = new(int64)
		case dbcopy.Bytes:
			dest[i] = new([]byte)
		case dbcopy.Bool:
			dest[i] = new(bool)
		case dbcopy.Text, dbcopy.JSON:
			dest[i] = new(string)
		}
	}
	if err := from.Scan(dest...); err != nil {
		return nil, err
	}
	row := make(dbcopy.Row, len(dest))
	for i := range dest {
		switch v := dest[i].(type) {
		case *int64:
			row[i] = *v
		case *[]byte:
			row[i] = *v
		case *bool:
			row[i] = *v
		case *string:
			row[i] = *v
		}
	}
	return row, nil
}
