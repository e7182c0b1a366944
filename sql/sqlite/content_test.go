package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
	"github.com/footnote/footnote/sql/pack"
	"github.com/footnote/footnote/sql/store"
)

// contentHarness is a database with one document whose old content is live.
type contentHarness struct {
	db      *DB
	ds      *Documents
	lexical corpus.Lexical
	id      string
}

func newContentHarness(t *testing.T, path string) *contentHarness {
	t.Helper()
	db := openAt(t, path)
	s := &contentHarness{db: db, ds: db.Documents(), lexical: db.Lexical()}
	s.id = s.version(t, "old").ID
	if err := s.put(t, "old", 100); err != nil {
		t.Fatal(err)
	}
	return s
}

// version makes the content called name the current version of the document.
func (s *contentHarness) version(t *testing.T, name string) corpus.Document {
	t.Helper()
	d, _, err := s.ds.Put(t.Context(), corpus.Document{User: chat.LocalUser, Path: "a.md", SHA256: name})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// put stores content with n passages that all contain name. Its text and its words span several pieces.
func (s *contentHarness) put(t *testing.T, name string, n int) error {
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

// check fails the test unless the live content is the one called name, with n passages and without remains of
// another.
func (s *contentHarness) check(t *testing.T, name string, n int) {
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

func (s *contentHarness) exec(t *testing.T, statement string) {
	t.Helper()
	if err := s.db.writeTx(t.Context(), false, func(tx *tx) error {
		_, err := tx.conn.ExecContext(tx.ctx, statement)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func (s *contentHarness) count(t *testing.T, table string) (n int) {
	t.Helper()
	if err := s.db.readers.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// writesOfContent returns the statements of PutContent, each as a condition for a trigger that makes it fail.
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

func TestFailedPutContentKeepsOldVersion(t *testing.T) {
	t.Parallel()
	for name, write := range writesOfContent() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "footnote.db")
			s := newContentHarness(t, path)
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
			again := &contentHarness{db: openAt(t, path), id: s.id}
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

func TestUnfinishedContentIsHiddenAndPurged(t *testing.T) {
	t.Parallel()
	s := newContentHarness(t, filepath.Join(t.TempDir(), "footnote.db"))
	s.version(t, "new")
	s.exec(
		t,
		`CREATE TRIGGER broken BEFORE INSERT ON passages WHEN NEW.ordinal = 199 BEGIN SELECT raise(ABORT, `+
			`'broken'); END`,
	)
	s.exec(t, `CREATE TRIGGER crashed BEFORE DELETE ON passages BEGIN SELECT raise(ABORT, 'crashed'); END`)
	if err := s.put(t, "new", 200); err == nil {
		t.Fatal("PutContent: got no error, want one")
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
		t.Error("Purge deleted content during its write")
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

func TestUnremovableOldContentIsHiddenAndPurgedLater(t *testing.T) {
	t.Parallel()
	s := newContentHarness(t, filepath.Join(t.TempDir(), "footnote.db"))
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

func TestFullDatabaseKeepsOldContent(t *testing.T) {
	t.Parallel()
	s := newContentHarness(t, filepath.Join(t.TempDir(), "footnote.db"))
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

func TestCancelledPutContentLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newContentHarness(t, filepath.Join(t.TempDir(), "footnote.db"))
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

func TestLargeDocumentBlocksArePacked(t *testing.T) {
	t.Parallel()
	s := newContentHarness(t, filepath.Join(t.TempDir(), "x.db"))
	for _, n := range []int{20, 2*blocksPerPiece + 1} {
		name := fmt.Sprint(n)
		s.version(t, name)
		c := corpus.Content{SHA256: name}
		for i := range n {
			c.Extracted.Blocks = append(c.Extracted.Blocks, corpus.Block{
				ID: fmt.Sprintf("b%d", i+1), Kind: corpus.BlockParagraph, Start: 10 * i, End: 10*i + 8,
			})
		}
		if err := s.ds.PutContent(t.Context(), s.id, c); err != nil {
			t.Fatal(err)
		}
		got, err := s.ds.Blocks(t.Context(), chat.Local, s.id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Extracted.Blocks, got); diff != "" {
			t.Errorf("%d blocks (-want +got):\n%s", n, diff)
		}
		var plain, kept int // size as JSON and in the file
		err = s.db.queryRow(t.Context(),
			`SELECT sum(length(unpacked(x.body, x.packed))), sum(length(x.body) + coalesce(length(x.packed), 0))
			FROM content_blocks x JOIN documents d ON d.content = x.content WHERE d.id = ?`, []any{s.id}, &plain, &kept)
		if err != nil {
			t.Fatal(err)
		}
		// Each piece has its own brackets.
		if want, err := store.ToJSON(got); err != nil || plain < len(want)-2 || plain > len(want)+2 {
			t.Errorf("%d blocks are %d bytes of JSON, want %d; %v", n, plain, len(want), err)
		}
		if small := kept == plain; small != (n == 20) || !small && kept*4 > plain {
			t.Errorf("%d blocks use %d of %d bytes", n, kept, plain)
		}
	}
}

func TestLargeDocumentTextIsPacked(t *testing.T) {
	t.Parallel()
	s := newContentHarness(t, filepath.Join(t.TempDir(), "x.db"))
	for _, n := range []int{1000, pack.TextFrom/len("Words of a text – ") + 1} {
		name := fmt.Sprint(n)
		s.version(t, name)
		c := corpus.Content{SHA256: name, Extracted: corpus.Extracted{Text: strings.Repeat("Words of a text – ", n)}}
		if err := s.ds.PutContent(t.Context(), s.id, c); err != nil {
			t.Fatal(err)
		}
		got, err := s.ds.Text(t.Context(), chat.Local, s.id)
		if err != nil || got != c.Extracted.Text {
			t.Errorf("%d bytes come back as %d, %v; want %v", len(c.Extracted.Text), len(got), err, c.Extracted.Text)
		}
		var same bool
		var kept int
		err = s.db.queryRow(t.Context(),
			`SELECT group_concat(unpacked(x.body, x.packed), '' ORDER BY x.at) = ?, sum(length(x.body) + `+
				`coalesce(length(x.packed), 0))
			FROM texts x JOIN documents d ON d.content = x.at >> 32 WHERE d.id = ?`,
			[]any{c.Extracted.Text, s.id}, &same, &kept)
		if err != nil || !same {
			t.Errorf("copied text equals the original: %v, %v", same, err)
		}
		if packed := kept < len(got)/4; packed != (n > 1000) {
			t.Errorf("%d bytes use %d", len(got), kept)
		}
	}
}

func TestLargeDocumentPassagesAreReadFromText(t *testing.T) {
	t.Parallel()
	s := newContentHarness(t, filepath.Join(t.TempDir(), "x.db"))
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1000, largeText, pack.TextFrom} {
		name := fmt.Sprint(n)
		s.version(t, name)
		var text []rune
		for size := 0; size < n; { // one to four bytes each
			r := [...]rune{'x', 'é', '水', '𝄞'}[random.IntN(4)]
			text, size = append(text, r), size+utf8.RuneLen(r)
		}
		c := corpus.Content{SHA256: name, Extracted: corpus.Extracted{Text: string(text)}}
		add := func(start, end int) {
			i := len(c.Passages)
			c.Passages = append(c.Passages, corpus.Passage{
				ID: fmt.Sprint(name, "-", i), DocumentID: s.id, Ordinal: i, Start: start, End: end,
				Text: string(text[start:end]),
			})
		}
		add(0, 1)
		add(len(text)-200, len(text))
		add(7, 7)
		for start := 0; start+500 < len(text); start += 501 { // some cross a piece boundary
			add(start, start+500)
		}
		if err := s.ds.PutContent(t.Context(), s.id, c); err != nil {
			t.Fatal(err)
		}
		check := func(what string, got []corpus.Passage, err error) {
			t.Helper()
			if diff := cmp.Diff(c.Passages, got); err != nil || diff != "" {
				t.Errorf("%d bytes, %s: %v (-want +got):\n%.2000s", n, what, err, diff)
			}
		}
		got, err := s.ds.Passages(t.Context(), chat.Local, s.id, 0, -1)
		check("in order", got, err)
		var ids []string
		for _, p := range c.Passages {
			ids = append(ids, p.ID)
		}
		got, err = s.ds.PassagesByID(t.Context(), chat.Local, ids)
		check("by id", got, err)
		var kept int
		if err := s.db.queryRow(t.Context(), `SELECT sum(length(text) + coalesce(length(packed), 0)) FROM passages
			WHERE id GLOB ?`, []any{name + "-*"}, &kept); err != nil {
			t.Fatal(err)
		}
		if (kept == 0) != (n > 1000) {
			t.Errorf("%d bytes of text: the passages take %d themselves, want none of a large one", n, kept)
		}
		// Store them in the format of an earlier version.
		for _, p := range c.Passages[:3] {
			packed, err := pack.Pack(p.Text)
			if err != nil {
				t.Fatal(err)
			}
			s.exec(t, fmt.Sprintf(`UPDATE passages SET text = '', packed = x'%x' WHERE id = '%s'`, packed, p.ID))
		}
		got, err = s.ds.Passages(t.Context(), chat.Local, s.id, 0, -1)
		check("of an earlier version", got, err)
	}
}

// appendForEver is the body of the child process. It writes three runs concurrently and acknowledges each stored
// write on standard output as "run last".
func appendForEver(path string) {
	ctx := context.Background()
	db, err := Open(ctx, path, slog.New(slog.DiscardHandler))
	if err != nil {
		log.Fatal(err)
	}
	chats := db.Chats()
	var out sync.Mutex
	acknowledge := func(run string, last int64) {
		out.Lock()
		defer out.Unlock()
		fmt.Println(run, last)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				run, _, err := chats.StartRun(ctx, chat.LocalUser, chat.RunRequest{Message: "q"},
					chat.Lease{Owner: "child"})
				if err != nil {
					log.Fatal(err)
				}
				acknowledge(run.ID, 0)
				for i := range 15 {
					payloads := []chat.Payload{
						chat.AnswerDelta{Text: strings.Repeat("x", 300)}, chat.Step{CallID: "c", Message: "m"},
					}
					if i == 14 {
						payloads = []chat.Payload{chat.Answer{Markdown: "a"}, chat.RunDone{Status: chat.RunCompleted}}
					}
					events, err := chats.Append(ctx, "child", run.ID, payloads...)
					if err != nil {
						log.Fatal(err)
					}
					acknowledge(run.ID, events[len(events)-1].Seq)
				}
			}
		})
	}
	wg.Wait()
}

func TestKilledProcessKeepsCommittedData(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "footnote.db")
	acknowledged := make(map[string]int64) // across all restarts
	random := rand.New(rand.NewPCG(4, 2))
	for range 8 {
		killAfter(t, path, 1+random.IntN(400), acknowledged)
		checkLogs(t, path, acknowledged)
	}
}

// killAfter runs the child until it has acknowledged n writes, then kills it. It records everything that the child
// acknowledged.
func killAfter(t *testing.T, path string, n int, acknowledged map[string]int64) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for seen := 0; lines.Scan(); seen++ {
		if seen == n {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		run, last, _ := strings.Cut(lines.Text(), " ")
		seq, err := strconv.ParseInt(last, 10, 64)
		if err != nil {
			continue // the kill truncated the line
		}
		acknowledged[run] = max(acknowledged[run], seq)
	}
	if err := child.Wait(); err == nil || child.ProcessState.Success() {
		t.Fatalf("child exited: %v, want it killed", err)
	}
}

func checkLogs(t *testing.T, path string, acknowledged map[string]int64) {
	t.Helper()
	db, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("reopen: %v, want no error", err)
	}
	checkIntegrity(t, db)
	chats := db.Chats()
	for run, last := range acknowledged {
		events, err := chats.Events(t.Context(), chat.Local, run, 0, chat.MaxPage)
		if err != nil || int64(len(events)) < last {
			t.Errorf("run %s has %d events, %v; want at least %d", run, len(events), err, last)
			continue
		}
		for i, e := range events {
			if _, err := e.Payload(); err != nil || e.Seq != int64(i)+1 {
				t.Errorf("run %s: event %d where %d belongs, %v; want %d", run, e.Seq, i+1, err, int64(i)+1)
			}
		}
		got, err := chats.Run(t.Context(), chat.Local, run)
		over := len(events) > 0 && events[len(events)-1].Type == chat.KindRunDone
		if err != nil || over != (got.Status == chat.RunCompleted) || over != (got.Answer == "a") {
			t.Errorf("run %s is %s with answer %q, %v; its log is over: %v; want %v and %v",
				run, got.Status, got.Answer, err, over, (got.Status == chat.RunCompleted), (got.Answer == "a"))
		}
	}
	// The next server takes over the unfinished runs exactly once.
	runs, err := chats.TakeOver(t.Context(), chat.Lease{Owner: "next", Until: time.Now().Add(time.Hour)}, time.Now())
	if err != nil {
		t.Fatalf("TakeOver: %v, want no error", err)
	}
	for _, run := range runs {
		if _, err := chats.Append(t.Context(), "next", run.ID, chat.RunDone{Status: chat.RunInterrupted}); err != nil {
			t.Errorf("end run %s: %v, want no error", run.ID, err)
		}
		delete(acknowledged, run.ID) // its state no longer comes from the child
	}
	if err := db.Close(); err != nil {
		t.Errorf("Close: %v, want no error", err)
	}
}

// checkIntegrity runs SQLite's integrity and foreign key checks.
func checkIntegrity(t *testing.T, db *DB) {
	t.Helper()
	var verdict string
	if err := db.readers.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&verdict); err != nil ||
		verdict != "ok" {
		t.Errorf("integrity_check: %s, %v; want %q", verdict, err, "ok")
	}
	var broken int
	if err := db.readers.QueryRowContext(t.Context(),
		`SELECT count(*) FROM pragma_foreign_key_check`).Scan(&broken); err != nil || broken != 0 {
		t.Errorf("foreign_key_check: %d rows, %v; want 0", broken, err)
	}
}

// childEnv is the environment variable that holds the database path in a child of
// TestKilledProcessKeepsCommittedData.
const childEnv = "FOOTNOTE_TEST_APPEND_TO"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		appendForEver(path)
	}
	goleak.VerifyTestMain(m)
}
