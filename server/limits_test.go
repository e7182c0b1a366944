package server

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio/ssetest"
)

// wantOver fails the test unless a reply refuses a request for a limit, with all that it has to say.
func (r reply) wantOver(t *testing.T, what string, status int, limit chat.LimitName) {
	t.Helper()
	wait, err := strconv.Atoi(r.header.Get("Retry-After"))
	if r.status != status || err != nil || wait < 1 {
		t.Errorf("%s: status %d, Retry-After %q, want %d and seconds: %s", what, r.status, r.header.Get("Retry-After"),
			status, r.body)
		return
	}
	p := r.problem(t)
	if p.Limit != limit || (p.Code != chat.CodeTooMany && p.Code != chat.CodeDiskFull) ||
		!strings.HasSuffix(p.Detail, ".") {
		t.Errorf("%s: %+v, want the limit %s and a sentence", what, p, limit)
	}
}

func tool(name, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` +
		arguments + `}}`
}

func TestQuestionsCountAtEveryEntrance(t *testing.T) {
	b, _, given := keyed(t, "anna")
	b.stage.play = script()
	b.stage.store.SetLimits(chat.Limits{chat.QuestionsPerMinute: 1})
	anna := []string{"X-API-Key", given["anna"]}
	first := b.send("POST", "/chat", `{"message":"Why?","session_id":"s"}`, anna...)
	if first.status != 202 {
		t.Fatalf("%d %s, want 202", first.status, first.body)
	}
	var run api.Accepted
	first.decode(t, &run)
	entrances := []struct{ path, body string }{
		{"/chat", `{"message":"Why?"}`},
		{"/chat", `{"message":"Why?","session_id":"s","sibling":"` + run.RunID + `"}`},
		{"/agent/chat", `{"message":"Why?"}`},
		{"/agent/chat/structured", `{"message":"Why?"}`},
		{"/agent/query", `{"question":"Why?"}`},
		{"/v1/chat/completions", `{"model":"footnote","messages":[{"role":"user","content":"Why?"}]}`},
		{"/v1/chat/completions", `{"model":"footnote","stream":true,"messages":[{"role":"user","content":"Why?"}]}`},
		{"/v1/responses", `{"model":"footnote","input":"Why?"}`},
		{"/ui/chat", `{"id":"chat","messages":[{"role":"user","parts":[{"type":"text","text":"Why?"}]}]}`},
		{"/ag-ui", `{"threadId":"thread","runId":"NEW","messages":[{"role":"user","content":"Why?"}]}`},
		{"/agent/runs/" + run.RunID + "/steps/c1/rerun", `{"input":{"query":"roof"}}`},
		{"/mcp", tool("ask", `{"question":"Why?"}`)},
	}
	send := func(path, body string) reply {
		return b.send("POST", path, strings.Replace(body, "NEW", chat.NewID(), 1), anna...)
	}
	for i, e := range entrances {
		b.stage.store.SetLimits(chat.Limits{chat.QuestionsPerMinute: int64(i) + 2})
		if got := send(e.path, e.body); got.status >= 300 ||
			strings.Contains(got.body, `"isError":true`) {
			t.Errorf("%s at the limit: %d %s; want less than 300 and no %q in it",
				e.path, got.status, got.body, `"isError":true`)
		}
		for _, over := range entrances {
			got := send(over.path, over.body)
			switch {
			case over.path == "/mcp":
				if !strings.Contains(got.body, `"isError":true`) ||
					!strings.Contains(got.body, "questions in a minute") ||
					!strings.Contains(got.body, `"limit":"questions_per_minute"`) ||
					!strings.Contains(got.body, `"retry_after_seconds":`) ||
					!strings.Contains(got.body, `"retry_at":"`) {
					t.Errorf("/mcp over the limit: %s; want %q in it, %q in it, %q in it, %q in it, %q in it",
						got.body, `"isError":true`, "questions in a minute", `"limit":"questions_per_minute"`,
						`"retry_after_seconds":`, `"retry_at":"`)
				}
			case strings.HasPrefix(over.path, "/v1/"):
				if got.status != 429 || got.header.Get("Retry-After") == "" ||
					!strings.Contains(got.body, `"code":"too_many"`) {
					t.Errorf("%s over the limit: %d %s; want 429 and %q in it",
						over.path, got.status, got.body, `"code":"too_many"`)
				}
			case over.path == "/ui/chat", over.path == "/ag-ui":
				if got.status != 429 || got.header.Get("Retry-After") == "" ||
					!strings.HasPrefix(got.body, "You asked ") {
					t.Errorf("%s over the limit: %d %s; want 429, Retry-After and a sentence",
						over.path, got.status, got.body)
				}
			default:
				got.wantOver(t, over.path, 429, chat.QuestionsPerMinute)
			}
		}
	}
}

