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
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

// problem is what a refusal says.
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

// decode reads a body; fields that T does not have are a mistake.
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

// loose is decode for a part of the fields.
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

// form writes files as a browser does. The names go out as they are, escaped as RFC 7578 asks.
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

// upload sends files and returns the raw answer.
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

// event is one of a stream, as it came.
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

// started is the answer to POST /chat.
type started struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	Stream    string `json:"stream"`
	Events    string `json:"events"`
}

// begin posts a question and returns its run.
func (s *server) begin(question string) started {
	s.t.Helper()
	r := s.send("POST", "/chat", ask(question))
	if r.status != http.StatusAccepted {
		s.t.Fatalf("POST /chat: %d %s", r.status, r.body)
	}
	return decode[started](s.t, r.body)
}

// ask is the body of a question.
func ask(question string) string {
	raw, _ := json.Marshal(map[string]string{"message": question}) // a string can't fail
	return string(raw)
}

// follow reads a run's events to its end and decodes them, checking that none is missing.
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
	text      string // of the deltas, since the last reset
	citations []chat.Citation
	answer    *chat.Answer
	done      *chat.RunDone
}

// readTranscript decodes a whole log. It fails the test unless the numbers run from 1 without gaps and run_done is the
// only last event.
func readTranscript(t testing.TB, events []event) transcript {
	t.Helper()
	log := transcript{raw: events}
	for i, ev := range events {
		if ev.id != int64(i+1) {
			t.Fatalf("event %d has the number %d, want %d", i+1, ev.id, int64(i+1))
		}
		if log.done != nil {
			t.Fatalf("%s %d comes after run_done", ev.name, ev.id)
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
		t.Fatalf("the log has no run_done among its %d events", len(events))
	}
	return log
}

// run asks and follows to the end.
func (s *server) run(question string) transcript {
	s.t.Helper()
	return s.follow(s.begin(question).RunID)
}
