package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/blobs/s3/s3test"
	"github.com/footnote/footnote/corpus/milvus/milvustest"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// semantic waits until the embeddings of every document are computed.
func (s *server) semantic() {
	s.t.Helper()
	eventually(s.t, "every document has its vectors", func() bool {
		list := loose[struct {
			Documents []struct {
				Semantic string `json:"semantic"`
			} `json:"documents"`
		}](s.t, s.send("GET", "/documents?limit=100", nil).body).Documents
		for _, d := range list {
			if d.Semantic != "ready" {
				return false
			}
		}
		return len(list) > 0
	})
}

// vectors waits until /health reports a certain detail for the embeddings.
func (s *server) vectors(says string) {
	s.t.Helper()
	eventually(s.t, "/health says of the vectors: "+says, func() bool {
		checks := loose[struct {
			Checks map[string]struct {
				Status string `json:"status"`
				Detail string `json:"detail"`
			} `json:"checks"`
		}](s.t, s.send("GET", "/health", nil).body).Checks
		return checks["vectors"].Status == "ok" && checks["vectors"].Detail == says
	})
}

// meaning runs a semantic search.
func (s *server) meaning(query string) (status int, body string) {
	s.t.Helper()
	r := s.send("POST", "/search", fmt.Sprintf(`{"query": %q, "mode": "semantic", "top_k": 10}`, query))
	return r.status, r.body
}

// best returns the passages of a search, by place, with their scores in thousandths. Passages with the last score
// are left out: their selection is random.
func (s *server) best(query, mode string) map[string]int {
	s.t.Helper()
	answer := loose[struct {
		Results []struct {
			Score    float64 `json:"score"`
			Metadata struct {
				Filename string `json:"filename"`
				Start    int    `json:"start"`
			} `json:"metadata"`
		} `json:"results"`
	}](s.t, s.send("POST", "/search", fmt.Sprintf(`{"query": %q, "mode": %q, "top_k": 6}`, query, mode)).body)
	found := map[string]int{}
	for _, r := range answer.Results {
		if r.Score > answer.Results[len(answer.Results)-1].Score {
			found[fmt.Sprintf("%s:%d", r.Metadata.Filename, r.Metadata.Start)] = int(r.Score*1000 + 0.5)
		}
	}
	return found
}

// documents returns the files of the results, the best one first, the others by name. Ties are ordered by ids that
// differ between libraries, so rank-based scores differ slightly; those under 0.55 are from one index only.
func documents(found map[string]int) (files []string) {
	best := ""
	for place, score := range found {
		name, _, _ := strings.Cut(place, ":")
		if score > 550 && !slices.Contains(files, name) {
			files = append(files, name)
		}
		if best == "" || score > found[best] {
			best = place
		}
	}
	slices.Sort(files)
	first, _, _ := strings.Cut(best, ":")
	return append([]string{first}, files...)
}

// libraryFiles are the documents of eval/testdata/library.
func libraryFiles(t *testing.T) (files []file) {
	t.Helper()
	names, err := filepath.Glob("eval/testdata/library/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file{filepath.Base(name), string(raw)})
	}
	return files
}

func TestSearchModesFindSamePassages(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{})
	embed := append(model.env(), "OPENAI_EMBEDDING_MODEL=hash")
	onMilvus := func(kind milvustest.Kind) []string {
		address := milvustest.Shared(t, kind)
		return []string{"MILVUS_ADDRESS=" + address, "MILVUS_COLLECTION=" + milvustest.Collection(t, address)}
	}
	onPostgres := func() []string {
		return []string{"DATABASE_URL=" + postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://" + t.TempDir()}
	}
	const (
		standalone = "Milvus v2.3.5-lite"
		lite       = "Milvus milvus_lite-3.2.2"
	)
	files := libraryFiles(t)
	open := func(env ...[]string) *server {
		s := serve(t, newDir(t), slices.Concat(append(env, embed)...)...)
		s.add(files...)
		return s
	}
	plain := open()
	plain.semantic()
	type search struct{ query, kind string }
	known := map[search]map[string]int{} // SQLite's results
	for _, q := range questions {
		for _, kind := range []string{"lexical", "semantic", "hybrid"} {
			known[search{q.ask, kind}] = plain.best(q.ask, kind)
		}
	}
	for _, mode := range []struct {
		name   string
		server *server
		says   string // about embeddings; empty: none
	}{
		{"SQLite and Milvus 2.3", open(onMilvus(milvustest.Standalone)), standalone},
		{"SQLite and Milvus Lite", open(onMilvus(milvustest.Lite)), lite},
		{"PostgreSQL and Milvus 2.3", open(onPostgres(), onMilvus(milvustest.Standalone)), standalone},
		{"PostgreSQL and Milvus Lite", open(onPostgres(), onMilvus(milvustest.Lite)), lite},
		{"PostgreSQL", open(onPostgres()), ""},
	} {
		kinds := []string{"lexical"}
		if mode.says != "" {
			mode.server.semantic()
			mode.server.vectors(mode.says)
			kinds = []string{"lexical", "semantic", "hybrid"}
		}
		for _, q := range questions {
			for _, kind := range kinds {
				got, want := mode.server.best(q.ask, kind), known[search{q.ask, kind}]
				same := slices.Equal(documents(got), documents(want))
				if kind == "semantic" {
					same = maps.Equal(got, want) && len(want) > 0
				}
				if !same {
					t.Errorf("%s, %s search for %q: %v, want as SQLite %v", mode.name, kind, q.ask, got, want)
				}
			}
		}
	}
}

