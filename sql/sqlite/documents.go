package sqlite

import (
	"cmp"
	"maps"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/store"
)

// Documents is the corpus.Documents of an open database. It is safe for concurrent use and lives as long as its DB.
type Documents struct {
	*store.Documents
	db *DB
}

var _ corpus.Documents = (*Documents)(nil)

// Documents returns the database's documents. Ask once and share the result: it remembers when it swept the index.
func (db *DB) Documents() *Documents {
	return &Documents{store.NewDocuments(engine{db}, dialect), db}
}

// scanner is a *sql.Row or *sql.Rows.
type scanner = store.Row

// filterDocuments adds what a filter asks for by ids and meta. Values of meta are compared with their type, where a
// whole number and the same number with a point are equal; an array matches if one of its entries does. Dates are
// compared by as many digits as the document's has, so 2024 matches a range within that year. JSON null is compared as
// an empty text of the type null, since SQL's NULL equals nothing. All conditions that it adds hold together.
func filterDocuments(where *store.Conditions, f corpus.Filter) error {
	if len(f.IDs) > 0 {
		// CROSS JOIN keeps the order: the few that are asked for are looked up, not found among all.
		where.From = `(SELECT DISTINCT value FROM json_each(` + where.Arg(names(f.IDs)) + `)) asked CROSS JOIN `
		where.Add(`d.id = asked.value`)
	}
	where.Once = len(f.Meta)+len(f.MetaAny) > 0 // the text depends on how many there are
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
		// What is wanted is read once for all documents, not for each.
		const wants = ` IN (SELECT coalesce(value, ''), replace(type, 'real', 'integer') FROM json_each(?))`
		where.Add(`EXISTS (SELECT 1 FROM json_each(d.meta) m WHERE m.key = ? AND (
			(coalesce(m.value, ''), replace(m.type, 'real', 'integer'))`+wants+`
			OR EXISTS (SELECT 1 FROM json_each(CASE m.type WHEN 'array' THEN m.value ELSE '[]' END) e
				WHERE (coalesce(e.value, ''), replace(e.type, 'real', 'integer'))`+wants+`)))`, key, list, list)
	}
	return nil
}
