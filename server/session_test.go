package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio/ssetest"
)

func TestHistoryIsLimitedToFiftyMessages(t *testing.T) {
	b := newHarness(t)
	output, err := json.Marshal(map[string]any{
		"total_found": 3, "documents": []map[string]any{
			{"score": 0.9, "similarity_score": 0.5}, {"score": 1, "similarity_score": 1}, {"score": 0.2},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.stage.events = []chat.Payload{
		chat.Step{
			CallID: "c1", Step: "search_documents", ToolName: "search_documents", ActionType: chat.ActionSearching,
			Status:    chat.StatusComplete,
			ToolInput: json.RawMessage(`{"query":"roof"}`), ToolOutput: output, Timestamp: 1.5,
		},
		chat.Answer{Markdown: "Yes."}, chat.RunDone{Status: chat.RunCompleted},
	}
	for i := range 30 {
		if got := b.send(
			"POST", "/chat", fmt.Sprintf(`{"message":"Question %d","session_id":"user_7_conv_9"}`, i),
		); got.status != 202 {
			t.Fatalf("question %d: %d %s, want 202", i, got.status, got.body)
		}
	}
	got := b.send("GET", "/agent/session/user_7_conv_9", "")
	var body api.SessionHistory
	got.decode(t, &body)
	if got.status != 200 || len(body.Messages) != 50 || body.TurnCount != 30 || body.StartedAt.IsZero() {
		t.Fatalf("got %d with %d messages, %d turns; want 200, 50 messages, 30",
			got.status, len(body.Messages), body.TurnCount)
	}
	first, last := body.Messages[0], body.Messages[49]
	if first.Role != "user" || first.Content != "Question 5" || last.Role != "assistant" || last.Content != "Yes." ||
		last.Timestamp.IsZero() {
		t.Errorf("from %+v to %+v; want Role %q, Content %q, Role %q, Content %q",
			first, last, "user", "Question 5", "assistant", "Yes.")
	}
	want := api.Retrieval{
		ToolName: "search_documents", Query: "roof", ResultsCount: 3, AvgSimilarity: 0.75,
		Timestamp: time.UnixMicro(1_500_000).UTC(),
	}
	if len(body.RetrievalHistory) != 25 || body.RetrievalHistory[0] != want {
		t.Errorf("%d retrievals, the first %+v; want 25 and %+v",
			len(body.RetrievalHistory), body.RetrievalHistory[0], want)
	}
}

func TestHistoryIncludesToolsOnRequest(t *testing.T) {
	b := newHarness(t, func(c *Config) {
		c.Rules = func(b chat.Budget) string {
			return fmt.Sprintf("Search before you answer, %d times.", b.RetrievalCalls)
		}
	})
	b.stage.events = []chat.Payload{
		chat.RunStarted{SessionID: "s1", Question: "Is it sound?", Budget: chat.Budget{Steps: 3, RetrievalCalls: 4}},
		chat.Step{
			CallID: "c1", Step: "web_search", ToolName: "web_search", ActionType: chat.ActionSearching,
			Status: chat.StatusComplete, Thought: "I look.",
			ToolInput:  json.RawMessage(`{"query":"roof"}`),
			ToolOutput: json.RawMessage(`{"pages":[{"title":"a"},{"title":"b"}]}`), Timestamp: 1.5,
		},
		chat.Step{CallID: "c2", Step: "enough", ActionType: chat.ActionAnalysing, Status: chat.StatusComplete},
		chat.Answer{Markdown: "Yes."}, chat.RunDone{Status: chat.RunCompleted},
	}
	b.send("POST", "/chat", `{"message":"Is it sound?","session_id":"s1"}`)
	var plain, body api.SessionHistory
	b.send("GET", "/agent/session/s1?tools=false", "").decode(t, &plain)
	if len(plain.Messages) != 2 || plain.RetrievalHistory[0].ResultsCount != 2 {
		t.Errorf("without tools: %+v; want 2 messages and RetrievalHistory[0].ResultsCount 2", plain)
	}
	b.send("GET", "/agent/session/s1?tools=true", "").decode(t, &body)
	var roles []string
	for _, m := range body.Messages {
		roles = append(roles, m.Role)
	}
	if got := strings.Join(roles, " "); got != "system user assistant tool assistant" {
		t.Fatalf("roles: %s, want %q", got, "system user assistant tool assistant")
	}
	if rules := body.Messages[0]; rules.Content != "Search before you answer, 4 times." ||
		!rules.Timestamp.Equal(body.StartedAt) || rules.RunID != "" {
		t.Errorf("rules: %+v; want Content %q and RunID nothing", rules, "Search before you answer, 4 times.")
	}
	asked, told := body.Messages[2], body.Messages[3]
	if asked.Content != "I look." || len(asked.ToolCalls) != 1 || asked.ToolCalls[0].ID != "c1" ||
		string(asked.ToolCalls[0].Arguments) != `{"query":"roof"}` {
		t.Errorf("asked: %+v; want Content %q, 1 tool call, ToolCalls[0].ID %q, %q",
			asked, "I look.", "c1", `{"query":"roof"}`)
	}
	if told.Name != "web_search" || told.CallID != "c1" || !strings.Contains(told.Content, `"title":"b"`) ||
		!told.Timestamp.Equal(time.UnixMicro(1_500_000)) {
		t.Errorf("message = %+v; want Name %q, CallID %q, %q in it", told, "web_search", "c1", `"title":"b"`)
	}
	for i := range 20 {
		b.send("POST", "/chat", fmt.Sprintf(`{"message":"Question %d","session_id":"s1"}`, i))
	}
	b.send("GET", "/agent/session/s1?tools=true", "").decode(t, &body)
	if len(body.Messages) != api.HistoryMessages || body.Messages[0].Role != api.RoleSystem ||
		body.Messages[api.HistoryMessages-1].Content != "Yes." ||
		body.Messages[api.HistoryMessages-4].Content != "Question 19" {
		t.Errorf("%d messages from %+v; want %d messages and Role %v",
			len(body.Messages), body.Messages[0], api.HistoryMessages, api.RoleSystem)
	}
	for _, value := range []string{"maybe", ""} {
		if got := b.send("GET", "/agent/session/s1?tools="+value, ""); got.status != 400 {
			t.Errorf("tools=%s: %d, want 400", value, got.status)
		}
	}
}

func TestDuplicateQueryParametersAreRejected(t *testing.T) {
	b := newHarness(t)
	for path, want := range map[string]int{
		"/sessions?limit=&limit=5": 400, "/feedback?rating=up&rating=down": 400, "/documents?q=a&q=b": 400,
		"/sessions?limit=5&q=x": 200, "/health?x=1&x=2": 200,
	} {
		if got := b.send("GET", path, ""); got.status != want ||
			want == 400 && got.problem(t).Code != chat.CodeInvalid {
			t.Errorf("%s = %d %s, want %d", path, got.status, got.body, want)
		}
	}
}

func TestSessionsAreListedRenamedHiddenAndRestored(t *testing.T) {
	b := newHarness(t)
	b.stage.events = []chat.Payload{chat.RunDone{Status: chat.RunCompleted}}
	var ok, second api.Accepted
	b.send("POST", "/chat", `{"message":"Is the roof sound?","session_id":"s1"}`).decode(t, &ok)
	b.send("POST", "/chat", `{"message":"And the walls?","session_id":"s1"}`).decode(t, &second)
	for _, tt := range []struct {
		name, method, path, body string
		want                     int
	}{
		{"rename", "PATCH", "/sessions/s1", `{"title":" The\n roof "}`, 204},
		{"rename to nothing", "PATCH", "/sessions/s1", `{"title":" "}`, 400},
		{"rename what is not there", "PATCH", "/sessions/none", `{"title":"x"}`, 404},
		{"an id that can't be", "GET", "/agent/session/a%20b", "", 400},
		{"a session that is not there", "GET", "/agent/session/none", "", 404},
		{"show the older branch", "POST", "/sessions/s1/head", `{"run_id":"` + ok.RunID + `"}`, 204},
		{"show a run of nowhere", "POST", "/sessions/s1/head", `{"run_id":"` + chat.NewID() + `"}`, 404},
		{"show what can't be a run", "POST", "/sessions/s1/head", `{"run_id":"x"}`, 404},
		{"delete", "DELETE", "/agent/session/s1", "", 204},
		{"what is deleted is not there", "GET", "/agent/session/s1", "", 404},
		{"nor is its run", "GET", "/agent/runs/" + ok.RunID, "", 404},
		{"nor can it be deleted again", "DELETE", "/sessions/s1", "", 404},
		{"restore", "POST", "/sessions/s1/restore", "", 204},
		{"it is back", "GET", "/agent/session/s1", "", 200},
		{"a limit that is none", "GET", "/sessions?limit=x", "", 400},
	} {
		if got := b.send(tt.method, tt.path, tt.body); got.status != tt.want {
			t.Errorf("%s: %d %s, want %d", tt.name, got.status, got.body, tt.want)
		}
	}
	var history api.SessionHistory
	b.send("GET", "/agent/session/s1", "").decode(t, &history)
	if len(history.Messages) != 1 || history.Messages[0].Content != "Is the roof sound?" {
		t.Errorf("the branch shown is %+v; want 1 message and %q", history.Messages, "Is the roof sound?")
	}
	var list struct{ Sessions []api.SessionInfo }
	b.send("GET", "/sessions?q=roof", "").decode(t, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].Title != "The roof" || list.Sessions[0].SessionID != "s1" {
		t.Errorf("sessions = %+v; want 1 session, %q, %q", list.Sessions, "The roof", "s1")
	}
}

func TestMethodOverrideRequiresPage(t *testing.T) {
	b := newHarness(t)
	run := b.begin("Is the roof sound?")
	at := "/sessions/" + run.SessionID
	page := []string{"Content-Type", formKind, "Accept", "text/html"}
	for _, tt := range []struct {
		name, method, query, body string
		headers                   []string
		status                    int
	}{
		{"a program", "POST", "?_method=DELETE", "", []string{"Content-Type", formKind}, 405},
		{"a link", "GET", "?_method=DELETE", "", page, 200},
		{"another site", "POST", "?_method=DELETE", "", append(page, "Sec-Fetch-Site", "cross-site"), 403},
		{"another method", "POST", "?_method=TRACE", "", page, 405},
		{"a program's form", "PATCH", "", "{\"title\":\"Two\"}", []string{"Content-Type", formKind}, 415},
		{"a form", "POST", "?_method=PATCH", "title=+One++title+", page, 303},
	} {
		if got := b.send(tt.method, at+tt.query, tt.body, tt.headers...); got.status != tt.status {
			t.Errorf("%s: %d %.200s, want %d", tt.name, got.status, got.body, tt.status)
		}
	}
	var one, other api.SessionHistory
	b.send("GET", at, "").decode(t, &one)
	b.send("GET", "/agent/session/"+run.SessionID, "").decode(t, &other)
	if one.Title != "One title" || one.Title != other.Title || one.TurnCount != 1 || !one.Running {
		t.Errorf("conversation = %+v and %+v, want one that runs", one, other)
	}
	got := b.send("POST", at+"?_method=DELETE", "", page...)
	if want := "/?deleted=" + run.SessionID; got.status != 303 || got.header.Get("Location") != want {
		t.Errorf("deleted: %d to %q, want 303 to %q", got.status, got.header.Get("Location"), want)
	}
}

func TestSessionStreamReportsOtherRuns(t *testing.T) {
	b := newHarness(t)
	first := b.begin("Is the roof sound?")
	res, err := http.Get(b.url + "/c/" + first.SessionID + "/events?head=" + first.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	reader := ssetest.NewReader(res.Body)
	for range 2 { // one asked here, and one known only from another process's notification
		run, _, err := b.stage.Start(t.Context(), chat.LocalUser, chat.RunRequest{
			Message: "And the wall?", SessionID: first.SessionID,
		})
		if err != nil {
			t.Fatal(err)
		}
		b.feed.Wake(run.ID)
		event, err := reader.Next()
		if err != nil || event.Name != "head" || event.Data != run.ID {
			t.Fatalf("event = %+v, %v, want head %s", event, err, run.ID)
		}
	}
	again, err := http.Get(b.url + "/c/" + first.SessionID + "/events?head=" + first.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Body.Close()
	if event, err := ssetest.NewReader(again.Body).Next(); err != nil || event.Name != "head" {
		t.Errorf("a page that missed a run: %+v, %v; want Name %q", event, err, "head")
	}
	if got := b.send("GET", "/c/nowhere/events", ""); got.status != http.StatusNotFound {
		t.Errorf("a session that is not there: %d, want %d", got.status, http.StatusNotFound)
	}
}

func TestOutdatedPageReloadsTurns(t *testing.T) {
	b := newHarness(t)
	ask := func(session, sibling string) chat.Run {
		run, _, err := b.stage.Start(t.Context(), chat.LocalUser, chat.RunRequest{
			Message: "Is the roof sound?", SessionID: session, Sibling: sibling,
		})
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	first := b.begin("Is the roof sound?")
	second := ask(first.SessionID, "")
	third := ask(first.SessionID, "")
	again := ask(first.SessionID, second.ID)
	next := func(after string) (ids []string) {
		body := b.send("GET", "/c/"+first.SessionID+"/next?after="+after, "", "HX-Request", "true").body
		for _, run := range []chat.Run{first, second, third, again} {
			if strings.Contains(body, `id="turn-`+run.ID+`"`) {
				ids = append(ids, run.ID)
			}
		}
		return ids
	}
	for _, tt := range []struct {
		name, after string
		want        []string
	}{
		{"the page has it all", again.ID, nil},
		{"another version and what followed it", third.ID, []string{again.ID}},
		{"the question before", first.ID, []string{again.ID}},
		{"a run that is not there", "gone", []string{first.ID, again.ID}},
	} {
		if got := next(tt.after); !slices.Equal(got, tt.want) {
			t.Errorf("%s: turns %v, want %v", tt.name, got, tt.want)
		}
	}
	if err := b.stage.store.SetHead(t.Context(), chat.Scope{User: chat.LocalUser}, first.SessionID,
		first.ID); err != nil {
		t.Fatal(err)
	}
	if got := next(again.ID); !slices.Equal(got, []string{first.ID}) {
		t.Errorf("a branch that ends before: turns %v, want the last one", got)
	}
	res, err := http.Get(b.url + "/c/" + first.SessionID + "/events?head=" + first.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := b.send("POST", "/sessions/"+first.SessionID+"/head", `{"run_id":"`+third.ID+`"}`, "Content-Type",
		"application/json"); got.status != http.StatusNoContent {
		t.Fatalf("choose a version: %d %s, want %d", got.status, got.body, http.StatusNoContent)
	}
	if event, err := ssetest.NewReader(res.Body).Next(); err != nil || event.Name != "head" || event.Data != third.ID {
		t.Errorf("event = %+v, %v, want head %s", event, err, third.ID)
	}
}
