package main_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/corpus/milvus/milvustest"
	"github.com/footnote/footnote/corpus/search"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// searches are run before and after the migration.
var searches = []string{
	"roof", "rent of the mill", "slates missing", "gutter damp kitchen", "the miller wrote", "harbour lamp",
	"keeper counts ships", "\"steady flame\"", "harbor", "tenant repairs",
}

// library creates a data directory with documents and runs, and returns a snapshot of the server's responses.
func library(t *testing.T) (dir string, k kept, found map[string][]string) {
	t.Helper()
	s := serve(t, newDir(t))
	files := slices.Clone(books)
	for n := range 40 {
		files = append(files, lampChapter(n))
	}
	ids := s.add(files...)
	var runs []string
	for _, question := range []string{
		"What is the condition of the roof?", "What is the rent?", "Who counts the ships at chapter 7?",
		"Compare the roof and the gutter.",
	} {
		runs = append(runs, s.finished(question))
	}
	// A second version: the citations keep the first.
	s.add(file{"survey.md", strings.Replace(books[0].body, "poor", "good", 1)})
	gone := ids[5]
	if r := s.send("DELETE", "/documents/"+gone, nil); r.status != http.StatusNoContent {
		t.Fatalf("DELETE: %d %s, want %d", r.status, r.body, http.StatusNoContent)
	}
	k = s.everything(slices.DeleteFunc(ids, func(id string) bool { return id == gone }), runs)
	found = s.tops()
	s.upload(file{"late.md", "# Late\n\nThis one waits in the queue while the power fails.\n"})
	s.kill()
	return s.dir, k, found
}

// tops returns the passages of each search, best first.
func (s *server) tops() map[string][]string {
	s.t.Helper()
	found := map[string][]string{}
	for _, query := range searches {
		answer := loose[struct {
			Results []struct {
				Metadata struct {
					ChunkID string `json:"chunk_id"`
				} `json:"metadata"`
			} `json:"results"`
		}](s.t, s.send("POST", "/search", fmt.Sprintf(`{"query": %q, "top_k": 10}`, query)).body)
		for _, r := range answer.Results {
			found[query] = append(found[query], r.Metadata.ChunkID)
		}
	}
	return found
}

