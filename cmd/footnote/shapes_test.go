package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/e2e/scripted"
)

// fields lists an object's names, nested ones with a point, those of a list's first element with [].
func fields(t *testing.T, body string) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v in %s, want no error", err, body)
	}
	var names []string
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				path := strings.TrimPrefix(prefix+"."+name, ".")
				names = append(names, path)
				walk(path, inner)
			}
		case []any:
			if len(v) > 0 {
				walk(prefix+"[]", v[0])
			}
		}
	}
	walk("", v)
	slices.Sort(names)
	return names
}

// wantFields fails unless an answer has all of the names.
func wantFields(t *testing.T, what string, r reply, names ...string) {
	t.Helper()
	if r.status >= 300 {
		t.Fatalf("%s: %d %s, want less than 300", what, r.status, r.body)
	}
	got := fields(t, r.body)
	for _, name := range names {
		if !slices.Contains(got, name) {
			t.Errorf("%s lacks %s: it has %v, want %v in it", what, name, got, name)
		}
	}
}

func TestAnswersHaveTheShapesThatAreDocumented(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t), newModel(t, scripted.Config{}).env()...)
	up := s.upload(file{"survey.md", books[0].body}, file{"bad.pdf", "PK\x03\x04xxxx"})
	if up.status != http.StatusAccepted {
		t.Errorf("upload = %d, want %d", up.status, http.StatusAccepted)
	}
	wantFields(t, "POST /documents", up, "documents[].id", "documents[].filename", "documents[].state",
		"rejected[].filename", "rejected[].code", "rejected[].detail")
	id := decode[uploadAnswer](t, up.body).Documents[0].ID
	s.settled(id)
	wantFields(t, "a duplicate", s.upload(file{"copy.md", books[0].body}), "documents[].duplicate_of")
	document := []string{
		"id", "filename", "title", "mime", "bytes", "pages", "sha256", "namespace", "meta", "state", "progress.stage",
		"progress.done", "progress.total", "created_at",
	}
	wantFields(t, "GET /documents/{id}", s.send("GET", "/documents/"+id, nil), document...)
	var listed []string
	for _, name := range document {
		listed = append(listed, "documents[]."+name)
	}
	wantFields(t, "GET /documents",
		s.send("GET", "/documents?namespace=default&state=ready&q=survey&limit=1", nil), listed...)
	locked := s.upload(file{"locked.pdf", lockedPDF()})
	lockedID := decode[uploadAnswer](t, locked.body).Documents[0].ID
	s.settled(lockedID)
	wantFields(t, "a failed document", s.send("GET", "/documents/"+lockedID, nil), "error.code", "error.detail")
	wantFields(t, "a list's second page", s.send("GET", "/documents?limit=1", nil), "next")

	wantFields(t, "POST /search",
		s.send(
			"POST", "/search",
			`{"query":"roof slates","top_k":3,"mode":"hybrid","namespace":"default","filters":{"title":"Survey"},`+
				`"rerank":false}`,
		),
		"query", "total_results", "results[].text", "results[].score", "results[].rank", "results[].metadata.chunk_id",
		"results[].metadata.document_id",
		"results[].metadata.title", "results[].metadata.filename", "results[].metadata.section",
		"results[].metadata.page", "results[].metadata.start",
		"results[].metadata.end", "results[].metadata.url")

	answer := s.send(
		"POST", "/agent/chat",
		`{"message":"What is the condition of the roof?","session_id":"shapes","context_text":null,`+
			`"namespace":"default","config":{}}`,
	)
	wantFields(t, "POST /agent/chat", answer, "run_id", "session_id", "status", "response", "citations[].number",
		"citations[].document_id", "citations[].chunk_id",
		"citations[].block_id", "citations[].title", "citations[].section", "citations[].quote", "citations[].start",
		"citations[].end", "citations[].boxes", "citations[].url",
		"citations[].check", "citations[].score", "sources[].number", "sources[].document_id", "sources[].title",
		"sources[].cited", "confidence", "retrieval_mode",
		"tokens.in", "tokens.out", "latency_ms")
	got := loose[struct {
		Status, Response, RetrievalMode, RunID, SessionID string
	}](
		t, strings.NewReplacer("retrieval_mode", "RetrievalMode", "run_id", "RunID", "session_id",
			"SessionID").Replace(answer.body),
	)
	if got.Status != "success" || got.RetrievalMode != "full_book" || got.SessionID != "shapes" ||
		!strings.Contains(got.Response, "[Source 1]") || !strings.Contains(got.Response, "Sources:") {
		t.Errorf("POST /agent/chat: %+v; want Status %q, RetrievalMode %q, SessionID %q, %q in it, %q in it",
			got, "success", "full_book", "shapes", "[Source 1]", "Sources:")
	}
	numeric := s.send(
		"POST", "/agent/chat", `{"message":"What is the condition of the roof?","citation_style":"numeric"}`,
	)
	if strings.Contains(numeric.body, "[Source") || !strings.Contains(numeric.body, "[1]") {
		t.Errorf("numeric citations: %s; want no %q in it and %q in it", numeric.body, "[Source", "[1]")
	}
	wantFields(t, "POST /agent/chat/structured",
		s.send("POST", "/agent/chat/structured", `{"message":"What is the condition of the roof?"}`), "status",
		"answer", "sources[].quote", "confidence")
	wantFields(t, "GET /agent/runs/{id}", s.send("GET", "/agent/runs/"+got.RunID, nil), "run_id", "session_id",
		"status", "question", "steps[].call_id", "answer.answer", "citations[].number", "tokens.in", "last_seq")
	wantFields(t, "GET /agent/session/{id}", s.send("GET", "/agent/session/shapes", nil), "session_id",
		"messages[].role", "messages[].content", "messages[].timestamp", "retrieval_history[].tool_name", "started_at",
		"turn_count")
	whole := loose[struct {
		Messages []struct{ Role, Content string }
	}](t, s.send("GET", "/agent/session/shapes?tools=true", nil).body)
	if first := whole.Messages[0]; first.Role != "system" ||
		!strings.Contains(first.Content, "every claim you make carries a footnote") ||
		strings.Contains(first.Content, "{{") {
		t.Errorf("GET /agent/session/{id}?tools=true begins with %+v; want Role %q, %q in it, no %q in it",
			first, "system", "every claim you make carries a footnote", "{{")
	}
	wantFields(t, "POST /agent/retrieve", s.send("POST", "/agent/retrieve", `{"query":"roof"}`), "query",
		"chunks[].text", "chunks[].strategy", "chunks[].agent_trace.iterations",
		"chunks[].agent_trace.tool_calls[].tool", "strategy", "agent_trace.query", "agent_trace.iterations",
		"agent_trace.tool_calls[].tool", "agent_trace.tool_calls[].parameters", "agent_trace.tool_calls[].iteration",
		"agent_trace.tool_results[].tool", "agent_trace.tool_results[].success",
		"agent_trace.tool_results[].execution_time", "agent_trace.tool_results[].num_results",
		"agent_trace.plan.reasoning",
		"agent_trace.steps[].step", "agent_trace.steps[].status")
	wantFields(
		t, "POST /agent/query", s.send("POST", "/agent/query", `{"question":"What is the condition of the roof?"}`),
		"id", "status", "answer", "citations[].content_snippet", "citations[].relevance", "steps[].step",
		"total_latency_ms",
	)
	wantFields(t, "GET /health", s.send("GET", "/health", nil), "status", "checks.database.status",
		"checks.index.status", "checks.model.status")
	wantFields(t, "GET /readyz", s.send("GET", "/readyz", nil), "status")
	if metrics := s.send("GET", "/metrics", nil); !strings.Contains(metrics.body, "\nfootnote_") {
		t.Errorf("no footnote_ metrics:\n%s", metrics.body)
	}
	if gone := s.send("DELETE", "/agent/session/shapes", nil); gone.status != http.StatusNoContent ||
		s.send("GET", "/agent/session/shapes", nil).status != http.StatusNotFound {
		t.Errorf("DELETE of a session: %d, want %d", gone.status, http.StatusNoContent)
	}
	if gone := s.send("DELETE", "/documents/"+id, nil); gone.status != http.StatusNoContent ||
		s.search("slates").TotalResults != 0 {
		t.Errorf("DELETE of a document: %d, want %d", gone.status, http.StatusNoContent)
	}
	for path, want := range map[string]int{"/": 200, "/documents": 200} {
		if got := s.send("GET", path, nil, header{"Accept", "text/html,*/*"}); got.status != want {
			t.Errorf("GET %s = %d %.200s, want %d", path, got.status, got.body, want)
		}
	}
}

