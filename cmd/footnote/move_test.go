package main_test

import (
	"bufio"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/milvus/milvustest"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// searches are run before and after a move between databases.
var searches = []string{
	"roof", "rent of the mill", "slates missing", "gutter damp kitchen", "the miller wrote", "harbour lamp",
	"keeper counts ships", "\"steady flame\"", "harbor", "tenant repairs", "ledger line 19000",
}

// ledger returns a document with so many lines. Large texts are stored in pieces.
func ledger(name string, lines int) file {
	var b strings.Builder
	for n := range lines {
		fmt.Fprintf(&b, "The ledger of the mill, line %d: %d sacks, %d pounds.\n\n", n, n*7%31, n*13%97)
	}
	return file{name, b.String()}
}

// library creates a data directory with documents and runs, and returns a snapshot of the server's responses.
func library(t *testing.T) (dir string, k kept, found map[string][]string) {
	t.Helper()
	s := serve(t, newDir(t))
	files := append(slices.Clone(books), ledger("ledger.md", 20000))
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

// mustFind fails unless each search finds the same passages as before.
func (s *server) mustFind(found map[string][]string) {
	s.t.Helper()
	if got := s.tops(); !maps.EqualFunc(got, found, slices.Equal) || len(got) != len(searches) {
		s.t.Errorf("searches find\n%v\nand found\n%v", got, found)
	}
}

// move makes a backup of the data of one environment and restores it to another. It returns the backup and what the
// commands print.
func move(t *testing.T, from, to []string) (backup, said string) {
	t.Helper()
	backup = filepath.Join(t.TempDir(), "backup.tar")
	for _, step := range []struct {
		env  []string
		name string
	}{{from, "backup"}, {to, "restore"}} {
		got := command(t, "", step.env, step.name, backup)
		if got.code != 0 {
			t.Fatalf("%s: %d\n%s%s", step.name, got.code, got.stdout, got.stderr)
		}
		said += got.stdout
	}
	return backup, said
}

// emptyPostgres returns the settings of a server with a new database in PostgreSQL.
func emptyPostgres(t *testing.T) []string {
	t.Helper()
	return []string{
		"FOOTNOTE_DATA=" + newDir(t), "DATABASE_URL=" + postgrestest.Shared(t).Schema(t),
		"FOOTNOTE_BLOBS=file://" + t.TempDir(),
	}
}

// killRestore runs the command and kills it after a number of progress lines. It reports whether it was killed in
// time: then the command fails.
func killRestore(t *testing.T, lines int, backup string, env []string) bool {
	t.Helper()
	cmd := exec.Command(binary, "restore", backup)
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

func TestMigrationToPostgreSQLAndBack(t *testing.T) {
	t.Parallel()
	dir, k, found := library(t)
	backup := filepath.Join(t.TempDir(), "backup.tar")
	if got := command(t, "", []string{"FOOTNOTE_DATA=" + dir}, "backup", backup); got.code != 0 {
		t.Fatalf("backup: %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	shared := emptyPostgres(t)
	killed := 0
	for killed < 60 && killRestore(t, killed, backup, shared) {
		killed++
	}
	if killed < 6 || killed == 60 {
		t.Fatalf("%d kills came in time, want at least 6 and a restore after them", killed)
	}
	if got := command(t, "", shared, "restore", backup, "--force"); got.code != 1 ||
		!strings.Contains(got.stderr, "holds data (in its table sessions)") {
		t.Errorf("into a database with data: %d %s; want 1 and %q in it",
			got.code, got.stderr, "holds data (in its table sessions)")
	}
	s := serve(t, newDir(t), shared[1:]...)
	s.mustHave(k)
	s.mustFind(found)
	eventually(t, "the document that waited is ready", func() bool {
		return s.search("queue while the power fails").TotalResults > 0
	})
	if log := s.run("What is the rent?"); log.answer == nil || !strings.Contains(log.answer.Markdown, "900 pounds") {
		t.Errorf("new question ended with %+v", log.done)
	}
	// What PostgreSQL stores itself, with large texts in pieces.
	ids := s.add(file{"new.md", "# New\n\nIt comes after the move, under a new number.\n"},
		ledger("large.md", 90000))
	maps.Copy(k.documents, s.everything(ids, nil).documents)
	maps.Copy(k.originals, s.everything(ids, nil).originals)
	run := s.finished("What is the condition of the roof?")
	maps.Copy(k.runs, s.everything(nil, []string{run}).runs)
	found = s.tops()
	list := "/documents?limit=1000"
	before := []string{s.send("GET", list, nil).body, s.send("GET", "/sessions", nil).body}
	s.upload(file{"last.md", "# Last\n\nThis one waits for another engine.\n"})
	s.kill()

	plain := newDir(t)
	move(t, append(shared[1:], "FOOTNOTE_DATA="+newDir(t)), []string{"FOOTNOTE_DATA=" + plain})
	s = serve(t, plain)
	s.mustHave(k)
	s.mustFind(found)
	eventually(t, "the document that waited is ready", func() bool {
		return s.search("waits for another engine").TotalResults > 0
	})
	if r := s.send("DELETE", "/documents/"+s.search("waits for another engine").Results[0].Metadata.DocumentID,
		nil); r.status != http.StatusNoContent {
		t.Errorf("DELETE: %d %s", r.status, r.body)
	}
	for i, path := range []string{list, "/sessions"} {
		if got := s.send("GET", path, nil).body; got != before[i] {
			t.Errorf("GET %s =\n%s\nwant\n%s", path, got, before[i])
		}
	}
	s.add(file{"newest.md", "# Newest\n\nIt comes after the way back.\n"})
	if log := s.run("What is the rent?"); log.answer == nil || !strings.Contains(log.answer.Markdown, "900 pounds") {
		t.Errorf("new question ended with %+v", log.done)
	}
}

func TestRestoreToUnreachableDatabaseChangesNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books[0])
	backup := filepath.Join(t.TempDir(), "backup.tar")
	if got := command(t, "", nil, "backup", backup, "--data="+s.dir); got.code != 0 {
		t.Fatal(got.stderr)
	}
	away := "DATABASE_URL=postgres://footnote@127.0.0.1:1/footnote"
	if got := command(t, "", []string{away}, "restore", backup, "--data="+newDir(t)); got.code != 1 ||
		!strings.Contains(got.stderr, "The database isn't responding") {
		t.Errorf("restore: %d %s", got.code, got.stderr)
	}
	if got := command(t, "", []string{away}, "backup", backup+"2", "--data="+newDir(t)); got.code != 1 ||
		!strings.Contains(got.stderr, "The database isn't responding") {
		t.Errorf("backup: %d %s", got.code, got.stderr)
	}
	if names, err := os.ReadDir(filepath.Dir(backup)); err != nil || len(names) != 1 {
		t.Errorf("the backup left %v, %v; want 1 name", names, err)
	}
}

// meanings are the semantic searches before and after a move.
var meanings = []string{"roof slates missing", "rent of the mill", "lamp 17 above the harbour"}

func TestEmbeddingsAreRecomputedAfterMigration(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{})
	embed := append(model.env(), "OPENAI_EMBEDDING_MODEL=hash")
	s := serve(t, newDir(t), embed...)
	s.add(append([]file{lampChapter(17)}, append(libraryFiles(t), books...)...)...)
	found := map[string]map[string]int{}
	check := func() {
		s.semantic()
		for _, query := range meanings {
			got := s.best(query, "semantic")
			if found[query] == nil {
				found[query] = got
			} else if !maps.Equal(got, found[query]) || len(got) == 0 {
				t.Errorf("search for %q =\n%v\nwant\n%v", query, got, found[query])
			}
		}
		s.kill()
	}
	check()
	address := milvustest.Shared(t, milvustest.Lite)
	shared := append(emptyPostgres(t), "MILVUS_ADDRESS="+address,
		"MILVUS_COLLECTION="+milvustest.Collection(t, address))
	move(t, []string{"FOOTNOTE_DATA=" + s.dir}, shared)
	s = serve(t, newDir(t), append(embed, shared[1:]...)...)
	check()
	plain := newDir(t)
	move(t, shared, []string{"FOOTNOTE_DATA=" + plain})
	s = serve(t, plain, embed...)
	check()
}
