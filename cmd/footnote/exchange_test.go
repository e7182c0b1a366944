package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// problem is the body of an error response.
type problem struct {
	Type      string   `json:"type"`
	Title     string   `json:"title"`
	Status    int      `json:"status"`
	Code      string   `json:"code"`
	Detail    string   `json:"detail"`
	RequestID string   `json:"request_id"`
	Limit     string   `json:"limit"`
	Routes    []string `json:"routes"`
}

// decode decodes a body; unknown fields are an error.
func decode[T any](t testing.TB, body string) T {
	t.Helper()
	var v T
	d := json.NewDecoder(strings.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %.2000s, want no error", err, body)
	}
	return v
}

// loose decodes a part of the fields.
func loose[T any](t testing.TB, body string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v in %.2000s, want no error", err, body)
	}
	return v
}

// file is one to upload.
type file struct {
	name string
	body string
}

type uploadAnswer struct {
	Documents []struct {
		ID          string `json:"id"`
		Filename    string `json:"filename"`
		State       string `json:"state"`
		DuplicateOf string `json:"duplicate_of"`
		RenamedFrom string `json:"renamed_from"`
	} `json:"documents"`
	Rejected []struct {
		Filename string `json:"filename"`
		Code     string `json:"code"`
		Detail   string `json:"detail"`
	} `json:"rejected"`
}

// form encodes files like a browser, with names escaped as RFC 7578 requires.
func form(t testing.TB, files ...file) (body *bytes.Buffer, contentType string) {
	t.Helper()
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	for _, f := range files {
		quoted := strings.NewReplacer("\\", "\\\\", `"`, `\"`, "\r", "%0D", "\n", "%0A").Replace(f.name)
		part, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {`form-data; name="files"; filename="` + quoted + `"`},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(part, f.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return body, w.FormDataContentType()
}

// upload sends files and returns the raw response.
func (s *server) upload(files ...file) reply {
	s.t.Helper()
	body, contentType := form(s.t, files...)
	return s.send("POST", "/documents", body, header{"Content-Type", contentType})
}

type documentState struct {
	ID       string `json:"id"`
	Filename string `json:"filename"`
	Title    string `json:"title"`
	Path     string `json:"path"`
	State    string `json:"state"`
	Pages    int    `json:"pages"`
	Passages int    `json:"passages"`
	Error    *struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	} `json:"error"`
}

// add uploads files, waits until each is ready, and returns their ids.
func (s *server) add(files ...file) []string {
	s.t.Helper()
	r := s.upload(files...)
	if r.status != http.StatusAccepted {
		s.t.Fatalf("upload: %d %s", r.status, r.body)
	}
	answer := decode[uploadAnswer](s.t, r.body)
	if len(answer.Rejected) > 0 || len(answer.Documents) != len(files) {
		s.t.Fatalf("upload: %s", r.body)
	}
	ids := make([]string, len(files))
	for i, d := range answer.Documents {
		ids[i] = d.ID
		if state := s.settled(d.ID); state.State != "ready" {
			s.t.Fatalf("%s became %+v", d.Filename, state)
		}
	}
	return ids
}

// settled waits until a document is ready or has failed.
func (s *server) settled(id string) (d documentState) {
	s.t.Helper()
	eventually(s.t, "document "+id+" is ready or has failed", func() bool {
		d = loose[documentState](s.t, s.send("GET", "/documents/"+id, nil).body)
		return d.State == "ready" || d.State == "failed" || d.State == "cancelled"
	})
	return d
}

// event is a raw event of a stream.
type event struct {
	id   int64
	name string
	data string
}

// stream is an open stream of events.
type stream struct {
	res   *http.Response
	lines *bufio.Reader
	retry string
}

func (s *server) open(method, path string, body any, headers ...header) (*stream, error) {
	req, err := s.request(method, path, body, append(headers, header{"Accept", "text/event-stream"})...)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		raw, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		return nil, fmt.Errorf("%s %s: %d %s %w", method, path, res.StatusCode, raw, err)
	}
	return &stream{res: res, lines: bufio.NewReader(res.Body)}, nil
}

