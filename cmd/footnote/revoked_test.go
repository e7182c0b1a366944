package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// silentModel accepts every question and never answers. gone returns the number of cancelled requests.
func silentModel(t *testing.T) (m *modelServer, gone func() int) {
	t.Helper()
	m = newModel(t, scripted.Config{Delay: time.Hour})
	var mu sync.Mutex
	n := 0
	inner := m.web.Config.Handler
	m.web.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner.ServeHTTP(w, r)
		mu.Lock()
		defer mu.Unlock()
		if strings.HasSuffix(r.URL.Path, "/chat/completions") && r.Context().Err() != nil {
			n++
		}
	})
	return m, func() int { mu.Lock(); defer mu.Unlock(); return n }
}

func TestRevokedKeyEndsWorkOnAllReplicas(t *testing.T) {
	t.Parallel()
	model, gone := silentModel(t)
	env := append(model.env(), "DATABASE_URL="+postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://"+t.TempDir(),
		"FOOTNOTE_KEYS="+filepath.Join(t.TempDir(), "keys"))
	one, two := serve(t, newDir(t), env...), serve(t, newDir(t), env...)
	anna, bert := newKey(t, one.dir, "anna", env...), newKey(t, one.dir, "bert", env...)
	as := func(s *server, key string) *server { who := *s; who.key = key; return &who }
	one.key = bert
	one.add(books[0])
	begin := func(s *server, session string) started {
		r := s.send("POST", "/chat", `{"message": "How is the harbour?", "session_id": "`+session+`"}`)
		if r.status != http.StatusAccepted {
			t.Fatalf("POST /chat: %d %s, want %d", r.status, r.body, http.StatusAccepted)
		}
		return loose[started](t, r.body)
	}
	as(one, anna).add(books[0])
	first, second, other := begin(as(one, anna), "a"), begin(as(two, anna), "b"), begin(as(two, bert), "c")
	if r := as(two, anna).send("POST", "/sessions/a/queue",
		`{"message": "And the lamp?"}`); r.status != http.StatusAccepted {
		t.Fatalf("POST queue: %d %s, want %d", r.status, r.body, http.StatusAccepted)
	}
	asked := as(one, anna)
	ended := make(chan string, 2)
	for _, accept := range []string{"application/json", "text/event-stream"} {
		go func() {
			r, err := asked.try(
				"POST", "/mcp",
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask",`+
					`"arguments":{"question":"How is the mill?"}}}`, header{"Accept", accept},
			)
			if err != nil {
				r.body = err.Error()
			}
			ended <- r.body
		}()
	}
	eventually(t, "the model has all five questions", func() bool { return len(model.asked()) >= 5 })
	if got := command(t, "", env, "key", "revoke", "anna"); got.code != 0 {
		t.Fatalf("key revoke: %s", got.stderr)
	}
	for range 2 {
		if body := <-ended; strings.Contains(body, "Sources") {
			t.Errorf("POST /mcp answered %s, want no %q in it", body, "Sources")
		}
	}
	eventually(t, "anna's four requests to the model are given up", func() bool { return gone() == 4 })
	again := newKey(t, one.dir, "anna", env...)
	for _, run := range []started{first, second} {
		log := as(one, again).follow(run.RunID)
		if log.done.Status != chat.RunCancelled || log.done.Error == nil ||
			!strings.Contains(log.done.Error.Message, "Your API key was revoked") {
			t.Errorf("a run of anna's ended as %+v; want Status %v and %q in it",
				log.done, chat.RunCancelled, "Your API key was revoked")
		}
	}
	r := as(two, again).send("GET", "/sessions/a/queue", nil)
	if !strings.Contains(r.body, "Your API key was revoked before you asked this question.") {
		t.Errorf("the waiting question: %s, want %q in it",
			r.body, "Your API key was revoked before you asked this question.")
	}
	if r := as(two, bert).send("GET", "/agent/runs/"+other.RunID, nil); !strings.Contains(r.body, `"running"`) {
		t.Errorf("bert's run: %.300s, want %q in it", r.body, `"running"`)
	}
	if n := len(model.asked()); n != 5 {
		t.Errorf("the model was asked %d questions, want 5", n)
	}
}

// asUser returns the server with a user's key.
func asUser(s *server, key string) *server { who := *s; who.key = key; return &who }

// askedAtOnce sends n concurrent questions to each server, and counts the statuses. Responses with 429 must name
// the limit.
func askedAtOnce(t *testing.T, n int, limit string, servers ...*server) map[int]int {
	t.Helper()
	var mu sync.Mutex
	statuses := map[int]int{}
	var group sync.WaitGroup
	for i := range n * len(servers) {
		group.Go(func() {
			r, err := servers[i%len(servers)].try("POST", "/chat",
				fmt.Sprintf(`{"message": "How is mill number %d?", "context_text": "Each mill turns."}`, i))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("POST /chat: %v, want no error", err)
				return
			}
			statuses[r.status]++
			if r.status == http.StatusTooManyRequests && !strings.Contains(r.body, limit) {
				t.Errorf("refused: %s, want the limit %s", r.body, limit)
			}
		})
	}
	group.Wait()
	return statuses
}

func TestReplicasShareUserLimits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ limit, setting string }{
		{"runs_at_once", "FOOTNOTE_LIMITS_RUNS_AT_ONCE=3"},
		{"questions_per_minute", "FOOTNOTE_LIMITS_QUESTIONS_PER_MINUTE=3"},
	} {
		t.Run(tt.limit, func(t *testing.T) {
			t.Parallel()
			model, _ := silentModel(t)
			env := append(model.env(), "DATABASE_URL="+postgrestest.Shared(t).Schema(t),
				"FOOTNOTE_BLOBS=file://"+t.TempDir(),
				"FOOTNOTE_KEYS="+filepath.Join(t.TempDir(), "keys"), tt.setting)
			one, two := serve(t, newDir(t), env...), serve(t, newDir(t), env...)
			anna, bert := newKey(t, one.dir, "anna", env...), newKey(t, one.dir, "bert", env...)
			for user, key := range map[string]string{"anna": anna, "bert": bert} {
				got := askedAtOnce(t, 6, tt.limit, asUser(one, key), asUser(two, key))
				if got[http.StatusAccepted] != 3 || got[http.StatusTooManyRequests] != 9 {
					t.Errorf("%s's twelve questions at two servers: %v, want 3 accepted and 9 refused", user, got)
				}
			}
		})
	}
}

func TestUserSpendingIsMigrated(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	key := newKey(t, dir, "anna")
	limit := "FOOTNOTE_LIMITS_QUESTIONS_PER_DAY=2"
	old := serve(t, dir, limit)
	asUser(old, key).run("How is the mill?")
	old.end(os.Interrupt)
	env := append(emptyPostgres(t), "FOOTNOTE_KEYS="+filepath.Join(dir, "keys"), limit)
	_, said := move(t, []string{"FOOTNOTE_DATA=" + dir}, env)
	if !strings.Contains(said, "Not included: the hashes of API keys") {
		t.Errorf("output of backup and restore = %s, want no hashes of keys", said)
	}
	s := asUser(serve(t, newDir(t), env[1:]...), key)
	s.run("How is the weir?")
	if r := s.send("POST", "/chat", `{"message": "How is the lamp?"}`); r.status != http.StatusTooManyRequests ||
		!strings.Contains(r.body, "questions_per_day") {
		t.Errorf("the third question of the day: %d %s, want it refused", r.status, r.body)
	}
}
