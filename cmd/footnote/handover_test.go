package main_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// toolHarness is a server with a tool that has a side effect, which it records.
type toolHarness struct {
	url string

	mu     sync.Mutex
	orders map[string]int
}

// newToolHarness starts a toolHarness whose orders take a while.
func newToolHarness(t *testing.T, takes time.Duration) *toolHarness {
	t.Helper()
	h := &toolHarness{orders: map[string]int{}}
	tools := sdk.NewServer(&sdk.Implementation{Name: "warehouse", Version: "1"}, nil)
	type order struct {
		Item string `json:"item"`
	}
	sdk.AddTool(tools, &sdk.Tool{Name: "order"},
		func(ctx context.Context, _ *sdk.CallToolRequest, o order) (*sdk.CallToolResult, any, error) {
			h.mu.Lock()
			h.orders[o.Item]++
			h.mu.Unlock()
			timer := time.NewTimer(takes)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Ordered " + o.Item}}}, nil, nil
		})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return tools }, nil)
	web := httptest.NewServer(handler)
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	h.url = web.URL
	return h
}

// env returns the setting that configures this server. approve is always or never.
func (h *toolHarness) env(approve string) string {
	return fmt.Sprintf(`FOOTNOTE_MCP_SERVERS={"warehouse":{"url":%q,"approve":%q}}`, h.url, approve)
}

func (h *toolHarness) ordered() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[string]int{}
	for item, n := range h.orders {
		out[item] = n
	}
	return out
}

var wanted = regexp.MustCompile(`Order one (\w+)`)

// orders is a script that searches, orders the item that the question names last, and streams a long answer with
// footnotes.
func orders(r scripted.Request) scripted.Reply {
	item := "nothing"
	for _, m := range r.Messages {
		if found := wanted.FindStringSubmatch(m.Text); m.Role == llm.RoleUser && found != nil {
			item = found[1]
		}
	}
	switch r.Turn() {
	case 0:
		return scripted.Reply{
			Text: "I look first.", Calls: calling("search_documents", `{"query":"roof condition"}`).Calls,
		}
	case 1:
		return calling("warehouse__order", fmt.Sprintf(`{"item":%q}`, item))
	}
	const sentence = "The roof of the mill is in poor condition [1]. "
	return scripted.Reply{Text: strings.Repeat(sentence, 8)}
}

// waiting streams a run until a call waits for approval, and returns the call's id.
func (s *server) waiting(run started) string {
	s.t.Helper()
	st, err := s.open("GET", run.Events, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer st.close()
	for {
		ev, err := st.next()
		if err != nil {
			s.t.Fatalf("no call waits: %v", err)
		}
		if ev.name != string(chat.KindReasoningStep) {
			continue
		}
		if step := loose[chat.Step](s.t, ev.data); step.Status == chat.StatusPending {
			return step.CallID
		}
	}
}

func TestCommandsReachReplicaOfRun(t *testing.T) {
	t.Parallel()
	stock := newToolHarness(t, 0)
	model := newModel(t, scripted.Config{Script: orders, Delay: 20 * time.Millisecond})
	both := replicasWith(t, 2, append(model.env(), stock.env("always"))...)
	one, two := both[0], both[1]
	one.add(books...)
	for _, row := range []struct {
		name, path, body string
		waits            bool
		status           chat.RunStatus
		step             chat.Status // of the order
		ordered          string
	}{
		{"cancel", "cancel", "", false, chat.RunCancelled, "", ""},
		{"answer now", "answer-now", "", true, chat.RunCompleted, chat.StatusCancelled, ""},
		{"approve", "steps/%s/approve", "", true, chat.RunCompleted, chat.StatusComplete, "approve"},
		{"edit", "steps/%s/approve", `{"input":{"item":"slate"}}`, true, chat.RunCompleted,
			chat.StatusComplete, "slate"},
		{"deny", "steps/%s/deny", "", true, chat.RunCompleted, chat.StatusSkipped, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			run := one.begin("What is the condition of the roof? Order one " + row.name)
			path := row.path
			if row.waits {
				if id := one.waiting(run); strings.Contains(path, "%s") {
					path = fmt.Sprintf(path, id)
				}
			}
			began := time.Now()
			if r := two.send("POST", "/agent/runs/"+run.RunID+"/"+path, row.body); r.status != http.StatusAccepted {
				t.Fatalf("%d %s, want %d", r.status, r.body, http.StatusAccepted)
			}
			log := two.follow(run.RunID)
			t.Logf("it was over after %v", time.Since(began).Round(time.Millisecond))
			if log.done.Status != row.status {
				t.Errorf("it ended as %+v, want Status %v", log.done, row.status)
			}
			var step chat.Status
			for _, s := range log.steps {
				if s.ToolName == "warehouse__order" {
					step = s.Status
				}
			}
			if step != row.step {
				t.Errorf("the order is %q, want %q", step, row.step)
			}
			if n := stock.ordered()[row.ordered]; row.ordered != "" && n != 1 {
				t.Errorf("%q was ordered %d times, want once", row.ordered, n)
			}
			if r := two.send("POST", "/agent/runs/"+run.RunID+"/"+path, row.body); r.status != http.StatusConflict {
				t.Errorf("after the end: %d %s, want %d", r.status, r.body, http.StatusConflict)
			}
		})
	}
	if got := stock.ordered(); len(got) != 2 {
		t.Errorf("ordered: %v, want 2", got)
	}
}