func (st *stream) close() { _ = st.res.Body.Close() }

// next returns the next event, or an error when the stream ends.
func (st *stream) next() (event, error) {
	var ev event
	var data []string
	for {
		line, err := st.lines.ReadString('\n')
		if err != nil {
			return ev, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "":
			if line == "\n" && data != nil {
				ev.data = strings.Join(data, "\n")
				return ev, nil
			}
		case "id":
			if ev.id, err = strconv.ParseInt(value, 10, 64); err != nil {
				return ev, err
			}
		case "event":
			ev.name = value
		case "data":
			data = append(data, value)
		case "retry":
			st.retry = value
		}
	}
}

// rest returns all events to the stream's end, and how it ended.
func (st *stream) rest() (events []event, err error) {
	for {
		ev, err := st.next()
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
}

// started is the response of POST /chat.
type started struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	Stream    string `json:"stream"`
	Events    string `json:"events"`
}

// begin sends a question and returns its run.
func (s *server) begin(question string) started {
	s.t.Helper()
	r := s.send("POST", "/chat", ask(question))
	if r.status != http.StatusAccepted {
		s.t.Fatalf("POST /chat: %d %s", r.status, r.body)
	}
	return decode[started](s.t, r.body)
}

// ask returns the body of a question.
func ask(question string) string {
	raw, _ := json.Marshal(map[string]string{"message": question}) // encoding a string can't fail
	return string(raw)
}

