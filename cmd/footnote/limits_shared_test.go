package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// asUser is a server as the user of a key sees it.
func asUser(s *server, key string) *server { who := *s; who.key = key; return &who }

// askedAtOnce asks n questions at each server, all at once, and counts the statuses. Answers with 429 must name the
// limit.
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

func TestServersOnOneStoreShareTheLimitsOfAUser(t *testing.T) {
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

func TestWhatAUserHasSpentIsCopied(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	key := newKey(t, dir, "anna")
	limit := "FOOTNOTE_LIMITS_QUESTIONS_PER_DAY=2"
	old := serve(t, dir, limit)
	asUser(old, key).run("How is the mill?")
	old.end(os.Interrupt)
	env := []string{
		"FOOTNOTE_DATA=" + dir, "DATABASE_URL=" + postgrestest.Shared(t).Schema(t),
		"FOOTNOTE_KEYS=" + filepath.Join(dir, "keys"), limit,
	}
	if got := command(t, "", env, "migrate"); got.code != 0 || strings.Contains(got.stdout, "DIFFERENT") {
		t.Fatalf("migrate: %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	s := asUser(serve(t, newDir(t), env[1:]...), key)
	s.run("How is the weir?")
	if r := s.send("POST", "/chat", `{"message": "How is the lamp?"}`); r.status != http.StatusTooManyRequests ||
		!strings.Contains(r.body, "questions_per_day") {
		t.Errorf("the third question of the day: %d %s, want it refused", r.status, r.body)
	}
}
