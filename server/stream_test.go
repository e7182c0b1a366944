package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio/ssetest"
)

// hostile is text that would break a stream that took it as it is.
var hostile = []string{
	"a\r\rb", "a\n\nid: 99\nevent: run_done\ndata: {}\n\n", "\u2028\u2029", "id: 7\r\n\r\n", "]}\x00\ufeff",
	"</script>",
}

// script is a run's life in payloads, with hostile input and output.
func script() []chat.Payload {
	payloads := []chat.Payload{
		chat.RunStarted{Question: "Is the roof sound?", Model: "m", Mode: chat.ModeFullBook, Toolset: "cursor"},
	}
	for i, text := range hostile {
		raw, _ := json.Marshal(map[string]string{"text": text}) // of strings: it can't fail
		step := chat.Step{
			CallID: fmt.Sprint("c", i), Step: "read_document", ActionType: chat.ActionReading,
			Message:  "Reading " + text,
			ToolName: "read_document", ToolInput: raw, Status: chat.StatusRunning, ToolStatus: chat.StatusRunning,
		}
		if i == 0 {
			some := 0.125
			step.Tokens, step.Cost = &chat.Tokens{In: 7, Out: 3}, &some
		}
		payloads = append(payloads, step)
		step.ToolOutput, step.ToolInput, step.Status, step.ToolStatus = raw, nil, chat.StatusComplete,
			chat.StatusComplete
		payloads = append(payloads, step)
	}
	cite := chat.Citation{
		Number: 1, DocumentID: "d1", ChunkID: "p1", Title: "Survey.pdf", Section: "Roof", Page: 2, Quote: "sound",
		Check: chat.CheckVerified, URL: "/d/d1?c=r.1",
	}
	cost := 0.25
	return append(payloads, chat.AnswerDelta{Text: "It is "}, cite, chat.AnswerDelta{Text: "sound [1]."},
		chat.Answer{
			Markdown: "It is sound [1].", Citations: []chat.Citation{cite}, Confidence: 0.9, StepsUsed: 2,
			StopReason: chat.StopAnswered,
			Tokens:     chat.Tokens{In: 10, Out: 5}, Cost: &cost, LatencyMS: 12,
		},
		chat.RunDone{Status: chat.RunCompleted})
}

// open starts reading a stream.
func (b *bench) open(path string, headers ...string) (*http.Response, *ssetest.Reader) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", b.url+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		cancel()
		_ = res.Body.Close()
	})
	return res, ssetest.NewReader(res.Body)
}

// take reads n events.
func take(t testing.TB, r *ssetest.Reader, n int) []ssetest.Event {
	t.Helper()
	var events []ssetest.Event
	for range n {
		ev, err := r.Next()
		if err != nil {
			t.Fatalf("after %d of %d events: %v, want no error", len(events), n, err)
		}
		events = append(events, ev)
	}
	return events
}

// logged is what a run's stream must be, made from the store alone.
func (b *bench) logged(runID string) []ssetest.Event {
	b.t.Helper()
	events, err := b.store.Events(b.t.Context(), chat.Local, runID, 0, chat.MaxPage)
	if err != nil {
		b.t.Fatal(err)
	}
	var list []ssetest.Event
	for _, ev := range events {
		list = append(list, ssetest.Event{
			ID: strconv.FormatInt(ev.Seq, 10), Name: string(ev.Type), Data: string(ev.AppendJSON(nil)),
		})
	}
	return list
}