// What curl -N prints is made to be read: a name, a number and one line of JSON for each event.
func TestAStreamIsReadableAsText(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books...)
	r := s.send("POST", "/chat", ask("What is the condition of the roof?"), header{"Accept", "text/event-stream"})
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "X-Accel-Buffering": "no", "Content-Encoding": "",
	} {
		if got := r.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if control := r.header.Get("Cache-Control"); !strings.Contains(control, "no-store") {
		t.Errorf("Cache-Control: %q, want %q in it", control, "no-store")
	}
	frames := strings.Split(strings.TrimSuffix(r.body, "\n\n"), "\n\n")
	if !strings.HasPrefix(frames[0], ": ") {
		t.Errorf("it begins with %q, want %q at its beginning", frames[0], ": ")
	}
	var kinds []string
	for i, frame := range frames[1:] {
		lines := strings.Split(frame, "\n")
		var data struct {
			Type  string `json:"type"`
			RunID string `json:"run_id"`
			Seq   int    `json:"seq"`
		}
		raw, ok := strings.CutPrefix(lines[len(lines)-1], "data: ")
		if len(lines) != 3 || !ok || json.Unmarshal([]byte(raw), &data) != nil ||
			!strings.HasPrefix(raw, `{"type":"`+data.Type+`","run_id":"`+data.RunID+`","seq":`) ||
			lines[0] != "id: "+strconv.Itoa(i+1) || lines[1] != "event: "+data.Type || data.Seq != i+1 {
			t.Fatalf("frame %d is %q", i+1, frame)
		}
		kinds = append(kinds, data.Type)
	}
	for _, kind := range []string{"run_started", "reasoning_step", "answer_delta", "citation", "answer", "run_done"} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("there is no %s among %v, want %v in it", kind, kinds, kind)
		}
	}
	if first, last := slices.Index(kinds, "citation"), slices.Index(kinds, "run_done"); first > last ||
		kinds[0] != "run_started" || last != len(kinds)-1 {
		t.Errorf("the order is %v, want %q", kinds, "run_started")
	}
	page := s.send("GET", "/", nil, header{"Accept", "text/html"}, header{"Accept-Encoding", "identity"})
	if page.status != http.StatusOK || !strings.Contains(page.body, "<html") ||
		os.Getenv("HOME") != "" && strings.Contains(page.body, s.dir) {
		t.Errorf("the page: %d, want %d", page.status, http.StatusOK)
	}
}
