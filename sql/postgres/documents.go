package postgres

import (
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/store"
)

// Documents is the corpus.Documents of a database. It is safe for concurrent use and lives as long as its DB.
type Documents struct {
	*store.Documents
	db *DB
}

var _ corpus.Documents = (*Documents)(nil)

// Documents returns the database's documents. Ask once and share the result: it remembers when it swept the index.
func (db *DB) Documents() *Documents {
	return &Documents{store.NewDocuments(engine{db}, dialect), db}
}
