package postgres

import (
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

// Chats is the chat.Store of a database. It is safe for concurrent use and valid as long as its DB. Package store
// has the statements of both databases. This package has those that PostgreSQL runs in one round trip, or with
// locks.
type Chats struct {
	*store.Chats
	db *DB
}

var _ chat.Store = (*Chats)(nil)

// Chats returns the store of sessions, runs and logs.
func (db *DB) Chats() *Chats { return &Chats{store.NewChats(engine{db}, dialect), db} }

// Grants returns the store of OAuth grants.
func (db *DB) Grants() *store.Grants { return store.NewGrants(engine{db}, dialect) }

// Places returns the store of places.
func (db *DB) Places() *store.Places { return store.NewPlaces(engine{db}, dialect) }
