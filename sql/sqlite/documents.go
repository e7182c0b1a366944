package sqlite

import (
	"cmp"
	"maps"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/store"
)

// Documents is the corpus.Documents of a database. It is safe for concurrent use and valid as long as its DB.
type Documents struct {
	*store.Documents
	db *DB
}

var _ corpus.Documents = (*Documents)(nil)

// Documents returns the store of documents. Share the result: it caches when the index was last swept.
func (db *DB) Documents() *Documents {
	return &Documents{store.NewDocuments(engine{db}, dialect), db}
}

// scanner is a *sql.Row or *sql.Rows.
type scanner = store.Row

// filterDocuments adds a filter's conditions for IDs and meta, all joined with AND. Values of meta are compared with
// their type, where integers equal floats of the same value. An array matches if one of its elements does. Dates are
// truncated to the precision of the document's date, so 2024 matches a range within that year. JSON null is compared
// as an empty text of type null, since SQL's NULL equals nothing.
func filterDocuments(where *store.Conditions, f corpus.Filter) error {
	if len(f.IDs) > 0 {
		// CROSS JOIN keeps the order: the few requested IDs are looked up by index.
		where.From = `(SELECT DISTINCT value FROM json_each(` + where.Arg(names(f.IDs)) + `)) asked CROSS JOIN `
		where.Add(`d.id = asked.value`)
	}
	where.Once = len(f.Meta)+len(f.MetaAny) > 0 // the text depends on the number of conditions
	if f.HasMeta != "" {
		where.Add(`EXISTS (SELECT 1 FROM json_each(d.meta) m WHERE m.key = ?)`, f.HasMeta)
	}
	if f.DatedFrom != "" || f.DatedTo != "" {
		where.Add(`EXISTS (SELECT 1 FROM (SELECT key, CAST(value AS TEXT) AS day FROM json_each(d.meta))
			WHERE key IN ('date', 'year', 'published')
			AND day GLOB '[0-9][0-9][0-9][0-9]*' AND substr(?, 1, length(day)) <= day
			AND substr(day, 1, length(?)) <= ?)`,
			f.DatedFrom, cmp.Or(f.DatedTo, "9999"), cmp.Or(f.DatedTo, "9999"))
	}
	wanted := maps.Clone(f.MetaAny)
	for key, value := range f.Meta {
		if wanted == nil {
			wanted = map[string][]any{}
		}
		wanted[key] = []any{value}
	}
	for key, values := range wanted {
		list, err := store.ToJSON(values)
		if err != nil {
			return err
		}
		// The wanted values are parsed once, not for each document.
		const wants = ` IN (SELECT coalesce(value, ''), replace(type, 'real', 'integer') FROM json_each(?))`
		where.Add(`EXISTS (SELECT 1 FROM json_each(d.meta) m WHERE m.key = ? AND (
			(coalesce(m.value, ''), replace(m.type, 'real', 'integer'))`+wants+`
			OR EXISTS (SELECT 1 FROM json_each(CASE m.type WHEN 'array' THEN m.value ELSE '[]' END) e
				WHERE (coalesce(e.value, ''), replace(e.type, 'real', 'integer'))`+wants+`)))`, key, list, list)
	}
	return nil
}