// follow streams a run's events to its end and decodes them, checking that none is missing.
func (s *server) follow(runID string) transcript {
	s.t.Helper()
	st, err := s.open("GET", "/agent/runs/"+runID+"/events", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer st.close()
	events, err := st.rest()
	if !errors.Is(err, io.EOF) {
		s.t.Fatalf("the stream ended with %v\n%s", err, s.log)
	}
	return readTranscript(s.t, events)
}

// transcript is a run's log, decoded.
type transcript struct {
	raw       []event
	start     chat.RunStarted
	steps     []chat.Step
	text      string // concatenated deltas since the last reset
	citations []chat.Citation
	answer    *chat.Answer
	done      *chat.RunDone
}

// readTranscript decodes a whole log. It fails the test unless the numbers run from 1 without gaps and run_done is
// the only last event.
func readTranscript(t testing.TB, events []event) transcript {
	t.Helper()
	log := transcript{raw: events}
	for i, ev := range events {
		if ev.id != int64(i+1) {
			t.Fatalf("event %d has the number %d, want %d", i+1, ev.id, int64(i+1))
		}
		if log.done != nil {
			t.Fatalf("event %s %d follows run_done", ev.name, ev.id)
		}
		p, err := chat.Event{Type: chat.Kind(ev.name), Body: []byte(ev.data)}.Payload()
		if err != nil {
			t.Fatal(err)
		}
		switch p := p.(type) {
		case chat.RunStarted:
			log.start = p
		case chat.Step:
			log.steps = append(log.steps, p)
		case chat.AnswerDelta:
			log.text += p.Text
		case chat.AnswerReset:
			log.text, log.citations = "", nil
		case chat.Citation:
			log.citations = append(log.citations, p)
		case chat.Answer:
			log.answer = &p
		case chat.RunDone:
			log.done = &p
		}
	}
	if log.done == nil {
		t.Fatalf("log of %d events lacks run_done", len(events))
	}
	return log
}

// run sends a question and streams its run to the end.
func (s *server) run(question string) transcript {
	s.t.Helper()
	return s.follow(s.begin(question).RunID)
}

// unlike matches the part that differs in each response.
var unlike = regexp.MustCompile(`"request_id":"[^"]*"`)

// keyFor creates a user's key in a data directory.
func keyFor(t *testing.T, data, user string) header {
	t.Helper()
	made := command(t, "", nil, "key", "new", user, "--data", data)
	if made.code != 0 {
		t.Fatalf("%+v, want code 0", made)
	}
	return header{"X-API-Key", strings.TrimSpace(made.stdout)}
}

// A question or search limited to a missing document gets an error on every route. The message is the same for
// another user's and for an unknown document, and nothing is stored.
func TestNamedDocumentMustExist(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	anna, ben := keyFor(t, dir, "anna"), keyFor(t, dir, "ben")
	s := serve(t, dir)
	add := func(key header, namespace, text string) string {
		t.Helper()
		body := "--b\r\nContent-Disposition: form-data; name=\"namespace\"\r\n\r\n" + namespace +
			"\r\n--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.md\"\r\n\r\n" + text +
			"\r\n--b--\r\n"
		r := s.send("POST", "/documents", body, key, header{"Content-Type", "multipart/form-data; boundary=b"})
		answer := decode[uploadAnswer](t, r.body)
		if len(answer.Documents) != 1 {
			t.Fatalf("%d %s", r.status, r.body)
		}
		id := answer.Documents[0].ID
		eventually(t, "the document is ready", func() bool {
			return loose[documentState](t, s.send("GET", "/documents/"+id, nil, key).body).State == "ready"
		})
		return id
	}
	own, deleted, theirs := add(anna, "house", holidays), add(anna, "", "# Gone\n\nIt was here.\n"), add(ben, "secret",
		"# Ben\n\nThe code is blue.\n")
	if r := s.send("DELETE", "/documents/"+deleted, nil, anna); r.status != 204 {
		t.Fatalf("%d %s, want 204", r.status, r.body)
	}
	if r := s.send(
		"POST", "/agent/chat",
		`{"message":"How many days of paid holiday?","session_id":"there","namespace":"house","document_ids":["`+own+
			`"]}`, anna,
	); r.status != 200 {
		t.Fatalf("%d %s, want 200", r.status, r.body)
	}
	const unknown = "0192a1b2-0000-7000-8000-000000000000"
	mcp := func(tool, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` +
			arguments + `}}`
	}
	for _, entrance := range []struct{ path, ids, namespace string }{
		{"/chat", `{"message":"a","document_ids":IDS}`, `{"message":"a","namespace":"NAME"}`},
		{"/agent/chat", `{"message":"a","session_id":"fresh","document_ids":IDS}`,
			`{"message":"a","session_id":"fresh","namespace":"NAME"}`},
		{"/agent/chat/structured", `{"message":"a","document_ids":IDS}`,
			`{"message":"a","namespace":"NAME","context_text":"b"}`},
		{"/agent/query", "", `{"question":"a","namespace":"NAME"}`},
		{"/agent/retrieve", `{"query":"a","filters":{"document_ids":IDS}}`, `{"query":"a","namespace":"NAME"}`},
		{"/search", `{"query":"a","filters":{"document_ids":IDS,"title":"x"}}`,
			`{"query":"a","mode":"lexical","namespace":"NAME"}`},
		{"/v1/chat/completions", `{"model":"footnote","messages":[{"role":"user","content":"a"}],"document_ids":IDS}`,
			`{"model":"footnote","messages":[{"role":"user","content":"a"}],"stream":true,"namespace":"NAME"}`},
		{"/ui/chat", `{"id":"c","messages":[{"role":"user","parts":[{"type":"text","text":"a"}]}],"document_ids":IDS}`,
			`{"id":"c","messages":[{"role":"user","parts":[{"type":"text","text":"a"}]}],"namespace":"NAME"}`},
		{"/ag-ui", `{"threadId":"t","runId":"r","messages":[{"role":"user","content":"a"}],` +
			`"forwardedProps":{"document_ids":IDS}}`,
			`{"threadId":"t","runId":"r","messages":[{"role":"user","content":"a"}],` +
				`"forwardedProps":{"namespace":"NAME"}}`},
		{"/sessions/there/queue", `{"message":"a","document_ids":IDS}`, `{"message":"a","namespace":"NAME"}`},
		{"/mcp", mcp("ask", `{"question":"a","document_ids":IDS}`), mcp("search", `{"query":"a","namespace":"NAME"}`)},
		{"/mcp", mcp("search", `{"query":"a","document_ids":IDS}`), mcp("ask", `{"question":"a","namespace":"NAME"}`)},
	} {
		refused := func(body, named, part string) string {
			t.Helper()
			r := s.send("POST", entrance.path, body, anna)
			status := 404
			if entrance.path == "/mcp" { // MCP returns a tool's error as its result
				status = 200
			}
			if r.status != status || !strings.Contains(r.body, part) || strings.Contains(r.body, "blue") {
				t.Errorf("POST %s %s: %d %s; want %d, %q in it, no %q in it",
					entrance.path, body, r.status, r.body, status, part, "blue")
			}
			return unlike.ReplaceAllString(strings.ReplaceAll(r.body, named, "X"), "")
		}
		if entrance.ids != "" {
			var words []string
			for _, id := range []string{unknown, theirs, deleted} {
				words = append(
					words,
					refused(strings.ReplaceAll(entrance.ids, "IDS", `["`+own+`","`+id+`"]`), id,
						"A selected document was not found"),
				)
			}
			if words[0] != words[1] || words[0] != words[2] {
				t.Errorf("POST %s distinguishes unknown documents: %q; want %v and %v",
					entrance.path, words, words[1], words[2])
			}
		}
		none := refused(strings.ReplaceAll(entrance.namespace, "NAME", "nobodys"), "nobodys",
			"No documents in the namespace")
		if other := refused(strings.ReplaceAll(entrance.namespace, "NAME", "secret"), "secret",
			"No documents in the namespace"); other != none {
			t.Errorf("POST %s distinguishes an unknown namespace: %q, %q; want %q", entrance.path, none, other, none)
		}
	}
	fields := url.Values{"message": {"a"}, "document_ids": {own, theirs}}.Encode()
	kind := header{"Content-Type", "application/x-www-form-urlencoded"}
	if r := s.send("POST", "/chat", fields, anna, kind, header{"Accept", "text/html"}); r.status != 404 ||
		!strings.Contains(r.body, "A selected document was not found") || !strings.Contains(r.body, "<main") {
		t.Errorf("the page without scripts: %d %s; want 404, %q in it, %q in it",
			r.status, r.body, "A selected document was not found", "<main")
	}
	if r := s.send("POST", "/chat", fields, anna, kind, header{"HX-Request", "true"}); r.status != 404 ||
		!strings.Contains(r.body, "A selected document was not found") || strings.Contains(r.body, "<main") {
		t.Errorf("the page's script: %d %s; want 404, %q in it, no %q in it",
			r.status, r.body, "A selected document was not found", "<main")
	}
	both := `{"message":"a","namespace":"default","document_ids":["` + own + `"]}`
	if r := s.send("POST", "/agent/chat", both, anna); r.status != 404 ||
		!strings.Contains(r.body, "in the namespace") {
		t.Errorf("a document of another namespace: %d %s; want 404 and %q in it", r.status, r.body, "in the namespace")
	}
	if r := s.send("POST", "/search", `{"query":"a","namespace":"default"}`, anna); r.status != 200 {
		t.Errorf("the namespace that is always there: %d %s, want 200", r.status, r.body)
	}
	kept := s.send("GET", "/sessions", nil, anna)
	if n := strings.Count(kept.body, `"session_id":`); n != 1 || !strings.Contains(kept.body, `"there"`) {
		t.Errorf("something was kept: %s, want %q in it", kept.body, `"there"`)
	}
	if history := s.send("GET", "/agent/session/there", nil, anna); strings.Count(history.body, `"role":"user"`) != 1 {
		t.Errorf("history has the rejected question: %s", history.body)
	}
	if r := s.send("GET", "/sessions/there/queue", nil, anna); r.body != "{\"queue\":[]}\n" {
		t.Errorf("queue has the rejected question: %s", r.body)
	}
}

// slow returns a model that never finishes its answer.
func slow(t *testing.T) *modelServer {
	return newModel(t, scripted.Config{
		Delay: 200 * time.Millisecond, Tokens: 10_000, Script: func(scripted.Request) scripted.Reply {
			return scripted.Reply{Text: "one two three four five six seven eight nine ten"}
		},
	})
}

func TestTerminatedServerShutsDownInOrder(t *testing.T) {
	t.Parallel()
	model := slow(t)
	s := serve(t, newDir(t), model.env()...)
	s.add(file{"roof.md", "# Roof\n\nThe roof leaks.\n"})
	run := s.begin("Tell me about the roof.")
	st, err := s.open("GET", run.Events, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.close()
	if _, err := st.next(); err != nil {
		t.Fatal(err)
	}
	idle, err := s.open("GET", "/agent/runs/"+run.RunID+"/events?after=1", nil) // a second reader
	if err != nil {
		t.Fatal(err)
	}
	defer idle.close()

	began := time.Now()
	if code := s.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code = %d, want 0:\n%s", code, s.log)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v to stop, want at most %v", took, 30*time.Second)
	}
	for _, reader := range []*stream{st, idle} {
		events, err := reader.rest()
		if !errors.Is(err, io.EOF) {
			t.Errorf("a stream ended with %v, want %v", err, io.EOF)
		}
		over := len(events) > 0 && events[len(events)-1].name == string(chat.KindRunDone)
		if reader.retry == "" && !over {
			t.Errorf("stream ended without retry and without run_done: %v", events)
		}
	}
	log := s.restart().follow(run.RunID)
	if log.done.Status != chat.RunInterrupted || log.done.Error == nil || !log.done.Error.Retryable {
		t.Errorf("the run ended as %+v; want Status %v and Error.Retryable true", log.done, chat.RunInterrupted)
	}
}

// During a graceful shutdown, the readiness check reports that the server takes no new requests.
func TestStoppingServerIsNotReady(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	if got := s.send("GET", "/readyz", nil); got.status != http.StatusOK {
		t.Fatalf("/readyz = %d %s, want %d", got.status, got.body, http.StatusOK)
	}
	upload, upstream := io.Pipe() // an upload in progress delays the shutdown
	body, contentType := form(t, file{
		"late.md", "# Late\n\nThis file came while the server was being stopped.\n" +
			strings.Repeat("More of it came.\n", 1000),
	})
	raw := body.String()
	finished := make(chan reply, 1)
	go func() {
		// A failed request has no status.
		r, _ := s.try("POST", "/documents", upload, header{"Content-Type", contentType})
		finished <- r
	}()
	if _, err := io.WriteString(upstream, raw[:len(raw)/2]); err != nil {
		t.Fatal(err)
	}
	s.receiving()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it takes no new work", func() bool {
		r, err := s.try("GET", "/readyz", nil)
		return err != nil || r.status == http.StatusServiceUnavailable
	})
	if _, err := io.WriteString(upstream, raw[len(raw)/2:]); err != nil {
		t.Fatal(err)
	}
	_ = upstream.Close()
	if r := <-finished; r.status != http.StatusAccepted {
		t.Errorf("the upload that was under way: %d %s, want %d", r.status, r.body, http.StatusAccepted)
	}
	<-s.ended
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code = %d, want 0:\n%s", code, s.log)
	}
	again := s.restart()
	eventually(t, "the late file is ready", func() bool { return again.search("stopped").TotalResults > 0 })
}

// receiving waits until the server writes an upload to disk.
func (s *server) receiving() {
	s.t.Helper()
	eventually(s.t, "the upload is under way", func() bool {
		files, err := filepath.Glob(filepath.Join(s.dir, "blobs", "incoming", "*"))
		return err == nil && len(files) > 0
	})
}

func TestSecondInterruptExitsImmediately(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	upload, upstream := io.Pipe() // never finished: the server would wait for it
	defer upstream.Close()
	go func() {
		_, _ = s.try("POST", "/documents", upload, header{"Content-Type", "multipart/form-data; boundary=x"})
	}() // the request is cut off
	if _, err := io.WriteString(
		upstream, "--x\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.md\"\r\n\r\n"+
			strings.Repeat("abc ", 4000),
	); err != nil {
		t.Fatal(err)
	}
	s.receiving()
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it takes no new work", func() bool {
		r, err := s.try("GET", "/readyz", nil)
		return err != nil || r.status == http.StatusServiceUnavailable
	})
	if code := s.end(syscall.SIGINT); code != -1 {
		t.Errorf("the second interrupt ended it with code %d, want the signal's own end:\n%s", code, s.log)
	}
}
