package sqlite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"footnote/corpus"
	"footnote/sql/bm25"
)

// What is read from the tables of FTS5 is what FTS5 itself says of its index: for terms with places on many pages, in many
// segments, before and after they are merged, with rows deleted, and for terms that are not there.
func TestPlacesAreThoseThatFTS5Gives(t *testing.T) {
	db := openNew(t)
	x := index{db: db}
	random := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // repeatable, not secret
	row, deleted := int64(0), map[uint32]bool{}
	insert := func(n int, title, body func() string) {
		t.Helper()
		must(t, db.writeBulk(t.Context(), true, func(tx *tx) error {
			for range n {
				row += 1 + int64(random.IntN(300)*random.IntN(2))
				if _, err := tx.exec(`INSERT INTO lexical (rowid, t, b) VALUES (?, ?, ?)`, row, title(), body()); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	words := func(n, of int) func() string {
		return func() string {
			var b strings.Builder
			for range random.IntN(n + 1) {
				fmt.Fprintf(&b, "w%d ", random.IntN(1+random.IntN(of)))
			}
			return b.String()
		}
	}
	long := func() string { return strings.Repeat("often ", 3000) + "wärme 中文 " + strings.Repeat("x", 3000) }
	check := func(when string) {
		t.Helper()
		for i, term := range terms(t, db) {
			if i > 100 && i%23 != 0 {
				continue
			}
			want := places(t, db, term)
			got, err := x.places(t.Context(), term)
			must(t, err)
			got = slices.DeleteFunc(got, func(p bm25.Scored) bool { return deleted[p.Row] })
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %d places of %.20q (%d rows), FTS5 has %d", when, len(got), term, len(got), len(want))
			}
		}
		for _, term := range []string{"", "w", "w1x", "zzz", "\x01", "w5 ", "0", strings.Repeat("x", 2999)} {
			if got, err := x.places(t.Context(), term); err != nil || len(got) > 0 {
				t.Fatalf("%s: %d places of %q, which is nowhere: %v", when, len(got), term, err)
			}
		}
	}
	check("an empty index")
	insert(40, words(3, 50), words(200, 5000))
	check("one segment")
	for range 5 {
		insert(100+random.IntN(200), words(4, 50), words(300, 8000))
	}
	insert(3, words(1, 2), long)
	check("several segments, and places over many pages")
	for _, p := range places(t, db, "w3") {
		deleted[p.Row] = true
	}
	must(t, db.writeBulk(t.Context(), true, func(tx *tx) error {
		for row := range deleted {
			if _, err := tx.exec(`DELETE FROM lexical WHERE rowid = ?`, row); err != nil {
				return err
			}
		}
		return nil
	}))
	check("rows deleted")
	insert(50, words(4, 50), words(300, 8000))
	check("rows deleted, and others added")
	command := func(sql string) {
		t.Helper()
		must(t, db.writeBulk(t.Context(), true, func(tx *tx) error {
			_, err := tx.exec(sql)
			return err
		}))
	}
	for range 4 {
		command(`INSERT INTO lexical (lexical, rank) VALUES ('merge', -3)`)
		check("a merge under way")
	}
	command(`INSERT INTO lexical (lexical) VALUES ('optimize')`)
	check("all merged into one segment")
}

// terms returns those of the index, most frequent first.
func terms(t *testing.T, db *DB) (terms []string) {
	t.Helper()
	rows, err := db.query(t.Context(), `SELECT term FROM lexical_terms ORDER BY cnt DESC`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var term string
		must(t, rows.Scan(&term))
		terms = append(terms, term)
	}
	must(t, rows.Err())
	return terms
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// places asks FTS5 itself.
func places(t *testing.T, db *DB, term string) (list []bm25.Scored) {
	t.Helper()
	rows, err := db.query(t.Context(), `SELECT doc, col FROM lexical_places WHERE term = ?`, term)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var row uint32
		var column string
		must(t, rows.Scan(&row, &column))
		if n := len(list); n == 0 || list[n-1].Row != row {
			list = append(list, bm25.Scored{Row: row})
		}
		if column == "t" {
			list[len(list)-1].Score += corpus.TitleWeight
		} else {
			list[len(list)-1].Score++
		}
	}
	must(t, rows.Err())
	return list
}

// Whatever a page holds, reading it ends, without a panic, with places or with an error.
func FuzzPagesOfTheIndex(f *testing.F) {
	f.Add([]byte{0, 0, 0, 12, 4, '0', 'a', 'b', 'c', 7, 4, 2, 4}, []byte{0, 4, 0, 8, 7, 4, 2, 3}, "abc")
	f.Add([]byte{0, 0, 0, 0, 0xff, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0}, []byte{}, "")
	f.Fuzz(func(t *testing.T, first, second []byte, term string) {
		var d doclist
		for i, page := range [][]byte{first, second} {
			if _, err := parseStructure(page); err != nil && !errors.Is(err, errBadIndex) {
				t.Fatal(err)
			}
			if err := d.add(int64(i), page, leafKey(term)); err != nil && !errors.Is(err, errBadIndex) {
				t.Fatal(err)
			}
		}
	})
}