func TestDoctorNamesMilvusServer(t *testing.T) {
	t.Parallel()
	for kind, want := range map[milvustest.Kind]string{
		milvustest.Standalone: "answers: Milvus v2.3.5-lite", milvustest.Lite: "answers: Milvus milvus_lite-3.2.2",
	} {
		got := command(t, "", []string{"MILVUS_ADDRESS=" + milvustest.Shared(t, kind)}, "doctor", "--data="+newDir(t))
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%s: got %q, want %q in it", kind, got.stdout, want)
		}
	}
}

func TestMilvusOutageRecovers(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{})
	remote := milvustest.ForTest(t, milvustest.Lite)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(remote.Kill())
	env := append(model.env(), "OPENAI_EMBEDDING_MODEL=hash", "MILVUS_ADDRESS="+remote.Address)
	s := serve(t, newDir(t), env...) // it starts without Milvus
	s.add(file{"survey.md", "# Survey\n\nThe roof of the house was renewed in 1987 with slate tiles.\n"})
	health := func(status string) {
		t.Helper()
		eventually(t, "/health says "+status, func() bool {
			r := s.send("GET", "/health", nil)
			if r.status != http.StatusOK {
				t.Fatalf("/health: %d %s, want %d", r.status, r.body, http.StatusOK)
			}
			return loose[struct {
				Status string `json:"status"`
			}](t, r.body).Status == status
		})
	}
	byWords := func(when string) {
		t.Helper()
		r := s.send("POST", "/search", `{"query": "slate roof"}`)
		if r.status != http.StatusOK || !strings.Contains(r.body, "1987") || !json.Valid([]byte(r.body)) {
			t.Errorf("%s, a search answers %d %s; want %d and %q in it", when, r.status, r.body, http.StatusOK, "1987")
		}
		if status, body := s.meaning("slate roof"); status != http.StatusServiceUnavailable {
			t.Errorf("%s, a semantic search answers %d %s, want %d", when, status, body, http.StatusServiceUnavailable)
		}
	}
	found := func(when string) {
		t.Helper()
		eventually(t, when+", a semantic search finds the passage", func() bool {
			status, body := s.meaning("slate roof")
			return status == http.StatusOK && strings.Contains(body, "1987")
		})
	}
	health("degraded")
	byWords("while it is down")
	must(remote.Run(t.Context()))
	s.semantic()
	found("when it came")
	health("ok")

	must(remote.Pause())
	health("degraded")
	byWords("while it says nothing")
	must(remote.Resume())
	found("when it goes on")

	must(remote.Kill())
	must(remote.Empty())
	byWords("while it is down again")
	must(remote.Run(t.Context()))
	found("when it came back without anything")
	health("ok")
}

