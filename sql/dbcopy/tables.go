// Package dbcopy copies all rows of one store into an empty one, in the target's format. A copy can be interrupted,
// resumed, and compared at the end. The stores implement Source and Target (sql/sqlite, sql/postgres).
//
// `footnote migrate` is its only caller, from SQLite to PostgreSQL. tables.go lists the tables and computes
// checksums, dbcopy.go copies, key.go encodes checkpoints. Rows keep their numbers, times and bytes, which the
// stores' ports would assign again (docs/decisions/databases.md). So neither side may be in use during a copy.
package dbcopy

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
)

// Kind is the type of a column's values in a Row. It defines how values are compared.
type Kind int

// The kinds of columns, with the Go types of a source's values.
const (
	Int   Kind = iota // int64
	Text              // string
	Bytes             // []byte; a string's bytes
	JSON              // string: compared after decoding
	Bool              // bool, or int64: 0 is false
)

// Column is a column of the target.
type Column struct {
	Name string
	Kind Kind
}

// Table is a table of the target. Batch is small for tables with large rows, as a batch is buffered in memory.
type Table struct {
	Name    string
	Keys    int // number of leading columns that are the key, by which the source orders its rows
	Columns []Column
	Batch   int  // rows in one transaction
	One     bool // the schema creates its only row, which is replaced
}

// Row holds the values of one row, in the order of the table's columns.
type Row []any

func ints(names ...string) []Column  { return columns(Int, names) }
func texts(names ...string) []Column { return columns(Text, names) }
func bytes(names ...string) []Column { return columns(Bytes, names) }
func jsons(names ...string) []Column { return columns(JSON, names) }
func bools(names ...string) []Column { return columns(Bool, names) }

func columns(kind Kind, names []string) []Column {
	list := make([]Column, len(names))
	for i, name := range names {
		list[i] = Column{name, kind}
	}
	return list
}

// table returns an entry of Tables. The columns are in the order of the target's rows, the key's first.
func table(name string, keys, batch int, parts ...[]Column) Table {
	t := Table{Name: name, Keys: keys, Batch: batch}
	for _, part := range parts {
		t.Columns = append(t.Columns, part...)
	}
	return t
}