// A decision that reached another replica while the run's owner died is applied by the replica that takes over the
// run.
func TestDecisionSurvivesCrashOfReplica(t *testing.T) {
	t.Parallel()
	stock := newToolHarness(t, 0)
	model := newModel(t, scripted.Config{Script: orders})
	both := replicasWith(t, 2, append(model.env(), stock.env("always"), shortLease)...)
	one, two := both[0], both[1]
	one.add(books...)
	run := one.begin("What is the condition of the roof? Order one gutter")
	id := one.waiting(run)
	if err := one.cmd.Process.Signal(syscall.SIGSTOP); err != nil { // it no longer responds
		t.Fatal(err)
	}
	at := "/agent/runs/" + run.RunID + "/steps/" + id
	if r := two.send("POST", at+"/approve", ""); r.status != http.StatusAccepted {
		t.Fatalf("%d %s, want %d", r.status, r.body, http.StatusAccepted)
	}
	if r := two.send("POST", at+"/deny", ""); r.status != http.StatusConflict {
		t.Errorf("a second decision: %d %s, want %d", r.status, r.body, http.StatusConflict)
	}
	one.kill()
	log := two.follow(run.RunID)
	checkEnd(t, log)
	if got := stock.ordered(); log.done.Status != chat.RunCompleted || got["gutter"] != 1 || len(got) != 1 {
		t.Errorf("it ended as %+v, ordered %v; want Status %v, 1, 1", log.done, got, chat.RunCompleted)
	}
}

// shortLease makes the lease of a dead replica expire after three seconds. The real lease of 30 s is tested by a
// test of the agent and by "make faults".
const shortLease = "FOOTNOTE_RUN_LEASE=3s"

