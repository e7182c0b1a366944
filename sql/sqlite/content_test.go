package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
	"github.com/footnote/footnote/sql/store"
)

// shelf is a database with one document whose old content serves.
type shelf struct {
	db      *DB
	ds      *Documents
	lexical corpus.Lexical
	id      string
}

func newShelf(t *testing.T, path string) *shelf {
	t.Helper()
	db := openAt(t, path)
	s := &shelf{db: db, ds: db.Documents(), lexical: db.Lexical()}
	s.id = s.version(t, "old").ID
	if err := s.put(t, "old", 100); err != nil {
		t.Fatal(err)
	}
	return s
}

// version makes the bytes called name the document's present version.
func (s *shelf) version(t *testing.T, name string) corpus.Document {
	t.Helper()
	d, _, err := s.ds.Put(t.Context(), corpus.Document{User: chat.LocalUser, Path: "a.md", SHA256: name})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// put stores n passages that all hold name, and texts and words of several pieces.
func (s *shelf) put(t *testing.T, name string, n int) error {
	t.Helper()
	c := corpus.Content{SHA256: name}
	c.Extracted.Text = strings.Repeat(name+" ", bytesPerWrite/2)
	var words []corpus.WordBox
	for i := range 2 * wordsPerPiece {
		words = append(words, corpus.WordBox{Start: i, End: i + 1, Box: chat.Box{1, 0, 0, 1, 1}})
	}
	c.Extracted.Blocks = []corpus.Block{{ID: "b1", Words: corpus.PackWords(words)}}
	for i := range n {
		text := fmt.Sprintf("%s passage%d", name, i)
		c.Passages = append(c.Passages, corpus.Passage{ID: fmt.Sprintf("%s-%d", name, i), Text: text})
		c.Terms = append(c.Terms, corpus.Terms{Body: text})
	}
	return s.ds.PutContent(t.Context(), s.id, c)
}

// check fails the test unless the content called name serves, with n passages, and nothing of any other.
func (s *shelf) check(t *testing.T, name string, n int) {
	t.Helper()
	text, err := s.ds.Text(t.Context(), chat.Local, s.id)
	if err != nil || text != strings.Repeat(name+" ", bytesPerWrite/2) {
		t.Errorf("Text: %d bytes, %v; want %v", len(text), err, strings.Repeat(name+" ", bytesPerWrite/2))
	}
	passages, err := s.ds.Passages(t.Context(), chat.Local, s.id, 0, -1)
	if err != nil || len(passages) != n {
		t.Errorf("%d passages, %v; want %d", len(passages), err, n)
	}
	for _, word := range []string{"old", "new"} {
		want := 0
		if word == name {
			want = n
		}
		hits, err := s.lexical.SearchLexical(t.Context(), chat.Local,
			corpus.LexicalQuery{Words: corpustest.Words(word)}, 10*n)
		if err != nil || len(hits) != want {
			t.Errorf("%q is found in %d passages, %v; want %d", word, len(hits), err, want)
		}
	}
}

func (s *shelf) exec(t *testing.T, statement string) {
	t.Helper()
	if err := s.db.writeTx(t.Context(), false, func(tx *tx) error {
		_, err := tx.conn.ExecContext(tx.ctx, statement)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func (s *shelf) count(t *testing.T, table string) (n int) {
	t.Helper()
	if err := s.db.readers.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// writesOfContent are the statements of PutContent, each as what a trigger can fail.
func writesOfContent() map[string]string {
	writes := map[string]string{
		"the first":         `BEFORE INSERT ON contents`,
		"the second text":   `BEFORE INSERT ON texts WHEN NEW.at & 0xffffffff > 0`,
		"the blocks":        `BEFORE INSERT ON content_blocks`,
		"the second words":  `BEFORE INSERT ON content_words WHEN NEW.piece = 1`,
		"the segment":       `BEFORE INSERT ON segments`,
		"the index":         `BEFORE INSERT ON segment_pages WHEN NEW.key > x''`,
		"the segment shown": `BEFORE UPDATE OF live ON segments`,
		"the switch":        `BEFORE UPDATE OF live ON contents`,
		"the last":          `BEFORE UPDATE OF content ON documents`,
	}
	for _, n := range []int{0, 1, 63, 64, 130, 199} {
		writes[fmt.Sprintf("passage %d", n)] = fmt.Sprintf(`BEFORE INSERT ON passages WHEN NEW.ordinal = %d`, n)
	}
	return writes
}

func TestPutContentThatFailsAtAnyWriteLeavesTheOldVersionServing(t *testing.T) {
	t.Parallel()
	for name, write := range writesOfContent() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "footnote.db")
			s := newShelf(t, path)
			s.version(t, "new")
			before := s.count(t, "texts")
			s.exec(t, `CREATE TRIGGER broken `+write+` BEGIN SELECT raise(ABORT, 'broken'); END`)
			if err := s.put(t, "new", 200); err == nil || !strings.Contains(err.Error(), "broken") {
				t.Fatalf("PutContent: %v, want %q in it", err, "broken")
			}
			s.check(t, "old", 100)
			if contents, passages, texts := s.count(t, "contents"), s.count(t, "passages"),
				s.count(t, "texts"); contents != 1 || passages != 100 || texts != before {
				t.Errorf("%d contents, %d passages and %d texts are left; want 1, 100 and %d", contents, passages,
					texts, before)
			}
			again := &shelf{db: openAt(t, path), id: s.id}
			again.ds, again.lexical = again.db.Documents(), again.db.Lexical()
			again.check(t, "old", 100)
			s.exec(t, `DROP TRIGGER broken`)
			if err := s.put(t, "new", 200); err != nil {
				t.Fatalf("PutContent, mended: %v, want no error", err)
			}
			s.check(t, "new", 200)
			again.check(t, "new", 200)
			checkIntegrity(t, s.db)
		})
	}
}

func TestWhatACrashLeftBehindStaysUnseenAndIsPurged(t *testing.T) {
	t.Parallel()
	s := newShelf(t, filepath.Join(t.TempDir(), "footnote.db"))
	s.version(t, "new")
	s.exec(
		t,
		`CREATE TRIGGER broken BEFORE INSERT ON passages WHEN NEW.ordinal = 199 BEGIN SELECT raise(ABORT, `+
			`'broken'); END`,
	)
	s.exec(t, `CREATE TRIGGER crashed BEFORE DELETE ON passages BEGIN SELECT raise(ABORT, 'crashed'); END`)
	if err := s.put(t, "new", 200); err == nil {
		t.Fatal("PutContent succeeded")
	}
	s.check(t, "old", 100)
	if n := s.count(t, "passages"); n <= 100 {
		t.Fatalf("%d passages: nothing was left behind, want more than 100", n)
	}
	s.exec(t, `DROP TRIGGER crashed`)
	purge := func() {
		t.Helper()
		if err := s.ds.Purge(t.Context(), time.Now()); err != nil {
			t.Fatalf("Purge: %v, want no error", err)
		}
	}
	if purge(); s.count(t, "contents") != 2 {
		t.Error("Purge took content that may still be being written")
	}
	s.exec(
		t, fmt.Sprintf(`UPDATE contents SET started_at = started_at - %d WHERE live = 0`,
			2*store.LeftAfter.Microseconds()),
	)
	if purge(); s.count(t, "contents") != 1 || s.count(t, "passages") != 100 {
		t.Errorf("%d contents and %d passages are left; want 1 and 100",
			s.count(t, "contents"), s.count(t, "passages"))
	}
	s.check(t, "old", 100)
}

func TestOldContentThatCannotBeRemovedIsUnseenAndPurgedLater(t *testing.T) {
	t.Parallel()
	s := newShelf(t, filepath.Join(t.TempDir(), "footnote.db"))
	s.version(t, "new")
	s.exec(t, `CREATE TRIGGER stuck BEFORE DELETE ON passages BEGIN SELECT raise(ABORT, 'stuck'); END`)
	if err := s.put(t, "new", 200); err != nil {
		t.Fatalf("PutContent: %v, want no error", err)
	}
	s.check(t, "new", 200)
	if found, err := s.ds.PassagesByID(t.Context(), chat.Local, []string{"old-0"}); err != nil || len(found) > 0 {
		t.Errorf("PassagesByID = %v, %v; want none", found, err)
	}
	s.exec(t, `DROP TRIGGER stuck`)
	if err := s.ds.Purge(t.Context(), time.Now()); err != nil {
		t.Fatalf("Purge: %v, want no error", err)
	}
	if contents, passages := s.count(t, "contents"), s.count(t, "passages"); contents != 1 || passages != 200 {
		t.Errorf("%d contents and %d passages are left; want 1 and 200", contents, passages)
	}
	s.check(t, "new", 200)
}

func TestAFullDatabaseKeepsTheOldContent(t *testing.T) {
	t.Parallel()
	s := newShelf(t, filepath.Join(t.TempDir(), "footnote.db"))
	s.version(t, "new")
	limit := func(pages int) {
		s.exec(t, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages))
	}
	pages := 0
	if err := s.db.readers.QueryRowContext(t.Context(), `PRAGMA page_count`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for extra := 0; ; extra += 40 {
		limit(pages + extra)
		err := s.put(t, "new", 200)
		if err == nil {
			break
		}
		if failed++; chat.CodeOf(err) != chat.CodeDiskFull {
			t.Errorf("PutContent: %v, want code %s", err, chat.CodeDiskFull)
		}
		limit(1 << 20)
		s.check(t, "old", 100)
	}
	s.check(t, "new", 200)
	if failed < 2 {
		t.Errorf("only %d sizes of the database failed, want at least 2", failed)
	}
}

func TestACancelledPutContentLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newShelf(t, filepath.Join(t.TempDir(), "footnote.db"))
	s.version(t, "new")
	if err := s.ds.Cancel(t.Context(), chat.Local, s.id); err != nil {
		t.Fatal(err)
	}
	if err := s.put(t, "new", 200); !errors.Is(err, store.ErrOtherVersion) {
		t.Errorf("PutContent: %v, want %v", err, store.ErrOtherVersion)
	}
	s.check(t, "old", 100)
	if n := s.count(t, "contents"); n != 1 {
		t.Errorf("%d contents, want 1", n)
	}
}