func TestParallelQuestionsStartAsManyRunsAsTheLimitAllows(t *testing.T) {
	b, _, given := keyed(t, "anna", "bert")
	b.stage.store.SetLimits(chat.Limits{chat.RunsAtOnce: 4})
	var taken atomic.Int64
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			switch got := b.send("POST", "/chat", `{"message":"Why?"}`, "X-API-Key", given["anna"]); got.status {
			case http.StatusAccepted:
				taken.Add(1)
			default:
				got.wantOver(t, "one too many", 429, chat.RunsAtOnce)
			}
		})
	}
	group.Wait()
	if taken.Load() != 4 {
		t.Errorf("%d of 50 questions were taken, want 4", taken.Load())
	}
	if got := b.send("POST", "/chat", `{"message":"Why?"}`, "X-API-Key", given["bert"]); got.status != 202 {
		t.Errorf("another user: %d %s, want 202", got.status, got.body)
	}
}

func TestSearchesCountAtEveryEntrance(t *testing.T) {
	b, _, given := keyed(t, "anna", "bert")
	b.stage.store.SetLimits(chat.Limits{chat.SearchesPerMinute: 3})
	ask := func(user, path, body string) reply { return b.send("POST", path, body, "X-API-Key", given[user]) }
	if got := ask("anna", "/search", `{"query":" "}`); got.status != 400 {
		t.Errorf("an empty search: %d, want 400", got.status)
	}
	search, retrieve, mcp := `{"query":"roof"}`, `{"query":"roof"}`, tool("search", `{"query":"roof"}`)
	for path, body := range map[string]string{"/search": search, "/agent/retrieve": retrieve, "/mcp": mcp} {
		if got := ask("anna", path, body); got.status != 200 || strings.Contains(got.body, `"isError":true`) {
			t.Errorf("%s at the limit: %d %s; want 200 and no %q in it", path, got.status, got.body, `"isError":true`)
		}
	}
	ask("anna", "/search", search).wantOver(t, "/search", 429, chat.SearchesPerMinute)
	ask("anna", "/agent/retrieve", retrieve).wantOver(t, "/agent/retrieve", 429, chat.SearchesPerMinute)
	if got := ask("anna", "/mcp", mcp); !strings.Contains(got.body, "You searched 3 times in a minute") {
		t.Errorf("/mcp over the limit: %s, want %q in it", got.body, "You searched 3 times in a minute")
	}
	if got := ask("bert", "/search", search); got.status != 200 {
		t.Errorf("another user: %d, want 200", got.status)
	}
}