func TestEveryPositionGetsExactlyWhatFollows(t *testing.T) {
	b := newBench(t)
	run := b.begin("Is the roof sound?")
	path := "/agent/runs/" + run.ID + "/events"
	all := script()
	b.append(run.ID, all[:len(all)-1]...)
	check := func(t *testing.T, k int, path string, headers ...string) {
		t.Helper()
		want := b.logged(run.ID)[k:]
		_, r := b.open(path, headers...)
		if diff := cmp.Diff(want, take(t, r, len(want))); diff != "" {
			t.Errorf("after %d (-want +got):\n%s", k, diff)
		}
	}
	for k := range len(all) - 1 {
		check(t, k, path+"?after="+strconv.Itoa(k))
		check(t, k, path+"?after=999", "Last-Event-ID", strconv.Itoa(k)) // the header is newer than the address
	}
	b.append(run.ID, all[len(all)-1])
	for k := range len(all) {
		check(t, k, path, "Last-Event-ID", strconv.Itoa(k))
		if got := b.send("GET", path+"?after="+strconv.Itoa(k),
			""); len(ssetest.NewReader(strings.NewReader(got.body)).All(t)) != len(all)-k {
			t.Errorf("after %d the stream of an ended run has another length", k)
		}
	}
	if got := b.send("GET", path, "", "Last-Event-ID", strconv.Itoa(len(all))); got.status != http.StatusNoContent {
		t.Errorf("a reader that has all gets %d, want 204", got.status)
	}
}

func TestThePositionBeyondTheEndStartsOver(t *testing.T) {
	b := newBench(t)
	run := b.begin("Is the roof sound?")
	b.append(run.ID, script()...)
	got := b.send("GET", "/agent/runs/"+run.ID+"/events?after=1000", "")
	events := ssetest.NewReader(strings.NewReader(got.body)).All(t)
	want := b.logged(run.ID)
	if len(events) != len(want)+1 || events[0].Name != "reset" || events[0].ID != "" {
		t.Fatalf("events = %q; want %v events, %q, nothing", events, len(want)+1, "reset")
	}
	var reset struct {
		Type string `json:"type"`
		Last int    `json:"last"`
	}
	if err := json.Unmarshal([]byte(events[0].Data), &reset); err != nil || reset.Type != "reset" ||
		reset.Last != len(want) {
		t.Errorf("reset = %s", events[0].Data)
	}
	if diff := cmp.Diff(want, events[1:]); diff != "" {
		t.Error(diff)
	}
}

func TestPositionsThatAreNone(t *testing.T) {
	b := newBench(t)
	run := b.begin("Is the roof sound?")
	for _, tt := range []struct {
		name, path, header string
		want               int
	}{
		{"a word", "/agent/runs/" + run.ID + "/events?after=abc", "", 400},
		{"a negative number", "/agent/runs/" + run.ID + "/events?after=-1", "", 400},
		{"a fraction beside a number", "/agent/runs/" + run.ID + "/events?after=1.5", "1", 400},
		{"two positions", "/agent/runs/" + run.ID + "/events?after=1&after=2", "", 400},
		{"a fraction", "/agent/runs/" + run.ID + "/events", "1.5", 400},
		{"more than fits", "/agent/runs/" + run.ID + "/events", "99999999999999999999", 400},
		{"a run that never was", "/agent/runs/" + chat.NewID() + "/events", "", 404},
		{"what can't be a run", "/agent/runs/..%2f..%2fetc/events", "", 404},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.send("GET", tt.path, "", "Last-Event-ID", tt.header)
			if p := got.problem(t); got.status != tt.want || p.Detail == "" {
				t.Errorf("got %d %s, want %d", got.status, got.body, tt.want)
			}
		})
	}
}

func TestTheFirstByteComesBeforeAnyEvent(t *testing.T) {
	b := newBench(t)
	run := b.begin("Is the roof sound?")
	res, r := b.open("/agent/runs/"+run.ID+"/events", "Accept-Encoding", "gzip")
	line, err := r.Line() // the run has no event yet: without a flush this would wait for ever
	if err != nil || !strings.HasPrefix(line, ":") {
		t.Fatalf("first line = %q, %v; want %q at its beginning", line, err, ":")
	}
	want := map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no",
		"Content-Encoding": "",
	}
	for name, value := range want {
		if got := res.Header.Get(name); got != value {
			t.Errorf("%s = %q, want %q", name, got, value)
		}
	}
	b.append(run.ID, chat.RunDone{Status: chat.RunCompleted})
	if events := r.All(t); len(events) != 1 {
		t.Errorf("events = %q, want 1 event", events)
	}
}

