package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/corpus/milvus/milvustest"
	"github.com/footnote/footnote/corpus/search"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// meanings are asked before and after vectors were copied.
var meanings = []string{"roof slates missing", "rent of the mill", "lamp 17 above the harbour", "entry 512 of the log"}

// logbook is a document of so many passages.
func logbook(passages int) file {
	var b strings.Builder
	b.WriteString("# Log\n")
	for n := range passages {
		fmt.Fprintf(&b, "\n## Day %d\n\nEntry %d of the log: %d ships, wind from the %s.\n", n, n, n*7%31,
			[]string{"north", "east", "south", "west"}[n%4])
	}
	return file{"log.md", b.String()}
}

// killedAmong runs the command and kills it when so many vectors are there.
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
	_ = cmd.Wait()         // the signal is its end
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
			// vectors of its first version are gone
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
			queries, passages := search.SimilarityPairs() // passages go six at a time
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
	// the same dimensions, another meaning
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

// inOneTry is how many requests for embeddings a search adds that could not measure scores in its time.
const inOneTry = 6

// measureScores searches until scores are measured, which one search has too little time for on a busy machine, and
// returns how many searches that took.
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