func TestAUserHasSoManyStreams(t *testing.T) {
	b, _, given := keyedWith(t, []string{"anna", "bert"}, func(c *Config) {
		c.UserLimits = chat.Limits{chat.StreamsAtOnce: 2}
	})
	run, _, err := b.stage.Start(t.Context(), "anna", chat.RunRequest{Message: "Is the roof sound?"})
	if err != nil {
		t.Fatal(err)
	}
	events := "/agent/runs/" + run.ID + "/events"
	var open []*ssetest.Reader
	for range 2 {
		_, r := b.open(events, "X-API-Key", given["anna"])
		if _, err := r.Line(); err != nil {
			t.Fatal(err)
		}
		open = append(open, r)
	}
	b.send("GET", events, "", "X-API-Key", given["anna"]).wantOver(t, "a third", 429, chat.StreamsAtOnce)
	b.send("POST", "/chat", `{"message":"Why?"}`, "X-API-Key", given["anna"], "Accept", "text/event-stream").wantOver(t,
		"a question with its stream", 429, chat.StreamsAtOnce)
	list, _, err := b.store.Sessions(t.Context(), chat.Scope{User: "anna"}, chat.SessionQuery{})
	if err != nil || len(list) != 1 {
		t.Errorf("%d conversations, %v; want 1: a question whose stream has no place is not asked", len(list), err)
	}
	theirs, _, err := b.stage.Start(t.Context(), "bert", chat.RunRequest{Message: "Is the roof sound?"})
	if err != nil {
		t.Fatal(err)
	}
	_, other := b.open("/agent/runs/"+theirs.ID+"/events", "X-API-Key", given["bert"])
	if _, err := other.Line(); err != nil {
		t.Errorf("another user: %v, want no error", err)
	}
	b.append(run.ID, chat.RunDone{Status: chat.RunCompleted})
	b.append(theirs.ID, chat.RunDone{Status: chat.RunCompleted})
	for _, r := range append(open, other) {
		r.All(t)
	}
	for b.streams.Count() > 0 { // the places come back when the handlers return
		b.send("GET", "/readyz", "")
	}
}

// upload sends files of a user with so many bytes each.
func (b *bench) upload(key string, sizes ...int) reply {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i, size := range sizes {
		name := fmt.Sprintf("%d-%d.md", size, i)
		part, err := form.CreateFormFile("files", name)
		if err == nil {
			_, err = io.WriteString(part, "# "+name+"\n\n"+strings.Repeat("roof ", size/5))
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		b.t.Fatal(err)
	}
	return b.send("POST", "/documents", body.String(), "X-API-Key", key, "Content-Type", form.FormDataContentType())
}

func TestUploadsCount(t *testing.T) {
	b, _, given := keyed(t, "anna", "bert", "carl")
	b.stage.store.SetLimits(chat.Limits{chat.FilesPerDay: 2, chat.UploadMiBPerDay: 3, chat.DiskMiB: 2})
	var some api.Uploaded
	got := b.upload(given["anna"], 100, 200, 300)
	got.decode(t, &some)
	if got.status != 202 || len(some.Documents) != 2 || len(some.Rejected) != 1 ||
		some.Rejected[0].Code != chat.CodeTooMany || !strings.Contains(some.Rejected[0].Detail, "2 files in 24 hours") {
		t.Errorf("three files: %d %s, want 202", got.status, got.body)
	}
	b.upload(given["anna"], 400).wantOver(t, "a fourth", 429, chat.FilesPerDay)
	// A file that its limit has no room for leaves nothing behind, and the next one that fits is taken.
	some = api.Uploaded{}
	got = b.upload(given["bert"], 3<<20, 1<<20)
	got.decode(t, &some)
	if len(some.Documents) != 1 || len(some.Rejected) != 1 || !strings.Contains(some.Rejected[0].Detail, "MiB") {
		t.Errorf("a large file and a small one: %d %s", got.status, got.body)
	}
	if got = b.upload(given["carl"], 2<<20); got.status != http.StatusInsufficientStorage ||
		got.header.Get("Retry-After") != "60" || !strings.Contains(got.body, `"disk_full"`) ||
		!strings.Contains(got.body, "Delete some first") {
		t.Errorf("more than the disk's share: %d %s; want %d, %q in it, %q in it",
			got.status, got.body, http.StatusInsufficientStorage, `"disk_full"`, "Delete some first")
	}
}
