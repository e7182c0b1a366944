package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/chattest"
	"github.com/footnote/footnote/chat/grants"
	"github.com/footnote/footnote/chat/grants/grantstest"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
	"github.com/footnote/footnote/corpus/fair"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/corpus/sources/placestore/storetest"
)

// hold keeps the writer busy until release is called.
func hold(t *testing.T, db *DB) (release func()) {
	t.Helper()
	entered, proceed, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- db.writeTx(context.WithoutCancel(t.Context()), false,
			func(*tx) error { close(entered); <-proceed; return nil })
	}()
	<-entered
	release = sync.OnceFunc(func() {
		close(proceed)
		if err := <-done; err != nil {
			t.Errorf("the holding write: %v, want no error", err)
		}
	})
	t.Cleanup(release)
	return release
}

// queued waits until the given numbers of small and bulk writes are queued.
func queued(db *DB, small, bulk int) {
	for {
		db.writer.mu.Lock()
		there := len(db.writer.small) == small && len(db.writer.bulk) == bulk
		db.writer.mu.Unlock()
		if there {
			return
		}
		runtime.Gosched()
	}
}

func insertEvent(tx *tx, id int) error {
	_, err := tx.Exec(`INSERT INTO events VALUES (?, 0, 'x', x'7b7d')`, id)
	return err
}

