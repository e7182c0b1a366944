package main_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/milvus/milvustest"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// semantic waits until every document has its vectors.
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

// vectors waits until /health says of the vectors what it should.
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

// meaning is a semantic search.
func (s *server) meaning(query string) (status int, body string) {
	s.t.Helper()
	r := s.send("POST", "/search", fmt.Sprintf(`{"query": %q, "mode": "semantic", "top_k": 10}`, query))
	return r.status, r.body
}

// best returns the passages that a search finds, by their place, with their scores in thousandths, but for those that
// share the last score: which of them are in is chance.
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

// documents are the files of found passages, the best one first, the others by name. Passages that are equally good are
// ordered by ids that differ between libraries, so their scores, which are made of ranks, are a little different; those
// under 0.55 are from one index only.
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

func TestEveryModeFindsTheSame(t *testing.T) {
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
	known := map[search]map[string]int{} // what SQLite finds
	for _, q := range questions {
		for _, kind := range []string{"lexical", "semantic", "hybrid"} {
			known[search{q.ask, kind}] = plain.best(q.ask, kind)
		}
	}
	for _, mode := range []struct {
		name   string
		server *server
		says   string // of the vectors; empty: there are none
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

func TestTheDoctorNamesTheMilvusServer(t *testing.T) {
	t.Parallel()
	for kind, want := range map[milvustest.Kind]string{
		milvustest.Standalone: "answers: Milvus v2.3.5-lite", milvustest.Lite: "answers: Milvus milvus_lite-3.2.2",
	} {
		got := command(t, "", []string{"MILVUS_ADDRESS=" + milvustest.Shared(t, kind)}, "doctor", "--data="+newDir(t))
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%s: %q does not say %q", kind, got.stdout, want)
		}
	}
}

func TestMilvusMayComeAndGo(t *testing.T) {
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