// The runs of a killed replica are taken over by other replicas, each exactly once.
func TestRunsOfKilledReplicaResumeOnce(t *testing.T) {
	t.Parallel()
	stock := newToolHarness(t, 0)
	model := newModel(t, scripted.Config{Script: orders, Delay: 30 * time.Millisecond})
	list := replicasWith(t, 3, append(model.env(), stock.env("never"), shortLease)...)
	list[0].add(books...)
	var runs []started
	for i := range 4 { // in different states at the kill
		run := list[0].begin(fmt.Sprintf("What is the condition of the roof? Order one slate%d", i))
		runs = append(runs, run)
		seen, err := list[0].open("GET", fmt.Sprintf("%s?after=%d", run.Events, 2*i), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := seen.next(); err != nil {
			t.Fatal(err)
		}
		seen.close()
	}
	list[0].kill()
	died, taken := float64(time.Now().UnixMicro())/1e6, 0
	for i, run := range runs {
		log := list[1+i%2].follow(run.RunID)
		checkEnd(t, log)
		checkNothingTwice(t, log)
		times := 0
		for _, s := range log.steps {
			if s.Step == "restart" {
				times++
				t.Logf("it went on after %.1f s", s.Timestamp-died)
			}
		}
		if log.done.Status != chat.RunCompleted || times > 1 {
			t.Errorf("it was taken over %d times and ended as %+v; want Status %v and at most 1",
				times, log.done, chat.RunCompleted)
		}
		taken += times
	}
	if taken == 0 {
		t.Errorf("no run was under way: got %v, want other than 0", taken)
	}
	for item, n := range stock.ordered() {
		if n != 1 {
			t.Errorf("%s was ordered %d times, want 1", item, n)
		}
	}
}

// Replicas are stopped and replaced one by one while questions are answered: each run continues elsewhere, and ends
// once, with its answer.
func TestStoppedReplicasHandRunsOver(t *testing.T) {
	t.Parallel()
	stock := newToolHarness(t, 300*time.Millisecond)
	model := newModel(t, scripted.Config{Script: orders, Delay: 30 * time.Millisecond})
	env := append(model.env(), "DATABASE_URL="+postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://"+t.TempDir(),
		stock.env("never"))
	at := func() *server { return serve(t, newDir(t), env...) }
	list := []*server{at(), at(), at()}
	list[0].add(books...)
	var runs []started
	for round := range 6 {
		stopping := list[round%3]
		for i := range 4 { // in different states at the stop
			run := stopping.begin(fmt.Sprintf("What is the condition of the roof? Order one slate%d%d", round, i))
			runs = append(runs, run)
			seen, err := stopping.open("GET", fmt.Sprintf("%s?after=%d", run.Events, 2*i), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := seen.next(); err != nil {
				t.Fatal(err)
			}
			seen.close()
		}
		if code := stopping.end(syscall.SIGTERM); code != 0 {
			t.Errorf("exit code of a replica = %d, want 0:\n%s", code, stopping.log)
		}
		list[round%3] = at()
	}
	handed, slowest := 0, 0.0
	for _, run := range runs {
		log := list[0].follow(run.RunID)
		checkEnd(t, log)
		checkNothingTwice(t, log)
		if log.done.Status != chat.RunCompleted {
			t.Errorf("it ended as %+v, want Status %v", log.done, chat.RunCompleted)
		}
		left := 0.0
		for _, s := range log.steps {
			switch s.Step {
			case "handover":
				left = s.Timestamp
				handed++
			case "takeover":
				slowest = max(slowest, s.Timestamp-left)
			case "restart":
				t.Error("shutdown was counted as a crash")
			}
		}
	}
	t.Logf("%d hand-overs of %d runs, the slowest took %.3f s", handed, len(runs), slowest)
	if handed < len(runs)/2 {
		t.Errorf("only %d runs were handed over, want at least %d", handed, len(runs)/2)
	}
	got := stock.ordered()
	for item, n := range got {
		if n != 1 {
			t.Errorf("%s was ordered %d times, want 1", item, n)
		}
	}
	if len(got) != len(runs) {
		t.Errorf("%d orders of %d, want %d", len(got), len(runs), len(runs))
	}
	for i, body := range model.asked() {
		if err := checkHistory(body); err != nil {
			t.Errorf("request %d: %v\n%s", i, err, body)
		}
	}
}

// Without another replica the run waits for the next start.
func TestLastReplicaLeavesRunForNextStart(t *testing.T) {
	t.Parallel()
	stock := newToolHarness(t, 0)
	model := newModel(t, scripted.Config{Script: orders, Delay: 30 * time.Millisecond})
	one := replicasWith(t, 1, append(model.env(), stock.env("never"))...)[0]
	one.add(books...)
	run := one.begin("What is the condition of the roof? Order one tile")
	eventually(t, "it was ordered", func() bool { return stock.ordered()["tile"] == 1 })
	if code := one.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code = %d, want 0:\n%s", code, one.log)
	}
	log := one.restart().follow(run.RunID)
	checkEnd(t, log)
	checkNothingTwice(t, log)
	raw, _ := json.Marshal(log.steps) // steps were decoded from JSON
	if log.done.Status != chat.RunCompleted || !strings.Contains(string(raw), `"takeover"`) ||
		stock.ordered()["tile"] != 1 {
		t.Errorf("it ended as %+v after %s, want Status %v", log.done, raw, chat.RunCompleted)
	}
}

// A conversation with damaged turns continues without them, and the answer reports it.
func TestUnreadableConversationIsIgnored(t *testing.T) {
	t.Parallel()
	database := postgrestest.Shared(t)
	schema := database.Schema(t)
	for name, tt := range map[string]struct {
		env   []string
		spoil func(t *testing.T, dir string) error
	}{
		"SQLite": {nil, func(t *testing.T, dir string) error {
			return changeData(t, dir, `UPDATE run_texts SET request = '{broken'`)
		}},
		"PostgreSQL": {[]string{"DATABASE_URL=" + schema, "FOOTNOTE_BLOBS=file://" + t.TempDir()},
			func(t *testing.T, _ string) error {
				_, err := database.Rows(t.Context(), schema, `UPDATE run_texts SET request = '{broken'`)
				return err
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, newDir(t), tt.env...)
			s.add(books...)
			body := `{"message": "What is the rent of the mill?", "session_id": "s"}`
			first := s.send("POST", "/agent/chat", body)
			if first.status != http.StatusOK || !strings.Contains(first.body, `"notes":[]`) {
				t.Fatalf("before: %d %s; want %d and %q in it", first.status, first.body, http.StatusOK, `"notes":[]`)
			}
			if err := tt.spoil(t, s.dir); err != nil {
				t.Fatal(err)
			}
			shown := s.send("GET", "/c/s", nil, header{"Accept", "text/html"})
			if shown.status != http.StatusOK || !strings.Contains(shown.body, `data-testid="turns-lost"`) ||
				!strings.Contains(shown.body, `name="message"`) {
				t.Errorf("the conversation's page: %d %.2000s; want a sentence and the question box", shown.status,
					shown.body)
			}
			got := s.send("POST", "/agent/chat", body)
			if got.status != http.StatusOK || !strings.Contains(got.body, "900 pounds") ||
				!strings.Contains(
					got.body, `"notes":["The conversation so far can't be read: answering without it."]`,
				) {
				t.Errorf("after: %d %s; want %d and %q in it", got.status, got.body, http.StatusOK, "900 pounds")
			}
			run := loose[started](t, got.body)
			page := s.send("GET", "/runs/"+run.RunID+"/stream", nil, header{"Accept", "text/event-stream"})
			if page.status != http.StatusOK || !strings.Contains(page.body, "so far can") ||
				!strings.Contains(page.body, "answering without it") {
				t.Errorf("the page's stream: %d %.3000s; want %d, %q in it, %q in it",
					page.status, page.body, http.StatusOK, "so far can", "answering without it")
			}
		})
	}
}