// Tables returns the copied tables in the order of their references: a table follows those that its rows refer to. A
// test fails for a table or column of either schema that is neither here nor in a store's list of exceptions.
func Tables() []Table {
	state := table("corpus_state", 1, 1, ints("n", "changes", "removals", "next_row"))
	state.One = true
	return []Table{
		table("sessions", 1, 500, ints("n"), texts("id", "user_id", "title", "title_fold", "head"), ints(
			"turns",
		), texts("previous"),
			ints("created_at", "updated_at", "deleted_at")),
		table("runs", 1, 500, ints("n"), texts("id"), ints("session"), texts("parent"), ints(
			"depth",
		), texts("status", "owner"),
			ints("lease_until", "last", "tokens_in", "tokens_out", "created_at", "ended_at")),
		table("run_texts", 1, 200, ints("run"), bytes("request"), texts("question_fold"), bytes("answer")),
		table("events", 2, 1000, ints("run", "seq", "at"), texts("type"), bytes("body")),
		table("step_outputs", 2, 100, ints("run"), texts("call_id"), bytes("body")),
		table("idempotency_keys", 2, 500, texts("user_id"), bytes("key", "request"), ints("run", "created_at")),
		table("feedback", 1, 500, ints("n", "run"), texts("user_id", "rating", "reason", "comment"), ints(
			"created_at", "updated_at",
		)),
		table("shares", 1, 500, ints("n"), texts("id"), ints("run"), texts("user_id"), bytes("hash"), ints(
			"created_at", "expires_at", "opens", "opened_at",
		)),
		table("queued", 1, 200, ints("n"), texts(
			"id",
		), ints("session", "place"), bytes("key", "request"), texts("problem"), bools("taken"), ints("created_at")),
		table("documents", 1, 200, ints("n"), texts(
			"id", "user_id", "namespace", "path", "filename", "title", "title_fold", "search_fold", "mime", "sha256",
		),
			ints("bytes", "pages"), texts("language"), jsons("given_meta", "meta"),
			texts("state", "semantic", "progress", "failure"),
			ints("passages", "content", "changed", "created_at", "updated_at", "deleted_at")),
		table("contents", 1, 4, ints("n", "document", "first_row", "passages"), bytes("lengths"), texts(
			"sizes", "body", "blocks", "sha256", "filename", "mime",
		),
			ints("bytes"), bytes("packed")),
		table("content_words", 2, 50, ints("content", "piece", "start_off", "end_off"), bytes("body")),
		table("passages", 1, 500, ints("row"), texts("id"), ints("content", "ordinal", "start_off", "end_off"), texts(
			"first_block", "last_block",
		),
			ints("page"), texts("section"), ints("tokens"), texts("body"), bytes("packed")),
		table("segments", 1, 500, ints("n"), texts("owner"), ints("changed", "passages"), bools("live")),
		table("segment_pages", 2, 200, ints("segment"), bytes("key", "body")),
		table("unindexed", 1, 500, ints("content")),
		table("spent", 3, 2000, texts("user_id", "what"), ints("at", "amount")),
		table("removals", 2, 500, texts("document", "sha256"), ints("attempts", "due_at")),
		table(
			"standing",
			1,
			50,
			texts("id", "user_id"),
			ints("created_at", "paused", "unseen", "version", "due_at"),
			texts(
				"body",
			),
		),
		table("grids", 1, 20, texts("id", "user_id"), ints("created_at", "due_at"), texts("body")),
		table("grid_cells", 3, 200, texts("grid"), ints("row", "col", "seq"), texts("body")),
		table("webhooks", 1, 500, texts("user_id", "url", "origin"), bytes("secret"),
			ints("set_at", "sent_at", "failed_at"), texts("trouble"), ints("lost"), bools("local")),
		table("notices", 1, 50, texts("id", "user_id", "kept"), ints("failed", "due_at"), texts("body")),
		table("places", 1, 100, ints("n"), texts("id", "user_id", "name", "setup", "progress"), ints(
			"removing", "revision", "looks", "created_at", "due_at", "deaths",
		)),
		table("place_items", 2, 500, ints("place"), texts("key"), ints("look", "wanted", "put_off"), texts(
			"version", "document", "name", "link", "refusal", "body",
		)),
		table("oauth", 1, 500, ints("n"), texts("kind", "id", "owner"), bools("used"), ints("made", "expires"), texts(
			"body",
		)),
		table("watched", 3, 100, texts("user_id", "namespace", "folder"), ints("looked_at"), texts("body")),
		table("standing_feeds", 1, 500, texts("user_id"), bytes("hash")),
		table("corpus_versions", 1, 500, texts("user_id"), ints("version")),
		state,
	}
}

// checksum is an order-independent hash of a set of rows: the sum of their SHA-256 as 256-bit numbers. Addition is
// commutative, so neither side has to be sorted. It detects errors, not attacks: such sums can be made to collide on
// purpose, but not by chance.
type checksum struct {
	rows int64
	sum  [4]uint64
}

// addRow adds a row's hash. The last carry is dropped: the sum is modulo 2^256.
func (s *checksum) addRow(t Table, row Row) error {
	var raw []byte
	for i, column := range t.Columns {
		var err error
		if raw, err = appendValue(raw, column, row[i]); err != nil {
			return fmt.Errorf("column %s: %w", column.Name, err)
		}
	}
	hash := sha256.Sum256(raw)
	var carry uint64
	for i := range s.sum {
		s.sum[i], carry = bits.Add64(s.sum[i], binary.LittleEndian.Uint64(hash[8*i:]), carry)
	}
	s.rows++
	return nil
}

// appendValue encodes a value unambiguously. Texts and bytes have a length prefix. JSON is decoded and encoded
// again, since PostgreSQL's jsonb preserves neither the order of fields nor white space.
func appendValue(raw []byte, column Column, value any) ([]byte, error) {
	switch v := value.(type) {
	case int64:
		return binary.LittleEndian.AppendUint64(raw, uint64(v)), nil
	case bool:
		if v {
			return append(raw, 1), nil
		}
		return append(raw, 0), nil
	case []byte:
		return append(binary.LittleEndian.AppendUint64(raw, uint64(len(v))), v...), nil
	case string:
		if column.Kind == JSON {
			var tree any
			if err := json.Unmarshal([]byte(v), &tree); err != nil {
				return raw, err
			}
			plain, err := json.Marshal(tree)
			if err != nil {
				return raw, err
			}
			v = string(plain)
		}
		return append(binary.LittleEndian.AppendUint64(raw, uint64(len(v))), v...), nil
	}
	return raw, fmt.Errorf("%T is not copied", value)
}