func TestManyReadersGetTheSameAndAStalledOneHoldsNobodyUp(t *testing.T) {
	// no reader is too slow but the one that never reads
	b := newBench(t, func(c *Config) { c.Limits.WriteTimeout = 5 * time.Minute })
	run := b.begin("Is the roof sound?")
	path := "/agent/runs/" + run.ID + "/events"

	stalled, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://")) // never reads
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Close()
	if _, err := fmt.Fprintf(stalled, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path); err != nil {
		t.Fatal(err)
	}

	big := strings.Repeat("x", 256<<10) // more than the buffers of a connection take
	payloads := script()
	for range 40 {
		payloads = append(payloads[:len(payloads)-1], chat.AnswerDelta{Text: big}, payloads[len(payloads)-1])
	}
	const readers = 20
	got := make([][]ssetest.Event, readers)
	var wg sync.WaitGroup
	for i := range readers {
		if i == readers/2 {
			b.append(run.ID, payloads[:len(payloads)/2]...) // half of them join later
		}
		_, r := b.open(path)
		wg.Go(func() { got[i] = r.All(t) })
	}
	for _, p := range payloads[len(payloads)/2:] {
		b.append(run.ID, p)
	}
	wg.Wait()
	want := b.logged(run.ID)
	for i := range got {
		if diff := cmp.Diff(want, got[i]); diff != "" {
			t.Fatalf("reader %d differs", i)
		}
	}
}

func TestAReaderThatStallsIsLetGo(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Limits.WriteTimeout = 50 * time.Millisecond })
	run := b.begin("Is the roof sound?")
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET /agent/runs/%s/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
		run.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the stream is open; from here on nothing is read
		t.Fatal(err)
	}
	for b.streams.Count() > 0 {
		b.append(run.ID, chat.AnswerDelta{Text: strings.Repeat("x", 1<<20)})
	}
}

func TestAQuietStreamSaysThatItLives(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Limits.Heartbeat = time.Millisecond })
	run := b.begin("Is the roof sound?")
	_, r := b.open("/agent/runs/" + run.ID + "/events")
	for comments := 0; comments < 5; {
		line, err := r.Line()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, ":") {
			comments++
		}
	}
	b.append(run.ID, chat.RunDone{Status: chat.RunCompleted})
	if events := r.All(t); len(events) != 1 {
		t.Errorf("events after the comments = %q, want 1 event", events)
	}
}

func TestStreamsAreCapped(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Limits.Streams = 1 })
	run := b.begin("Is the roof sound?")
	_, r := b.open("/agent/runs/" + run.ID + "/events")
	if _, err := r.Line(); err != nil {
		t.Fatal(err)
	}
	got := b.send("GET", "/agent/runs/"+run.ID+"/events", "")
	if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
		t.Errorf("got %d %v; want %d and something", got.status, got.header, http.StatusTooManyRequests)
	}
	b.append(run.ID, chat.RunDone{Status: chat.RunCompleted})
	r.All(t)
	for b.streams.Count() > 0 { // the place comes back when the handler returns
		b.send("GET", "/readyz", "")
	}
	if got := b.send("GET", "/agent/runs/"+run.ID+"/events", ""); got.status != http.StatusOK {
		t.Errorf("after the first has ended: %d, want %d", got.status, http.StatusOK)
	}
}

func TestAKeptConnectionSurvivesTheStreamBeforeIt(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Limits.WriteTimeout = 30 * time.Millisecond })
	run := b.begin("Is the roof sound?")
	b.append(run.ID, script()...)
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for i := range 2 {
		if _, err := fmt.Fprintf(conn, "GET /agent/runs/%s/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
			run.ID); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(ssetest.NewReader(conn).Buffer, nil)
		if err != nil {
			t.Fatalf("request %d on the connection: %v, want no error", i, err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatalf("request %d on the connection: %v, want no error", i, err)
		}
		expired := time.NewTimer(60 * time.Millisecond) // the deadline of the last write passes
		<-expired.C
	}
}