func storedIDs(t *testing.T, db *DB) (ids []int) {
	t.Helper()
	rows, err := db.queryRows(t.Context(), `SELECT id FROM events ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestFailedWriteIsIsolatedInBatch(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	release := hold(t, db)
	errs := make([]error, 6)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			errs[i] = db.writeTx(t.Context(), false, func(tx *tx) error {
				if err := insertEvent(tx, i); err != nil {
					return err
				}
				switch i {
				case 3:
					return errors.New("no")
				case 4:
					panic("no")
				}
				return nil
			})
		})
	}
	queued(db, len(errs), 0)
	release()
	wg.Wait()
	for i, err := range errs {
		if (err != nil) != (i == 3 || i == 4) {
			t.Errorf("write %d: %v", i, err)
		}
	}
	if got := storedIDs(t, db); !slices.Equal(got, []int{0, 1, 2, 5}) {
		t.Errorf("stored %v, want all but 3 and 4", got)
	}
}

func TestWritesBeyondOneBatchSucceed(t *testing.T) {
	t.Parallel()
	const n = 3*maxBatch + 7
	db := openNew(t)
	release := hold(t, db)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := db.writeTx(t.Context(), i%5 == 0, func(tx *tx) error { return insertEvent(tx, i) }); err != nil {
				t.Errorf("write %d: %v, want no error", i, err)
			}
		})
	}
	queued(db, n, 0)
	release()
	wg.Wait()
	if got := storedIDs(t, db); len(got) != n {
		t.Errorf("%d rows, want %d", len(got), n)
	}
}

func TestCancelledQueuedWriteIsDropped(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	release := hold(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() { result <- db.writeTx(ctx, false, func(tx *tx) error { return insertEvent(tx, 1) }) }()
	queued(db, 1, 0)
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("write = %v, want %v", err, context.Canceled)
	}
	release()
	if err := db.writeTx(ctx, false, func(tx *tx) error { return insertEvent(tx, 2) }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("write after the end of its context = %v, want %v", err, context.Canceled)
	}
	if got := storedIDs(t, db); len(got) != 0 {
		t.Errorf("stored %v, want nothing", got)
	}
}

func TestCancelledStartedWriteCompletes(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	ctx, cancel := context.WithCancel(t.Context())
	if err := db.writeTx(ctx, false, func(tx *tx) error {
		cancel()
		return insertEvent(tx, 1)
	}); err != nil {
		t.Errorf("write = %v, want the outcome", err)
	}
	if got := storedIDs(t, db); !slices.Equal(got, []int{1}) {
		t.Errorf("stored %v, want 1", got)
	}
}

func TestBulkWritesYieldWithoutStarvation(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	release := hold(t, db)
	var order []string // accessed only by the writer
	var wg sync.WaitGroup
	write := func(do func(context.Context, bool, func(*tx) error) error, name string) {
		wg.Go(func() {
			if err := do(t.Context(), false, func(*tx) error { order = append(order, name); return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	write(db.writeBulk, "bulk")
	queued(db, 0, 1)
	const small = (bulkEveryN + 2) * maxBatch
	for range small {
		write(db.writeTx, "small")
	}
	queued(db, small, 1)
	release()
	wg.Wait()
	if at := slices.Index(order, "bulk"); at != bulkEveryN*maxBatch {
		t.Errorf("the bulk write came after %d small ones, want %d", at, bulkEveryN*maxBatch)
	}
}

func TestOnlyDurableWritesWaitForTheDisk(t *testing.T) {
	t.Parallel()
	const normal, full = 1, 2
	db := openNew(t)
	for _, durable := range []bool{false, true, true, false} {
		want := normal
		if durable {
			want = full
		}
		if err := db.writeTx(t.Context(), durable, func(tx *tx) error {
			var got int
			if err := tx.conn.QueryRowContext(tx.ctx, `PRAGMA synchronous`).Scan(&got); err != nil || got != want {
				t.Errorf("durable %v: synchronous = %d, %v; want %d", durable, got, err, want)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCloseCompletesAcceptedWrites(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	release := hold(t, db)
	results := make(chan error, 20)
	for i := range cap(results) {
		go func() { results <- db.writeTx(t.Context(), false, func(tx *tx) error { return insertEvent(tx, i) }) }()
	}
	queued(db, cap(results), 0)
	closing := make(chan error)
	go func() { closing <- db.writer.close() }()
	for closed := false; !closed; runtime.Gosched() {
		db.writer.mu.Lock()
		closed = db.writer.closed
		db.writer.mu.Unlock()
	}
	err := db.writeTx(t.Context(), false, func(*tx) error { t.Error("write after Close succeeded"); return nil })
	if err == nil || chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("a write after Close = %v, want %s", err, chat.CodeUnavailable)
	}
	release()
	for range cap(results) {
		if err := <-results; err != nil {
			t.Errorf("an accepted write: %v, want no error", err)
		}
	}
	if err := <-closing; err != nil {
		t.Errorf("close: %v, want no error", err)
	}
	if got := storedIDs(t, db); len(got) != cap(results) {
		t.Errorf("%d rows, want %d", len(got), cap(results))
	}
}

// clusteredUnits returns n unit vectors that cluster around the given number of centres, like texts on a few
// subjects.
func clusteredUnits(random *rand.Rand, n, dimension, centres int) [][]float32 {
	about := make([][]float64, centres)
	for i := range about {
		about[i] = make([]float64, dimension)
		for j := range about[i] {
			about[i][j] = random.NormFloat64()
		}
	}
	units := make([][]float32, n)
	for i := range units {
		centre, v, sum := about[random.IntN(centres)], make([]float32, dimension), 0.0
		for j := range v {
			value := centre[j] + random.NormFloat64()
			v[j], sum = float32(value), sum+value*value
		}
		for j := range v {
			v[j] /= float32(math.Sqrt(sum))
		}
		units[i] = v
	}
	return units
}

func upsertUnits(t testing.TB, vs *Vectors, units [][]float32) {
	t.Helper()
	all := make([]corpus.Vector, len(units))
	for i, values := range units {
		all[i] = corpus.Vector{
			PassageID: fmt.Sprintf("p%06d", i), DocumentID: fmt.Sprint("d", i/100), User: chat.LocalUser,
			Namespace: chat.DefaultNamespace, Values: values,
		}
	}
	if err := vs.Upsert(t.Context(), all); err != nil {
		t.Fatalf("Upsert: %v, want no error", err)
	}
}

func nearestExactly(units [][]float32, query []float32, k int) map[string]bool {
	order := make([]int, len(units))
	cosines := make([]float64, len(units))
	for i := range order {
		order[i], cosines[i] = i, exactCosine(query, units[i])
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(cosines[b], cosines[a]) })
	nearest := make(map[string]bool, k)
	for _, i := range order[:k] {
		nearest[fmt.Sprintf("p%06d", i)] = true
	}
	return nearest
}

func TestNearestVectorsAreFoundBySignBits(t *testing.T) {
	t.Parallel()
	const n, dimension, k = 20_000, 100, 10 // the dimension is not a multiple of 64
	random := rand.New(rand.NewPCG(11, 12))
	units := clusteredUnits(random, n+50, dimension, 200)
	vs := openNew(t).Vectors("test")
	upsertUnits(t, vs, units[:n])
	found := 0
	for _, query := range units[n:] {
		hits, err := vs.SearchVectors(t.Context(), chat.Local, query, nil, k)
		if err != nil || len(hits) != k {
			t.Fatalf("%d hits, %v; want %d", len(hits), err, k)
		}
		nearest := nearestExactly(units[:n], query, k)
		for _, h := range hits {
			if nearest[h.PassageID] {
				found++
			}
		}
	}
	if recall := float64(found) / (50 * k); recall < 0.98 {
		t.Errorf("recall@%d = %.3f against the exact nearest, want at least 0.98", k, recall)
	}
}

// signsOfVectors returns the identifiers of the vectors in the sign blocks and in the table. It fails the test
// unless the signs match the vectors.
func signsOfVectors(t *testing.T, db *DB) (inBlocks, inTable []int64) {
	t.Helper()
	bodies := map[int64][]byte{}
	read := func(query string, each func(scanner) error) {
		t.Helper()
		if err := db.eachRow(t.Context(), query, nil, each); err != nil {
			t.Fatal(err)
		}
	}
	read(`SELECT n, body FROM vectors ORDER BY n`, func(row scanner) error {
		var n int64
		var body []byte
		err := row.Scan(&n, &body)
		inTable, bodies[n] = append(inTable, n), body
		return err
	})
	read(`SELECT body FROM vector_signs`, func(row scanner) error {
		var body []byte
		err := row.Scan(&body)
		for ; len(body) > 0; body = body[16:] {
			n := int64(binary.LittleEndian.Uint64(body))
			if got, want := body[8:16], appendSigns(nil, bodies[n]); !slices.Equal(got, want) {
				t.Errorf("the signs of vector %d are %x, want %x", n, got, want)
			}
			inBlocks = append(inBlocks, n)
		}
		return err
	})
	slices.Sort(inBlocks)
	return inBlocks, inTable
}

func TestBlocksContainExactSignBits(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	vs, random := db.Vectors("test"), rand.New(rand.NewPCG(13, 14))
	for i := range 60 {
		document := fmt.Sprint("d", random.IntN(4))
		var err error
		if i%3 < 2 { // only some of the passages exist
			var some []corpus.Vector
			for _, values := range clusteredUnits(random, 1+random.IntN(300), 40, 3) {
				some = append(some, corpus.Vector{
					PassageID:  fmt.Sprint(document, "p", random.IntN(400)),
					DocumentID: document, User: chat.LocalUser, Namespace: chat.DefaultNamespace, Values: values,
				})
			}
			err = vs.Upsert(t.Context(), some)
		} else {
			var keep []string
			for range random.IntN(3) * 50 {
				keep = append(keep, fmt.Sprint(document, "p", random.IntN(400)))
			}
			err = vs.DeleteVectors(t.Context(), document, keep)
		}
		if err != nil {
			t.Fatal(err)
		}
		if blocks, table := signsOfVectors(t, db); !slices.Equal(blocks, table) {
			t.Fatalf("after change %d blocks hold %d vectors, want the %d of the table", i, len(blocks), len(table))
		}
	}
}

func TestOldVectorsGetSignBits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "footnote.db")
	before, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	units := clusteredUnits(rand.New(rand.NewPCG(15, 16)), 25_000, 16, 10)
	upsertUnits(t, before.Vectors("test"), units)
	err = before.writeTx(t.Context(), true, func(t *tx) error {
		for _, statement := range []string{`DELETE FROM vector_signs`, `UPDATE vector_models SET signed = 0`} {
			if _, err := t.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	db := openAt(t, path)
	if blocks, table := signsOfVectors(t, db); !slices.Equal(blocks, table) {
		t.Fatalf("blocks hold %d vectors, want the %d of the table", len(blocks), len(table))
	}
	hits, err := db.Vectors("test").SearchVectors(t.Context(), chat.Local, units[777], nil, 1)
	if err != nil || len(hits) != 1 || hits[0].PassageID != "p000777" {
		t.Errorf("found %v, %v; want p000777", hits, err)
	}
}

func openAt(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("Open(%q): %v, want no error", path, err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v, want no error", err)
		}
	})
	return db
}

func openNew(t testing.TB) *DB {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "footnote.db"))
}

func TestOpenAcceptsAnyPath(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain.db", "with space.db", "what?.db", "50%.db", "a#b.db", "ü&x=1.db"} {
		path := filepath.Join(t.TempDir(), name)
		openAt(t, path)
		if found, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.db")); err != nil || len(found) != 1 ||
			found[0] != path {
			t.Errorf("Open(%q) made %q, %v; want 1 and %v", path, found, err, path)
		}
	}
}

func TestReadersCannotWrite(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	if _, err := db.readers.ExecContext(t.Context(), `DELETE FROM sessions`); err == nil {
		t.Error("reader's connection accepted a write")
	}
}

func TestNewerFileIsRejectedWithMessage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "footnote.db")
	db, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.writeTx(t.Context(), false, func(tx *tx) error {
		_, err := tx.Exec(`INSERT INTO migrations VALUES (4711, 'from the future', 0)`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(chat.MessageOf(err).String(), "newer Footnote (version 4711)") {
		t.Errorf("Open of a newer file = %v, want a sentence that names version 4711", err)
	}
}

func TestClosedDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "footnote.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var n int
	readErr := db.queryRow(t.Context(), `SELECT count(*) FROM events`, nil, &n)
	writeErr := db.writeTx(t.Context(), false, func(*tx) error { return nil })
	for _, err := range []error{readErr, writeErr} {
		if err == nil || chat.CodeOf(err) != chat.CodeUnavailable {
			t.Errorf("after Close: %v, want %s", err, chat.CodeUnavailable)
		}
	}
}

func TestFeed(t *testing.T) {
	t.Parallel()
	chattest.TestFeed(t, func(t *testing.T) chat.Store { return openNew(t).Chats() })
}

func TestLogIsByteEqualAfterReopening(t *testing.T) {
	t.Parallel()
	const events = 40
	path := filepath.Join(t.TempDir(), "footnote.db")
	db, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	run, _, err := db.Chats().StartRun(t.Context(), chat.LocalUser, chat.RunRequest{Message: "q"},
		chat.Lease{Owner: "server", Until: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	live := chat.NewFeed(db.Chats())
	for range events - 1 {
		if err := live.Append(t.Context(), "server", run.ID, chat.AnswerDelta{Text: "a\r\n\u2028<ü>"}); err != nil {
			t.Fatal(err)
		}
	}
	before, err := live.Read(t.Context(), chat.Local, run.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	chats := openAt(t, path).Chats()
	if _, err := chats.Append(t.Context(), "server", run.ID, chat.RunDone{Status: chat.RunInterrupted}); err != nil {
		t.Fatal(err)
	}
	for k := range events {
		after, err := chat.NewFeed(chats).Read(t.Context(), chat.Local, run.ID, int64(k))
		if err != nil || len(after.Entries) != events-k || !after.Over {
			t.Fatalf("after %d: %d entries, over %v, %v; want %d, over", k, len(after.Entries), after.Over,
				err, events-k)
		}
		for i, e := range after.Entries[:events-1-k] {
			if was := before.Entries[k+i]; !bytes.Equal(e.JSON, was.JSON) || !e.At.Equal(was.At) {
				t.Errorf("event %d was %s, is %s, want %s", e.Seq, was.JSON, e.JSON, was.JSON)
			}
		}
	}
}

func TestGrants(t *testing.T) {
	grantstest.TestStore(t, func(t *testing.T) grants.Store { return openNew(t).Grants() })
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	storetest.Test(t, func(t *testing.T) placestore.Store { return openNew(t).Places() })
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	corpustest.TestDocuments(t, func(t *testing.T) corpus.Documents { return openNew(t).Documents() })
}

func TestLexical(t *testing.T) {
	t.Parallel()
	corpustest.TestLexical(t, func(t *testing.T) corpustest.LexicalStores {
		db := openNew(t)
		return corpustest.LexicalStores{Documents: db.Documents(), Lexical: db.Lexical()}
	})
}

func TestVectors(t *testing.T) {
	t.Parallel()
	corpustest.TestVectors(t, func(t *testing.T) corpus.Vectors { return openNew(t).Vectors("test") })
	corpustest.TestVectorModels(t, func(t *testing.T) func(string) corpus.Vectors {
		db := openNew(t)
		return func(model string) corpus.Vectors { return db.Vectors(model) }
	})
}

func TestQueue(t *testing.T) {
	t.Parallel()
	corpustest.TestQueue(t, func(t *testing.T) (one, two corpus.Queue) {
		db := openNew(t)
		return mortal{db.Queue()}, db.Queue()
	})
}

type mortal struct{ *Queue }

// TakeAndDie implements corpustest.Mortal. The restart of a process frees the jobs that the previous one held.
func (q mortal) TakeAndDie(t *testing.T, kind corpus.JobKind, jobs int) {
	t.Helper()
	slots := fair.NewSlots(jobs, jobs)
	for range jobs {
		if _, _, ok, _, err := q.claimJob(t.Context(), kind, time.Now(), slots); err != nil || !ok {
			t.Fatalf("take a job: %v, %v", ok, err)
		}
	}
	if err := q.freeJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
}
