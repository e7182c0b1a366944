package server

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources/follow"
	"github.com/footnote/footnote/server/httpio/ssetest"
	"github.com/footnote/footnote/sql/sqlite"
)

// hostile are texts that would break a stream without escaping.
var hostile = []string{
	"a\r\rb", "a\n\nid: 99\nevent: run_done\ndata: {}\n\n", "\u2028\u2029", "id: 7\r\n\r\n", "]}\x00\ufeff",
	"</script>",
}

// script returns the payloads of a run, with hostile input and output.
func script() []chat.Payload {
	payloads := []chat.Payload{
		chat.RunStarted{Question: "Is the roof sound?", Model: "m", Mode: chat.ModeFullBook, Toolset: "cursor"},
	}
	for i, text := range hostile {
		raw, _ := json.Marshal(map[string]string{"text": text}) // strings always encode
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

// open starts to read a stream.
func (b *harness) open(path string, headers ...string) (*http.Response, *ssetest.Reader) {
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

// logged returns the expected stream of a run, derived from the store alone.
func (b *harness) logged(runID string) []ssetest.Event {
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

func TestStreamResumesAtEveryPosition(t *testing.T) {
	b := newHarness(t)
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
		check(t, k, path+"?after=999", "Last-Event-ID", strconv.Itoa(k)) // the header takes precedence over the address
	}
	b.append(run.ID, all[len(all)-1])
	for k := range len(all) {
		check(t, k, path, "Last-Event-ID", strconv.Itoa(k))
		if got := b.send("GET", path+"?after="+strconv.Itoa(k),
			""); len(ssetest.NewReader(strings.NewReader(got.body)).All(t)) != len(all)-k {
			t.Errorf("after %d: stream of an ended run has another length", k)
		}
	}
	if got := b.send("GET", path, "", "Last-Event-ID", strconv.Itoa(len(all))); got.status != http.StatusNoContent {
		t.Errorf("a reader that has all gets %d, want 204", got.status)
	}
}

func TestStreamPositionBeyondEndRestarts(t *testing.T) {
	b := newHarness(t)
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

func TestInvalidStreamPositions(t *testing.T) {
	b := newHarness(t)
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

func TestFirstByteIsSentBeforeEvents(t *testing.T) {
	b := newHarness(t)
	run := b.begin("Is the roof sound?")
	res, r := b.open("/agent/runs/"+run.ID+"/events", "Accept-Encoding", "gzip")
	line, err := r.Line() // the run has no event yet: without a flush this would block
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

func TestStalledReaderDoesNotBlockOthers(t *testing.T) {
	// no reader is too slow except the one that never reads
	b := newHarness(t, func(c *Config) { c.Limits.WriteTimeout = 5 * time.Minute })
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

	big := strings.Repeat("x", 256<<10) // larger than a connection's buffers
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

func TestStalledReaderIsDisconnected(t *testing.T) {
	b := newHarness(t, func(c *Config) { c.Limits.WriteTimeout = 50 * time.Millisecond })
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
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the stream is open; nothing is read from here on
		t.Fatal(err)
	}
	for b.streams.Count() > 0 {
		b.append(run.ID, chat.AnswerDelta{Text: strings.Repeat("x", 1<<20)})
	}
}

func TestIdleStreamSendsKeepalives(t *testing.T) {
	b := newHarness(t, func(c *Config) { c.Limits.Heartbeat = time.Millisecond })
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

func TestStreamLimit(t *testing.T) {
	b := newHarness(t, func(c *Config) { c.Limits.Streams = 1 })
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
	for b.streams.Count() > 0 { // the handler decrements the count when it returns
		b.send("GET", "/readyz", "")
	}
	if got := b.send("GET", "/agent/runs/"+run.ID+"/events", ""); got.status != http.StatusOK {
		t.Errorf("after the first has ended: %d, want %d", got.status, http.StatusOK)
	}
}

func TestKeepaliveConnectionIsReusedAfterStream(t *testing.T) {
	b := newHarness(t, func(c *Config) { c.Limits.WriteTimeout = 30 * time.Millisecond })
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
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
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

// One event to 1,000 readers is encoded once: the allocation per event and reader is far less than the event.
func BenchmarkRunWithThousandReaders(b *testing.B) {
	const readers = 1000
	bench := newHarness(b)
	run := bench.begin("Is the roof sound?")
	got := make(chan struct{}, readers)
	var wg sync.WaitGroup
	for range readers {
		body, err := bench.subscribe(run.ID)
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer body.Close()
			buf := make([]byte, 32<<10)
			for {
				n, err := body.Read(buf)
				for range bytes.Count(buf[:n], []byte("\nevent: ")) {
					got <- struct{}{}
				}
				if err != nil {
					return
				}
			}
		})
	}
	text := strings.Repeat("x", 4<<10)
	b.SetBytes(readers * int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		bench.append(run.ID, chat.AnswerDelta{Text: text})
		for range readers {
			<-got
		}
	}
	b.StopTimer()
	go func() {
		for range got {
		}
	}()
	bench.append(run.ID, chat.RunDone{Status: chat.RunCompleted})
	wg.Wait()
	close(got)
}

// BenchmarkIdleStreams measures the cost of an open stream without events, excluding the client's side.
func BenchmarkIdleStreams(b *testing.B) {
	bench := newHarness(b)
	run := bench.begin("Is the roof sound?")
	for b.Loop() {
		const streams = 2000
		var before, during runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		conns := make([]net.Conn, streams)
		for i := range conns {
			conn, err := net.Dial("tcp", strings.TrimPrefix(bench.url, "http://"))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := fmt.Fprintf(conn, "GET /agent/runs/%s/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
				run.ID); err != nil {
				b.Fatal(err)
			}
			for seen := []byte{}; !bytes.Contains(seen, []byte(": open")); {
				var buf [512]byte
				n, err := conn.Read(buf[:])
				if err != nil {
					b.Fatal(err)
				}
				seen = append(seen, buf[:n]...)
			}
			conns[i] = conn
		}
		runtime.GC()
		runtime.ReadMemStats(&during)
		used := float64(during.HeapInuse+during.StackInuse) - float64(before.HeapInuse+before.StackInuse)
		b.ReportMetric(used/streams/1024, "KiB/stream")
		for _, conn := range conns {
			if err := conn.Close(); err != nil {
				b.Fatal(err)
			}
		}
		for bench.streams.Count() > 0 {
			runtime.Gosched()
		}
	}
}

func (b *harness) subscribe(runID string) (io.ReadCloser, error) {
	res, err := http.Get(b.url + "/agent/runs/" + runID + "/events")
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

func TestDrainingServerEndsStreamsWithRetry(t *testing.T) {
	b := newHarness(t)
	run := b.begin("Is the roof sound?")
	b.append(run.ID, script()[:3]...)
	_, r := b.open("/agent/runs/" + run.ID + "/events")
	take(t, r, 3)
	b.Drain()
	if events := r.All(t); len(events) != 0 || r.Retry == "" {
		t.Errorf("at the end: events %q, retry %q; want no events and something", events, r.Retry)
	}
	for path, want := range map[string]int{"/readyz": 503, "/agent/runs/" + run.ID: 200} {
		if got := b.send("GET", path, ""); got.status != want {
			t.Errorf("%s = %d, want %d", path, got.status, want)
		}
	}
	for _, path := range []string{"/chat", "/agent/chat"} {
		got := b.send("POST", path, `{"message":"Is the roof sound?"}`)
		if got.status != 503 || got.header.Get("Retry-After") == "" {
			t.Errorf("%s = %d %s, want 503", path, got.status, got.body)
		}
	}
}

func TestWaitingRequestIsNotifiedOfRestart(t *testing.T) {
	b := newHarness(t)
	answered := make(chan reply)
	go func() {
		defer close(answered)
		answered <- b.send("POST", "/agent/chat", `{"message":"Is the roof sound?","session_id":"s1"}`)
	}()
	for { // until the run is stored, the request may be refused instead of waiting
		if runs, err := b.store.Runs(t.Context(), chat.Local, "s1"); err == nil && len(runs) == 1 {
			break
		}
	}
	b.Drain()
	if got := <-answered; got.status != 503 {
		t.Errorf("got %d %s, want 503", got.status, got.body)
	}
}

// A reader that had k events when the server stopped gets the others from the next server on the same file.
func TestStreamResumesAfterRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "footnote.db")
	all := script()
	begin := func() (*harness, func()) {
		db, err := sqlite.Open(t.Context(), path, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		store := db.Chats()
		feed := chat.NewFeed(store)
		runs := &runStub{store: store, feed: feed}
		s, err := New(Config{
			Store: store, Feed: feed, Library: new(corpus.Library), Runs: runs, Places: follow.New(follow.Config{}),
		})
		if err != nil {
			t.Fatal(err)
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- s.Serve(ln) }()
		return &harness{
				Server: s, t: t, url: "http://" + ln.Addr().String(), stage: runs, store: store, feed: feed,
			}, func() {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				if err := s.Shutdown(ctx); err != nil {
					t.Errorf("shutdown: %v, want no error", err)
				}
				if err := <-served; err != nil {
					t.Errorf("serve: %v, want no error", err)
				}
				if _, err := http.Get("http://" + ln.Addr().String() + "/readyz"); err == nil {
					t.Error("server responds after its shutdown")
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}
	}
	b, stop := begin()
	run := b.begin("Is the roof sound?")
	b.append(run.ID, all[:5]...)
	_, r := b.open("/agent/runs/" + run.ID + "/events")
	before := take(t, r, 5)
	stop()

	b, stop = begin()
	b.append(run.ID, all[5:]...)
	_, r = b.open("/agent/runs/"+run.ID+"/events", "Last-Event-ID", strconv.Itoa(len(before)))
	after := r.All(t)
	if diff := cmp.Diff(b.logged(run.ID), append(before, after...)); diff != "" {
		t.Error(diff)
	}
	stop()
}

// loseAfter deletes the end of all logs, as a crash of the database may.
func (b *harness) loseAfter(seq int64) {
	b.t.Helper()
	db, err := sql.Open("sqlite", "file:"+b.path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		b.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(b.t.Context(), `DELETE FROM events WHERE id % (1 << 20) > ?`, seq); err != nil {
		b.t.Fatal(err)
	}
	b.feed.WakeAll() // as after a lost connection to the database
}

// A reader whose stream stays open while the database loses events that it has seen gets a reset and the new events.
func TestReaderGetsResetAfterLogTruncation(t *testing.T) {
	b := newHarness(t)
	run := b.begin("Is the roof sound?")
	path := "/agent/runs/" + run.ID + "/events"
	step := func(id, says string) chat.Step {
		return chat.Step{
			CallID: id, Step: "analyse", Message: says, Status: chat.StatusComplete, ToolStatus: chat.StatusComplete,
		}
	}
	b.append(run.ID, chat.RunStarted{Question: "Is the roof sound?"}, step("c1", "one"), step("c2", "two"),
		step("c3", "three"))
	readers := map[string]*ssetest.Reader{}
	for _, name := range []string{path, "/runs/" + run.ID + "/stream"} {
		res, r := b.open(name)
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, want %d", name, res.StatusCode, http.StatusOK)
		}
		take(t, r, 4)
		readers[name] = r
	}
	b.loseAfter(2)
	for name, r := range readers {
		if told := take(t, r, 3); told[0].Name != "reset" || told[1].ID != "1" || told[2].ID != "2" {
			t.Errorf("%s: got events %v; want %q, %q, %q", name, told, "reset", "1", "2")
		}
	}
	b.append(run.ID, step("c2", "other words"), step("c3", "and others"), step("c4", "and more"),
		chat.RunDone{Status: chat.RunCompleted})
	want := b.logged(run.ID)
	if diff := cmp.Diff(want[2:], take(t, readers[path], len(want)-2)); diff != "" {
		t.Errorf("later events (-want +got):\n%s", diff)
	}
	for i, ev := range take(t, readers["/runs/"+run.ID+"/stream"], len(want)-2) {
		if ev.ID != fmt.Sprint(i+3) {
			t.Errorf("id of fragment %d = %s", i+3, ev.ID)
		}
	}
	_, late := b.open(path)
	if diff := cmp.Diff(want, take(t, late, len(want))); diff != "" {
		t.Errorf("a reader that comes late (-want +got):\n%s", diff)
	}
}