func hashOf(t *testing.T, names ...string) string {
	t.Helper()
	sum := sha256.New()
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		sum.Write(raw)
		sum.Write([]byte{0})
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// migrateUntil runs the command and kills it after a number of progress lines. It reports whether the command was
// killed.
func migrateUntil(t *testing.T, lines int, env []string) bool {
	t.Helper()
	cmd := exec.Command(binary, "migrate", "--from", "sqlite", "--to", "postgres")
	cmd.Env = environment(env)
	progress, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(progress)
	for n := 0; n < lines && scanner.Scan(); n++ {
	}
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // it was killed
	return cmd.ProcessState.ExitCode() != 0
}

func TestEverythingIsCopiedThroughKillsAndIsTheSame(t *testing.T) {
	t.Parallel()
	dir, k, found := library(t)
	database := filepath.Join(dir, "footnote.db")
	before := hashOf(t, database, database+"-wal")
	shared := t.TempDir()
	env := []string{
		"FOOTNOTE_DATA=" + dir, "DATABASE_URL=" + postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://" + shared,
	}
	killed := 0
	for _, lines := range []int{1, 3, 6, 9, 12, 15, 18, 21, 24, 28} {
		if migrateUntil(t, lines, env) {
			killed++
		} else {
			env[1] = "DATABASE_URL=" + postgrestest.Shared(t).Schema(t) // the kill was too late
		}
		if killed == 2 {
			got := command(t, "", env, "serve", "--addr=127.0.0.1:0", "--data="+newDir(t))
			if got.code != 1 || !strings.Contains(got.stderr, "half filled") {
				t.Errorf("a server on the half filled database: %d %s; want 1 and %q in it",
					got.code, got.stderr, "half filled")
			}
		}
	}
	if killed < 6 {
		t.Errorf("only %d of the kills came in time, want at least 6", killed)
	}
	got := command(t, "", env, "migrate")
	if got.code != 0 || strings.Contains(got.stdout, "DIFFERENT") || !strings.Contains(got.stdout, "originals") {
		t.Fatalf("migrate: %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	t.Log(got.stdout)
	if after := hashOf(t, database, database+"-wal"); after != before {
		t.Errorf("the source was changed: got %v, want %v", after, before)
	}
	if got := command(t, "", env, "migrate"); got.code != 0 || !strings.Contains(got.stdout, "nothing to do") {
		t.Errorf("once more: %d %s%s; want 0 and %q in it", got.code, got.stdout, got.stderr, "nothing to do")
	}
	if got := command(t, "", env, "migrate", "--again"); got.code != 1 ||
		!strings.Contains(got.stderr, "may be in use") {
		t.Errorf("--again after all: %d %s%s; want 1 and %q in it", got.code, got.stdout, got.stderr, "may be in use")
	}
	s := serve(t, newDir(t), env[1:]...)
	s.mustHave(k)
	for query, ids := range s.tops() {
		if !slices.Equal(ids, found[query]) {
			t.Errorf("%q finds\n%v\nand found\n%v", query, ids, found[query])
		}
		delete(found, query)
	}
	if len(found) > 0 {
		t.Errorf("nothing is found for %v, want none", found)
	}
	eventually(t, "the document that waited is ready", func() bool {
		return s.search("queue while the power fails").TotalResults > 0
	})
	s.add(file{"new.md", "# New\n\nIt comes after the move, under a new number.\n"})
	if log := s.run("What is the rent?"); log.answer == nil || !strings.Contains(log.answer.Markdown, "900 pounds") {
		t.Errorf("a new question ended as %+v", log.done)
	}
}

func TestMigrateRefusesWhatItShould(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books[0])
	url := postgrestest.Shared(t).Schema(t)
	env := []string{"FOOTNOTE_DATA=" + s.dir, "DATABASE_URL=" + url}
	if got := command(t, "", env, "migrate"); got.code != 1 ||
		!strings.Contains(got.stderr, "in use by the Footnote at") {
		t.Errorf("below a server: %d %s; want 1 and %q in it", got.code, got.stderr, "in use by the Footnote at")
	}
	s.end(os.Interrupt)
	if got := command(t, "", env[:1], "migrate"); got.code != 1 || !strings.Contains(got.stderr, "set DATABASE_URL") {
		t.Errorf("without a target: %d %s; want 1 and %q in it", got.code, got.stderr, "set DATABASE_URL")
	}
	if got := command(t, "", []string{"FOOTNOTE_DATA=" + t.TempDir(), env[1]}, "migrate"); got.code != 1 ||
		!strings.Contains(got.stderr, "There is no database in") {
		t.Errorf("without a source: %d %s; want 1 and %q in it", got.code, got.stderr, "There is no database in")
	}
	other := serve(t, newDir(t), env[1], "FOOTNOTE_BLOBS=file://"+t.TempDir())
	id := other.add(books[1])[0]
	if got := command(t, "", env, "migrate"); got.code != 1 || !strings.Contains(got.stderr, "holds other data") {
		t.Errorf("into a database in use: %d %s; want 1 and %q in it", got.code, got.stderr, "holds other data")
	}
	if r := other.send("GET", "/documents/"+id+"/text", nil); r.status != http.StatusOK {
		t.Errorf("the other library's document: %d %s, want %d", r.status, r.body, http.StatusOK)
	}
	if got := command(t, "", nil, "migrate", "--help"); got.code != 0 ||
		!strings.Contains(got.stdout, "goes on where it was") {
		t.Errorf("--help: %d %s; want 0 and %q in it", got.code, got.stdout, "goes on where it was")
	}
}

// A source that changed between two attempts is detected, and --again starts over.
func TestADifferenceIsFoundAndMendedByStartingOver(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books[0])
	run := s.begin("What is the condition of the roof?")
	s.follow(run.RunID)
	s.end(os.Interrupt)
	env := []string{
		"FOOTNOTE_DATA=" + s.dir, "DATABASE_URL=" + postgrestest.Shared(t).Schema(t),
		"FOOTNOTE_BLOBS=file://" + t.TempDir(),
	}
	for lines := 20; !migrateUntil(t, lines, env); lines -= 3 {
		if lines < 3 {
			t.Fatalf("every kill came too late: got %v, want at least 3", lines)
		}
		env[1] = "DATABASE_URL=" + postgrestest.Shared(t).Schema(t)
	}
	s = s.restart()
	r := s.send("PATCH", "/sessions/"+run.SessionID, `{"title": "Another name"}`)
	if r.status >= 300 {
		t.Fatalf("rename: %d %s, want less than 300", r.status, r.body)
	}
	s.end(os.Interrupt)
	got := command(t, "", env, "migrate")
	if got.code != 1 || !strings.Contains(got.stdout, "DIFFERENT") || !strings.Contains(got.stderr, "--again") {
		t.Errorf("after a change: %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got = command(t, "", env, "migrate", "--again"); got.code != 0 || strings.Contains(got.stdout, "DIFFERENT") {
		t.Errorf("--again: %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// meanings are the semantic searches before and after the copy of embeddings.
var meanings = []string{"roof slates missing", "rent of the mill", "lamp 17 above the harbour", "entry 512 of the log"}

// logbook returns a document with a number of passages.
func logbook(passages int) file {
	var b strings.Builder
	b.WriteString("# Log\n")
	for n := range passages {
		fmt.Fprintf(&b, "\n## Day %d\n\nEntry %d of the log: %d ships, wind from the %s.\n", n, n, n*7%31,
			[]string{"north", "east", "south", "west"}[n%4])
	}
	return file{"log.md", b.String()}
}

// killedAmong runs the command and kills it once a number of embeddings is stored.
func killedAmong(t *testing.T, env []string, vectors int) {
	t.Helper()
	cmd := exec.Command(binary, "migrate")
	cmd.Env = environment(env)
	progress, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done, total, said := 0, 0, ""
	for lines := bufio.NewScanner(progress); lines.Scan(); {
		said += lines.Text() + "\n"
		if strings.HasSuffix(lines.Text(), " vectors") && !strings.Contains(lines.Text(), "comparing") {
			if _, err := fmt.Sscanf(lines.Text(), "%d/%d", &done, &total); err == nil && done >= vectors {
				break
			}
		}
	}
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // it was killed
	if cmd.ProcessState.ExitCode() == 0 || done < vectors {
		t.Fatalf("the kill came too late, after %d vectors:\n%s", done, said)
	}
}

func TestVectorsAreCopiedToMilvusThroughKillsAndAreNotMadeAnew(t *testing.T) {
	t.Parallel()
	for kind, says := range map[milvustest.Kind]string{
		milvustest.Standalone: "Milvus v2.3.5-lite",
		milvustest.Lite:       "Milvus milvus_lite-3.2.2",
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			model := newModel(t, scripted.Config{})
			embed := append(model.env(), "OPENAI_EMBEDDING_MODEL=hash")
			s := serve(t, newDir(t), embed...)
			ids := s.add(append(append([]file{logbook(1200), lampChapter(17)}, libraryFiles(t)...), books...)...)
			s.semantic()
			// The embeddings of its first version are deleted.
			s.add(file{"survey.md", strings.Replace(books[0].body, "poor", "good", 1)})
			s.semantic()
			if r := s.send("DELETE", "/documents/"+ids[1], nil); r.status != http.StatusNoContent {
				t.Fatalf("DELETE: %d %s, want %d", r.status, r.body, http.StatusNoContent)
			}
			s.measureScores()
			found := map[string]map[string]int{}
			for _, query := range meanings {
				found[query] = s.best(query, "semantic")
			}
			s.kill()

			address := milvustest.Shared(t, kind)
			there := append([]string{
				"MILVUS_ADDRESS=" + address, "MILVUS_COLLECTION=" + milvustest.Collection(t, address),
				"DATABASE_URL=" + postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://" + t.TempDir(),
			}, embed...)
			env := append([]string{"FOOTNOTE_DATA=" + s.dir}, there...)
			killedAmong(t, env, 1)
			killedAmong(t, env, 700)
			got := command(t, "", env, "migrate")
			if got.code != 0 || strings.Contains(got.stdout, "DIFFERENT") || !strings.Contains(got.stdout, "vectors ") {
				t.Fatalf("migrate: %d\n%s%s", got.code, got.stdout, got.stderr)
			}

			var made atomic.Int64
			open := make(chan struct{})
			close(open)
			model.mu.Lock()
			model.onEmbed = func() <-chan struct{} { made.Add(1); return open }
			model.mu.Unlock()
			moved := serve(t, newDir(t), there...)
			moved.semantic()
			moved.vectors(says)
			tries := moved.measureScores()
			for query, want := range found {
				if got := moved.best(query, "semantic"); !maps.Equal(got, want) || len(want) == 0 {
					t.Errorf("%q finds\n%v\nand found\n%v", query, got, want)
				}
			}
			queries, passages := search.SimilarityPairs() // passages are sent in batches of six
			most := int64(len(meanings) + len(queries) + (len(passages)+5)/6 + tries*inOneTry)
			if n := made.Load(); n > most {
				t.Errorf("%d requests for embeddings, with %d questions and what measures scores, want at most %d",
					n, len(meanings), most)
			}
			moved.add(file{"new.md", "# New\n\nIt comes after the move.\n"})
			moved.semantic()
		})
	}
}

func TestWhenVectorsAreNotCopiedItIsSaid(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{})
	embed := append(model.env(), "OPENAI_EMBEDDING_MODEL=hash")
	s := serve(t, newDir(t), embed...)
	s.add(books...)
	s.semantic()
	s.kill()
	migrate := func(env ...string) result {
		return command(
			t, "", append(env, "FOOTNOTE_DATA="+s.dir, "DATABASE_URL="+postgrestest.Shared(t).Schema(t),
				"FOOTNOTE_BLOBS=file://"+t.TempDir()), "migrate",
		)
	}
	if got := migrate(embed...); got.code != 0 ||
		!strings.Contains(
			got.stdout,
			"Vectors are not copied: MILVUS_ADDRESS is not set. A server with a vector store makes them anew\n",
		) {
		t.Errorf("without Milvus: %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	address := milvustest.Shared(t, milvustest.Lite)
	there := []string{"MILVUS_ADDRESS=" + address, "MILVUS_COLLECTION=" + milvustest.Collection(t, address)}
	if got := migrate(append(model.env(), there...)...); got.code != 0 ||
		!strings.Contains(got.stdout, "OPENAI_EMBEDDING_MODEL is not set") {
		t.Errorf("without an embedding model: %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	// The same dimensions, but another model.
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		var list []map[string]any
		for i, text := range asked.Input {
			vector := scripted.Vector(text)
			for a, b := 0, len(vector)-1; a < b; a, b = a+1, b-1 {
				vector[a], vector[b] = vector[b], vector[a]
			}
			list = append(list, map[string]any{"object": "embedding", "index": i, "embedding": vector})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list}) // the client may be gone
	}))
	t.Cleanup(other.Close)
	if got := migrate(append(there, "OPENAI_BASE_URL="+other.URL+"/v1", "OPENAI_API_KEY=k",
		"OPENAI_EMBEDDING_MODEL=other")...); got.code != 0 ||
		!strings.Contains(got.stdout, "not of the model other") || strings.Contains(got.stdout, "\nvectors ") {
		t.Errorf("with another embedding model: %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got := migrate(append(embed, "MILVUS_ADDRESS=127.0.0.1:1")...); got.code != 1 ||
		!strings.Contains(got.stderr, "127.0.0.1:1") || strings.Contains(got.stdout, "sessions") {
		t.Errorf("with a Milvus that is away: %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// inOneTry is the number of embedding requests that a search adds if its score measurement times out.
const inOneTry = 6

// measureScores searches until scores are measured, and returns the number of searches. On a busy machine, one
// search may time out before.
func (s *server) measureScores() (tries int) {
	s.t.Helper()
	const failed = "scores are not measured yet"
	eventually(s.t, "scores are measured", func() bool {
		before := strings.Count(s.log.String(), failed)
		s.best(meanings[0], "semantic")
		tries++
		return strings.Count(s.log.String(), failed) == before
	})
	return tries
}