// An unknown embedding model is reported, although the server answers other requests.
func TestUnknownEmbeddingModelIsReported(t *testing.T) {
	t.Parallel()
	inner := scripted.NewServer(scripted.Config{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/embeddings") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error":{"message":"model \"nosuch\" not found","type":"not_found_error"}}`))
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	env := []string{
		"OPENAI_BASE_URL=" + web.URL + "/v1", "OPENAI_API_KEY=test-key", "OPENAI_MODEL=scripted",
		"OPENAI_EMBEDDING_MODEL=nosuch",
	}
	if got := command(t, "", env, "doctor", "--data="+newDir(t)); got.code != 1 ||
		!strings.Contains(got.stdout, "✕ semantic search") || !strings.Contains(got.stdout, "OPENAI_EMBEDDING_MODEL") {
		t.Errorf("doctor: %d\n%s", got.code, got.stdout)
	}
	anthropic := append(env, "FOOTNOTE_MODEL=anthropic", "ANTHROPIC_API_KEY=test-key", "ANTHROPIC_BASE_URL="+web.URL)
	if got := command(t, "", anthropic, "doctor", "--data="+newDir(t)); !strings.Contains(got.stdout,
		"✕ semantic search") {
		t.Errorf("doctor with Anthropic's model: got %d\n%s", got.code, got.stdout)
	}
	s := serve(t, newDir(t), env...)
	body := s.send("GET", "/health", nil).body
	health := loose[struct {
		Status string `json:"status"`
		Checks map[string]struct{ Status, Detail string }
	}](t, body)
	if health.Status != "degraded" || health.Checks["model"].Status != "ok" ||
		health.Checks["embeddings"].Status == "ok" ||
		!strings.Contains(health.Checks["embeddings"].Detail, "footnote doctor") || strings.Contains(body, "OPENAI_") {
		t.Errorf("got health %s, want degraded by the embeddings, the doctor named and no setting", body)
	}
	if got := command(t, "", []string{"FOOTNOTE_MODELS_SELECT=foo"}, "doctor", "--data="+newDir(t)); got.code != 0 ||
		!strings.Contains(got.stdout, "FOOTNOTE_MODELS_SELECT has no effect") {
		t.Errorf("doctor without a model: got %d\n%s", got.code, got.stdout)
	}
}

// The embedding model may have its own server, whichever model answers.
func TestEmbeddingsFromSeparateServer(t *testing.T) {
	t.Parallel()
	vectors, chat := httptest.NewServer(scripted.NewServer(scripted.Config{})), deadServer(t)
	t.Cleanup(vectors.Close)
	for name, env := range map[string][]string{
		"offline":               nil,
		"beside another server": {"OPENAI_BASE_URL=" + chat + "/v1", "OPENAI_MODEL=scripted"},
	} {
		env = append(env, "OPENAI_EMBEDDING_BASE_URL="+vectors.URL+"/v1", "OPENAI_EMBEDDING_API_KEY=test-key",
			"OPENAI_EMBEDDING_MODEL=hash")
		if got := command(t, "", env, "doctor", "--data="+newDir(t)); !strings.Contains(
			got.stdout, "✓ semantic search hash works",
		) {
			t.Errorf("doctor %s: %d\n%s, want the embedding model to work", name, got.code, got.stdout)
		}
		s := serve(t, newDir(t), env...)
		s.add(file{"roof.md", "# Roof\n\nThe slates are sound.\n"})
		s.semantic()
		health := s.send("GET", "/health", nil).body
		if !strings.Contains(health, `"embeddings":{"status":"ok"`) {
			t.Errorf("%s: health is %s, want the embeddings ok", name, health)
		}
		if name == "offline" && strings.Contains(health, `"model"`) {
			t.Errorf("offline server has a model: %s", health)
		}
	}
}

// deadServer returns the address of a closed port.
func deadServer(t *testing.T) string {
	t.Helper()
	web := httptest.NewServer(http.NotFoundHandler())
	web.Close()
	return web.URL
}

// fetchedModel returns the folder of the embedding model that `make embedding` downloads.
func fetchedModel(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", ".cache", "embedding", "all-MiniLM-L6-v2"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "model.safetensors")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("embedding model is missing, run make embedding: %v", err)
		}
		t.Skip("the embedding model is not on this machine: make embedding")
	}
	return dir
}

func TestLocalEmbeddingModelSearchesWithoutServer(t *testing.T) {
	t.Parallel()
	env := "FOOTNOTE_EMBEDDING_DIR=" + fetchedModel(t)
	s := serve(t, newDir(t), env)
	s.add(
		file{"pets.md", "# House rules\n\nDogs and cats may live in the flat if the landlord agrees.\n"},
		file{"heating.md", "# Boiler\n\nThe boiler is serviced every twelve months by an engineer.\n"},
		file{"parking.md", "# Garage\n\nThe second garage belongs to the ground floor.\n"},
	)
	s.semantic()
	status, body := s.meaning("Am I allowed to keep an animal?")
	found := loose[struct {
		Results []struct {
			Metadata struct {
				Filename string `json:"filename"`
			} `json:"metadata"`
		} `json:"results"`
	}](t, body).Results
	if status != 200 || len(found) == 0 || found[0].Metadata.Filename != "pets.md" {
		t.Errorf("got %d %s, want pets.md first: no word of the question is in it", status, body)
	}
	if health := s.send("GET", "/health", nil).body; !strings.Contains(health, `"status":"ok"`) {
		t.Errorf("got health %s, want ok", health)
	}
	if got := command(t, "", []string{env}, "doctor", "--data="+newDir(t)); got.code != 0 ||
		!strings.Contains(got.stdout, "all-MiniLM-L6-v2@") ||
		!strings.Contains(got.stdout, "6 layers, vectors of 384 numbers, 256 tokens at once, in 8 bits with ") ||
		!strings.Contains(got.stdout, " passages of 150 words per second on one processor") {
		t.Errorf("doctor = %d\n%s, want the name, the kind and the speed of the model", got.code, got.stdout)
	}
}

func TestServerEmbeddingModelPrecedesLocalOne(t *testing.T) {
	t.Parallel()
	env := append(newModel(t, scripted.Config{}).env(), "OPENAI_EMBEDDING_MODEL=hash",
		"FOOTNOTE_EMBEDDING_DIR="+fetchedModel(t))
	if got := command(t, "", env, "doctor", "--data="+newDir(t)); !strings.Contains(got.stdout, "hash works") {
		t.Errorf("got doctor %d\n%s, want hash", got.code, got.stdout)
	}
}

func TestFolderWithoutModelIsReported(t *testing.T) {
	t.Parallel()
	env := []string{"FOOTNOTE_EMBEDDING_DIR=" + t.TempDir()}
	if got := command(t, "", env, "doctor", "--data="+newDir(t)); got.code != 1 ||
		!strings.Contains(got.stdout, "✕ semantic search") || !strings.Contains(got.stdout, "FOOTNOTE_EMBEDDING_DIR") {
		t.Errorf("got doctor %d\n%s, want what is wrong with the folder", got.code, got.stdout)
	}
	if got := command(t, "", env, "serve", "--data="+newDir(t), "--addr=127.0.0.1:0"); got.code == 0 ||
		!strings.Contains(got.stderr, "FOOTNOTE_EMBEDDING_DIR") {
		t.Errorf("got serve %d\n%s, want what is wrong with the folder", got.code, got.stderr)
	}
}

func TestReplicasShareBucketAndWork(t *testing.T) {
	t.Parallel()
	storage := s3test.New(t)
	env := append(bucket(storage), "DATABASE_URL="+postgrestest.Shared(t).Schema(t), "AWS_SECRET_ACCESS_KEY=canary")
	one, two := serve(t, newDir(t), env...), serve(t, newDir(t), env...)
	var files []file
	for i := range 12 {
		files = append(files, file{fmt.Sprintf("book%d.md", i), chapter(fmt.Sprint("book", i), 20)})
	}
	ids := one.add(files...)
	for _, id := range ids {
		if d := two.settled(id); d.State != "ready" {
			t.Errorf("a document became %+v, want State %q", d, "ready")
		}
	}
	if r := two.send("GET", "/documents/"+ids[0]+"/file", nil); r.status != http.StatusOK || r.body != files[0].body {
		t.Errorf("the other replica's original: %d %.200s; want %d and %.200s",
			r.status, r.body, http.StatusOK, files[0].body)
	}
	storage.Fail(s3test.HangUp)
	r := one.upload(file{"late.md", "# Late\n\nIt comes too late.\n"})
	if r.status != http.StatusServiceUnavailable && !strings.Contains(r.body, `"unavailable"`) ||
		!strings.Contains(r.body, "storage for original files is not responding") {
		t.Errorf("an upload without storage: %d %s, want %q in it",
			r.status, r.body, "storage for original files is not responding")
	}
	if r := two.send("GET", "/documents/"+ids[0]+"/text", nil); r.status != http.StatusOK ||
		!strings.Contains(r.body, "book0begins") {
		t.Errorf("the text without storage: %d %.200s; want %d and %q in it",
			r.status, r.body, http.StatusOK, "book0begins")
	}
	if log := one.log.String() + two.log.String(); strings.Contains(log, "canary") ||
		strings.Contains(log, "this replica's data directory only") {
		t.Errorf("log has a key or a warning of separate originals:\n%s", log)
	}
}

func TestReplicasWithSeparateOriginalsAreWarned(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t), "DATABASE_URL="+postgrestest.Shared(t).Schema(t))
	if !strings.Contains(s.log.String(), "set FOOTNOTE_BLOBS to a directory or bucket shared by all replicas") {
		t.Errorf("log lacks the warning:\n%s", s.log)
	}
}

// replicas starts n servers on one database and one directory of originals.
func replicas(t *testing.T, n int) []*server {
	t.Helper()
	env := []string{"DATABASE_URL=" + postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://" + t.TempDir()}
	list := make([]*server, n)
	for i := range list {
		list[i] = serve(t, newDir(t), env...)
	}
	return list
}

func TestAnyReplicaServesDataOfOthers(t *testing.T) {
	t.Parallel()
	both := replicas(t, 2)
	one, two := both[0], both[1]
	if !strings.Contains(one.log.String(), "semantic search is off") {
		t.Errorf("log lacks that semantic search is off:\n%s", one.log)
	}
	id := one.add(file{
		"survey.md", "# Survey\n\nThe roof of the house was renewed in 1987 with slate tiles.\n\n## Garden\n\nThe " +
			"fence leans.\n",
	})[0]
	if d := two.settled(id); d.State != "ready" || d.Title != "Survey" {
		t.Errorf("the other replica has the document as %+v; want State %q and Title %q", d, "ready", "Survey")
	}
	if r := two.send("GET", "/documents/"+id+"/file", nil); r.status != http.StatusOK ||
		!strings.Contains(r.body, "renewed in 1987") {
		t.Errorf("the other replica's original: %d %.200s; want %d and %q in it",
			r.status, r.body, http.StatusOK, "renewed in 1987")
	}
	run := one.begin("When was the roof renewed?")
	elsewhere := two.follow(run.RunID) // streamed during the run
	if elsewhere.done.Status != chat.RunCompleted || elsewhere.answer == nil ||
		!strings.Contains(elsewhere.answer.Markdown, "1987") {
		t.Errorf("the run ended as %+v with %+v; want Status %v and %q in it",
			elsewhere.done, elsewhere.answer, chat.RunCompleted, "1987")
	}
	if len(elsewhere.citations) == 0 || elsewhere.citations[0].DocumentID != id {
		t.Errorf("citations %+v; want some citations and %v", elsewhere.citations, id)
	}
	for _, s := range both {
		if again := s.follow(run.RunID); !slices.Equal(again.raw, elsewhere.raw) {
			t.Errorf("replay on %s differs from the first stream", s.url)
		}
	}
	for k := range elsewhere.raw {
		st, err := one.open("GET", fmt.Sprintf("/agent/runs/%s/events?after=%d", run.RunID, k), nil)
		if err != nil {
			t.Fatal(err)
		}
		rest, err := st.rest()
		st.close()
		if !errors.Is(err, io.EOF) || !slices.Equal(rest, elsewhere.raw[k:]) {
			t.Errorf("after %d: %d events, %v; want %d", k, len(rest), err, len(elsewhere.raw)-k)
		}
	}
	if code := one.end(os.Interrupt); code != 0 {
		t.Errorf("exit code of the first replica = %d, want 0:\n%s", code, one.log)
	}
	if log := two.run("When was the roof renewed?"); log.done.Status != chat.RunCompleted || len(log.citations) == 0 {
		t.Errorf("alone, the other replica's run ended as %+v with %d citations; want Status %v and some citations",
			log.done, len(log.citations), chat.RunCompleted)
	}
}

func TestWrongDatabaseIsReported(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, url string
		code      int
		says      string
	}{
		{"no URL of a database", "mysql://root:canary@localhost/x", 2, "DATABASE_URL is not a URL like postgres://"},
		{"a URL with a broken port", "postgres://root:canary@localhost:nowhere/x", 2,
			"DATABASE_URL is not a URL like postgres://"},
		{"no server there", "postgres://root:canary@127.0.0.1:1/x", 1, "The database isn't responding"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := command(t, "", []string{"DATABASE_URL=" + row.url}, "serve", "--addr=127.0.0.1:0",
				"--data="+newDir(t))
			if got.code != row.code || !strings.Contains(got.stderr, row.says) ||
				strings.Contains(got.stderr+got.stdout, "canary") {
				t.Errorf("exit %d, want %d and %q:\n%s", got.code, row.code, row.says, got.stderr)
			}
		})
	}
	got := command(t, "", []string{"FOOTNOTE_BLOBS=blobs"}, "serve")
	if got.code != 2 || !strings.Contains(got.stderr, "FOOTNOTE_BLOBS") {
		t.Errorf("relative FOOTNOTE_BLOBS: got exit code %d, want 2\n%s", got.code, got.stderr)
	}
}