// A damaged turn does not hide the others: it is counted and reported wherever the conversation is read.
func TestDamagedTurnsAreCountedAndSkipped(t *testing.T) {
	t.Parallel()
	database := postgrestest.Shared(t)
	schema := database.Schema(t)
	for name, tt := range map[string]struct {
		env    []string
		spoil  func(t *testing.T, dir, statement string) error
		events string // of the second run
	}{
		"SQLite": {nil, func(t *testing.T, dir, statement string) error {
			return changeData(t, dir, statement)
		},
			`UPDATE events SET body = CAST('{broken' AS BLOB) WHERE id >> 20 = (SELECT n FROM runs ORDER BY n LIMIT ` +
				`1 OFFSET 1)`},
		"PostgreSQL": {[]string{"DATABASE_URL=" + schema, "FOOTNOTE_BLOBS=file://" + t.TempDir()},
			func(t *testing.T, _, statement string) error {
				_, err := database.Rows(t.Context(), schema, statement)
				return err
			}, `UPDATE events SET body = '{broken' WHERE run = (SELECT n FROM runs ORDER BY n LIMIT 1 OFFSET 1)`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, newDir(t), tt.env...)
			s.add(books...)
			ask := func(question string) reply {
				return s.send("POST", "/agent/chat", `{"message": "`+question+`", "session_id": "s"}`)
			}
			ask("What is the rent of the mill?")
			ask("Who repairs the roof?")
			ask("Who renewed the roof?")
			ask("Where does the damp come from?")
			s.end(os.Interrupt) // the messages are persistent
			const request = `UPDATE run_texts SET request = '{broken' WHERE run = (SELECT n FROM runs ORDER BY n ` +
				`LIMIT 1)`
			const missing = `DELETE FROM run_texts WHERE run = (SELECT n FROM runs ORDER BY n LIMIT 1 OFFSET 2)`
			for _, statement := range []string{request, missing, tt.events} {
				if err := tt.spoil(t, s.dir, statement); err != nil {
					t.Fatal(err)
				}
			}
			s = s.restart()
			history := s.send("GET", "/agent/session/s", nil)
			const notes = `"notes":["3 questions of this conversation are damaged and can't be shown."]`
			if history.status != http.StatusOK || !strings.Contains(history.body, notes) ||
				!strings.Contains(history.body, "blocked gutter") || strings.Contains(history.body, "900 pounds") ||
				strings.Contains(history.body, "Who repairs the roof?") ||
				strings.Contains(history.body, "renewed the roof") {
				t.Errorf("GET /agent/session/s: %d %s; want %d, %q in it, %q in it, no %q in it, no %q in it, no "+
					"%q in it",
					history.status, history.body, http.StatusOK, notes, "blocked gutter", "900 pounds",
					"Who repairs the roof?", "renewed the roof")
			}
			page := s.send("GET", "/c/s", nil, header{"Accept", "text/html"})
			const note = "3 questions of this conversation are damaged and can&#39;t be shown."
			if page.status != http.StatusOK || !strings.Contains(page.body, note) ||
				!strings.Contains(page.body, "blocked gutter") {
				t.Errorf("GET /c/s: %d %.3000s; want %d, %q in it, %q in it",
					page.status, page.body, http.StatusOK, note, "blocked gutter")
			}
			waiting := s.send("POST", "/sessions/s/queue", `{"message": "What is the rent?"}`)
			if waiting.status >= 500 {
				t.Errorf("a waiting question: %d %s, want less than 500", waiting.status, waiting.body)
			}
			if got := ask("And the roof?"); got.status != http.StatusOK ||
				!strings.Contains(
					got.body, `"notes":["3 turns of this conversation can't be read: answering without them."]`,
				) {
				t.Errorf("the next question: %d %s, want %d", got.status, got.body, http.StatusOK)
			}
		})
	}
}

// changeData executes a statement on the database of the data directory dir. It waits for the server's lock.
func changeData(t *testing.T, dir, statement string) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "footnote.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), statement)
	return err
}
