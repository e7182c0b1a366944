package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestTheWholeOfALongThoughtIsOneClickAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	thought := strings.Repeat("Slate or tile? ", 1000) + "<b>Slate.</b>"
	b.stage.play = []chat.Payload{chat.Step{
		CallID: "c3", Step: "search_documents", ToolName: "search_documents", ActionType: chat.ActionSearching,
		Message: "Searched", Thought: thought,
		Status: chat.StatusComplete, Details: map[string]any{},
	}}
	run := b.begin("How long does slate last?")
	b.append(run.ID, b.stage.play...)
	address := "/runs/" + run.ID + "/steps/c3/thought"
	page := b.send("GET", "/c/"+run.SessionID, "", "Accept", "text/html")
	if !strings.Contains(page.body, `data-load="`+address+`"`) ||
		!strings.Contains(page.body, "Show all (15,013 characters)") || strings.Contains(page.body, "&lt;b&gt;Slate.") {
		t.Errorf("the page does not lead to the whole thought: %.500s; want %q in it, %q in it, no %q in it",
			page.body, `data-load="`+address+`"`, "Show all (15,013 characters)", "&lt;b&gt;Slate.")
	}
	got := b.send("GET", address, "")
	if got.status != http.StatusOK || got.body != thought ||
		!strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		t.Errorf("%d %s, %d bytes, want %d", got.status, got.header.Get("Content-Type"), len(got.body), len(thought))
	}
	if got := b.send("GET", "/runs/"+run.ID+"/steps/c4/thought", ""); got.status != http.StatusNotFound {
		t.Errorf("a step that is not there: %d, want %d", got.status, http.StatusNotFound)
	}
}

func TestACallIsApprovedAndDeniedByJSONAndByForm(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.stage.play = []chat.Payload{chat.Step{
		CallID: "c3", Step: "web_search", ToolName: "web_search", ActionType: chat.ActionSearching,
		Message: "Searching the web for: slate", ToolInput: []byte(`{"query":"slate"}`),
		Status: chat.StatusPending, ToolStatus: chat.StatusPending, Details: map[string]any{},
	}}
	run := b.begin("How long does slate last?")
	b.append(run.ID, b.stage.play...)
	base := "/agent/runs/" + run.ID + "/steps/c3/"
	for _, tt := range []struct {
		path, kind, body string
		status           int
		decided          string
	}{
		{"approve", "", "", http.StatusAccepted, "approve " + run.ID + " c3 "},
		{"approve", "application/json", `{"input":{"query":"tiles"}}`, http.StatusAccepted,
			"approve " + run.ID + ` c3 {"query":"tiles"}`},
		{"approve", "application/json", `{"input":null}`, http.StatusAccepted, "approve " + run.ID + " c3 "},
		{"approve", "application/json", `{}`, http.StatusAccepted, "approve " + run.ID + " c3 "},
		{"approve", "application/x-www-form-urlencoded", `input=%7B%22query%22%3A%22tiles%22%7D`, http.StatusAccepted,
			"approve " + run.ID + ` c3 {"query":"tiles"}`},
		{"deny", "", "", http.StatusAccepted, "deny " + run.ID + " c3"},
		{"approve", "application/json", `{"input":[1]}`, http.StatusBadRequest, ""},
		{"approve", "application/x-www-form-urlencoded", `input=%7Bquery`, http.StatusBadRequest, ""},
		{"approve", "application/json", `{"other":1}`, http.StatusBadRequest, ""},
	} {
		b.stage.decided = nil
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+base+tt.path,
			strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "application/json")
		if tt.kind != "" {
			req.Header.Set("Content-Type", tt.kind)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		want := []string{tt.decided}
		if tt.decided == "" {
			want = nil
		}
		if resp.StatusCode != tt.status || !slices.Equal(b.stage.decided, want) {
			t.Errorf("%s %s = %d, decided %q; want %d, %q", tt.path, tt.body, resp.StatusCode, b.stage.decided,
				tt.status, want)
		}
	}
	page := b.send("GET", "/c/"+run.SessionID, "", "Accept", "text/html").body
	for _, want := range []string{`data-testid="approval"`, `action="` + base + `approve"`, `action="` + base + `deny"`,
		"Waits for your approval", "&#34;query&#34;: &#34;slate&#34;"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}
