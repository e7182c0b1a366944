package postgres

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/store"
)

// filterDocuments adds what a filter asks for by ids and meta. jsonb compares by value and type. Dates are compared
// bytewise (COLLATE "C") and by as many digits as the document's has.
func filterDocuments(where *store.Conditions, f corpus.Filter) error {
	if len(f.IDs) > 0 {
		where.Add(`d.id = ANY (?)`, f.IDs)
	}
	if f.HasMeta != "" {
		where.Add(`d.meta -> ?::text IS NOT NULL`, f.HasMeta)
	}
	if f.DatedFrom != "" || f.DatedTo != "" {
		where.Add(`EXISTS (SELECT
			FROM jsonb_each_text(CASE jsonb_typeof(d.meta) WHEN 'object' THEN d.meta ELSE '{}' END) AS m (key, day)
			WHERE key IN ('date', 'year', 'published') AND day ~ '^[0-9]{4}'
			AND left(?::text, length(day)) COLLATE "C" <= day
			AND left(day, length(?::text)) COLLATE "C" <= ?::text)`, f.DatedFrom, cmp.Or(f.DatedTo, "9999"),
			cmp.Or(f.DatedTo, "9999"))
	}
	for key, values := range f.MetaAny {
		wanted, err := toJSONB(values)
		if err != nil {
			return err
		}
		// What is wanted is read once for all documents, not for each.
		where.Add(`(d.meta -> ?::text IN (SELECT jsonb_array_elements(?::jsonb))
			OR EXISTS (SELECT FROM jsonb_array_elements(
			CASE jsonb_typeof(d.meta -> ?::text) WHEN 'array' THEN d.meta -> ?::text ELSE '[]' END) e
			WHERE e IN (SELECT jsonb_array_elements(?::jsonb))))`,
			key, wanted, key, key, wanted)
	}
	for key, value := range f.Meta {
		wanted, err := toJSONB(value)
		if err != nil {
			return err
		}
		where.Add(`(d.meta -> ?::text = ?::jsonb
			OR EXISTS (SELECT 1 FROM jsonb_array_elements(CASE jsonb_typeof(d.meta -> ?::text)
			WHEN 'array' THEN d.meta -> ?::text ELSE '[]' END) e WHERE e = ?::jsonb))`, key, wanted, key, key, wanted)
	}
	return nil
}

// toJSONB is toJSON for a column of type jsonb, whose strings hold no NUL. UseNumber keeps long numbers as they are
// written.
func toJSONB(v any) (string, error) {
	text, err := store.ToJSON(v)
	if err != nil || !strings.Contains(text, `\u0000`) {
		return text, err
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return "", err
	}
	return store.ToJSON(withoutNUL(tree))
}

// withoutNUL replaces the NULs in a value decoded from JSON, in the names of fields as well: jsonb takes none
// (PostgreSQL's manual, “JSON Types”).
func withoutNUL(v any) any {
	switch v := v.(type) {
	case string:
		return legibleText(v)
	case []any:
		for i := range v {
			v[i] = withoutNUL(v[i])
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		for key, value := range v {
			clean[legibleText(key)] = withoutNUL(value)
		}
		return clean
	}
	return v
}
