package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/web"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/sqlite"
)

// receiver is a receiver that records requests. reply answers each; nil: 204.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	got   []received
	reply func(n int, w http.ResponseWriter, r *http.Request)
}

type received struct {
	header http.Header
	body   []byte
}

func newReceiver(t *testing.T, reply func(n int, w http.ResponseWriter, r *http.Request)) *receiver {
	m := &receiver{reply: reply}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		m.mu.Lock()
		m.got = append(m.got, received{r.Header, body})
		n := len(m.got)
		m.mu.Unlock()
		if m.reply == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		m.reply(n, w, r)
	}))
	t.Cleanup(m.Close)
	return m
}

// all returns the received messages, oldest first.
func (m *receiver) all() []received {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]received(nil), m.got...)
}

// harness is a store with a sender and a fake clock.
type harness struct {
	*testing.T
	path  string
	store *sqlite.Chats
	now   time.Time
	*Sender
	reach web.DialPolicy
}

func newHarness(t *testing.T) *harness {
	p := &harness{
		T: t, path: filepath.Join(t.TempDir(), "footnote.db"), now: time.Now().Truncate(time.Microsecond),
		reach: web.DialPolicy{Own: true},
	}
	p.open()
	return p
}

// open opens the store as a starting server does.
func (p *harness) open() (shut func()) {
	p.Helper()
	db, err := sqlite.Open(p.Context(), p.path, slog.New(slog.DiscardHandler))
	if err != nil {
		p.Fatal(err)
	}
	shut = sync.OnceFunc(func() {
		if err := db.Close(); err != nil {
			p.Error(err)
		}
	})
	p.Cleanup(shut)
	p.store = db.Chats()
	p.Sender = p.another()
	return shut
}

// another returns the sender of another server with the same store.
func (p *harness) another() *Sender {
	return New(Config{
		Store: p.store, Client: func(local bool) *http.Client {
			if !local {
				return web.DialPolicy{}.Client()
			}
			return p.reach.Client()
		},
		Sentence: func(_ context.Context, d chat.Difference) string { return "now “" + d.Now + "”" },
		Now:      func() time.Time { return p.now },
	})
}

// set sets the address and returns the secret.
func (p *harness) set(address string) string {
	p.Helper()
	secret, err := p.Set(p.Context(), chat.Local, address, "https://footnote.example", true)
	if err != nil {
		p.Fatal(err)
	}
	return secret
}

// change records a change as the scheduler does.
func (p *harness) change(differences ...chat.Difference) (keptID string) {
	p.Helper()
	kept, err := p.store.AddStanding(p.Context(), chat.Local, chat.Standing{
		Request: chat.RunRequest{Message: "How long is the notice period?"},
	})
	if err == nil {
		_, err = p.store.ChangeStanding(p.Context(), chat.Local, kept.ID, func(s *chat.Standing) error {
			s.Changes = []chat.Change{{ID: chat.NewID(), At: p.now.UTC(), RunID: "r2", Differences: differences}}
			return nil
		})
	}
	if err != nil {
		p.Fatal(err)
	}
	return kept.ID
}

// work sends messages until none is due.
func (p *harness) work() {
	p.Helper()
	for range 3 {
		p.loop.Once(p.Context())
	}
}

// hook returns the webhook's state.
func (p *harness) hook() chat.Webhook {
	p.Helper()
	h, err := p.store.Webhook(p.Context(), chat.Local)
	if err != nil {
		p.Fatal(err)
	}
	return h
}

// signed verifies a message as its receiver does.
func (r received) signed(secret string) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || !strings.HasPrefix(secret, "whsec_") {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(r.header.Get("webhook-id") + "." + r.header.Get("webhook-timestamp") + "." + string(r.body)))
	return r.header.Get("webhook-signature") == "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

var sixMonths = chat.Difference{
	Kind: chat.DifferenceChanged, DocumentID: "d1", Title: "Lease", Was: "3 months", Now: "6 months",
	Before: &chat.MarkedQuote{Quote: "The notice period is 3 months.", URL: "/agent/runs/r1#1"},
	After:  &chat.MarkedQuote{Quote: "The notice period is 6 months.", Place: "page 2", URL: "/d/d1?cite=r2"},
}

func TestMessageHasVerifiableSignature(t *testing.T) {
	t.Parallel()
	p, box := newHarness(t), newReceiver(t, nil)
	secret := p.set(box.URL + "/in?team=1")
	kept := p.change(sixMonths)
	p.work()
	got := box.all()
	if len(got) != 2 {
		t.Fatalf("%d messages came, want that it was set, and the change", len(got))
	}
	var first, told Message
	for i, m := range []*Message{&first, &told} {
		if err := json.Unmarshal(got[i].body, m); err != nil || !got[i].signed(secret) {
			t.Errorf("message %d: %v, signed %v: %s", i, err, got[i].signed(secret), got[i].body)
		}
		if stamp := got[i].header.Get("webhook-timestamp"); stamp != strconv.FormatInt(p.now.Unix(), 10) {
			t.Errorf("webhook-timestamp = %s, want now", stamp)
		}
	}
	d := told.Data
	if first.Type != TypeSet || told.Type != TypeChanged || d.QuestionID != kept || d.RunID != "r2" ||
		d.Question != "How long is the notice period?" || d.ID != got[1].header.Get("webhook-id") ||
		d.URL != "https://footnote.example/standing#kept-"+kept || !told.Timestamp.Equal(p.now) {
		t.Fatalf("messages = %+v, %+v", first, told)
	}
	if len(d.Differences) != 1 || d.Differences[0].After.URL != "https://footnote.example/d/d1?cite=r2" ||
		d.Differences[0].Before.Quote != sixMonths.Before.Quote || d.Differences[0].After.Place != "page 2" ||
		d.Differences[0].Document != (Document{"d1", "Lease", "https://footnote.example/d/d1", false}) ||
		d.Differences[0].Text != "now “6 months”" {
		t.Errorf("differences = %+v", d.Differences)
	}
	if h := p.hook(); !h.SentAt.Equal(p.now) || h.Waiting != 0 {
		t.Errorf("the webhook = %+v, want that it took them", h)
	}
	if again := p.set(box.URL); again == secret || box.all()[0].signed(again) {
		t.Error("new webhook has the old secret, want a new one")
	}
	p.work()
	if got := box.all(); len(got) != 3 || got[2].signed(secret) {
		t.Error("old secret still signs")
	}
}

func TestRetriesSurviveRestart(t *testing.T) {
	t.Parallel()
	p := newHarness(t)
	box := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 2 || n == 3 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	secret := p.set(box.URL)
	p.work()
	p.change(sixMonths)
	p.work()
	h := p.hook()
	if len(box.all()) != 2 || h.Trouble.String() != "The webhook URL returned status 500." || h.Waiting != 1 ||
		h.Lost != 0 {
		t.Fatalf("%d came, the webhook = %+v; want one that failed", len(box.all()), h)
	}
	for i, wait := range []time.Duration{time.Minute, 5 * time.Minute} {
		p.now = p.now.Add(wait - time.Second)
		p.work()
		if n := len(box.all()); n != 2+i {
			t.Fatalf("%d came before it was due, want %d", n, 2+i)
		}
		p.now = p.now.Add(time.Second)
		p.open() // a new process
		p.work()
	}
	got := box.all()
	if len(got) != 4 || !got[3].signed(secret) || got[1].header.Get("webhook-id") != got[3].header.Get("webhook-id") ||
		got[1].header.Get("webhook-timestamp") == got[3].header.Get("webhook-timestamp") {
		t.Errorf("%d came; want the same message with a new time", len(got))
	}
	if h := p.hook(); h.Trouble != "" || h.Waiting != 0 || !h.FailedAt.IsZero() {
		t.Errorf("the webhook = %+v, want it well", h)
	}
}

func TestExhaustedRetriesAreReported(t *testing.T) {
	t.Parallel()
	p := newHarness(t)
	box := newReceiver(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n > 1 {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}
	})
	p.set(box.URL)
	p.work()
	p.change(sixMonths)
	for range 10 {
		p.work()
		p.now = p.now.Add(13 * time.Hour)
	}
	h := p.hook()
	if n := len(box.all()); n != 2+len(waits) {
		t.Errorf("it was sent %d times, want %d, and no redirect followed", n-1, 1+len(waits))
	}
	if h.Lost != 1 || h.Waiting != 0 ||
		!strings.Contains(h.Trouble.String(), "returned status 307. Redirects are not followed.") {
		t.Errorf("the webhook = %+v, want one lost", h)
	}
}

func TestHangingAddressDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	p, well := newHarness(t), newReceiver(t, nil)
	hung := newReceiver(t, func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	p.cfg.Timeout = 100 * time.Millisecond
	p.set(hung.URL)
	if _, err := p.Set(t.Context(), chat.Scope{User: "bert"}, well.URL, "", true); err != nil {
		t.Fatal(err)
	}
	p.loop.Once(t.Context())
	if h := p.hook(); h.Trouble != "The webhook URL timed out after 10 s." || len(well.all()) != 1 {
		t.Errorf("the webhook = %+v, and %d came elsewhere", h, len(well.all()))
	}
}

func TestReplyIsNotReadToEnd(t *testing.T) {
	t.Parallel()
	p := newHarness(t)
	ended := make(chan struct{})
	box := newReceiver(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	p.set(box.URL)
	p.loop.Once(t.Context())
	<-ended
	if h := p.hook(); h.SentAt.IsZero() {
		t.Errorf("the webhook = %+v, want that it took it", h)
	}
}

func TestOneServerSendsMessage(t *testing.T) {
	t.Parallel()
	p := newHarness(t)
	box := newReceiver(t, nil)
	p.set(box.URL)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			p.another().loop.Once(t.Context())
		})
	}
	wg.Wait()
	if n := len(box.all()); n != 1 {
		t.Errorf("it was sent %d times, want once", n)
	}
}

func TestInternalAddressesAreBlocked(t *testing.T) {
	t.Parallel()
	p, box := newHarness(t), newReceiver(t, nil)
	p.reach = web.DialPolicy{}
	for _, address := range []string{
		box.URL, "http://169.254.169.254/latest", "http://localhost" + box.URL[strings.LastIndex(box.URL, ":"):],
		"http://[::1]/",
	} {
		p.set(address)
		p.work()
		if h := p.hook(); !strings.Contains(h.Trouble.String(), "not on the public internet") {
			t.Errorf("%s: %+v, want it refused", address, h)
		}
	}
	if len(box.all()) != 0 {
		t.Error("internal address was reached")
	}
	for _, address := range []string{"", "ftp://x.example/", "https://a:b@x.example/", "/in", "https://" +
		strings.Repeat("a", 2000) + ".example/"} {
		if _, err := p.Set(t.Context(), chat.Local, address, "", true); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%.40q: %v, want it refused", address, err)
		}
	}
}

func TestLogOmitsAddress(t *testing.T) {
	p := newHarness(t)
	var log bytes.Buffer
	p.cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	closed := newReceiver(t, nil)
	closed.Close()
	p.set(closed.URL + "/services/s3cr3t")
	p.work()
	if !strings.Contains(log.String(), "could not be reached") || strings.Contains(log.String(), "s3cr3t") {
		t.Errorf("log = %s, want the reason without the address", log.String())
	}
}

func TestLongMessageIsTruncated(t *testing.T) {
	t.Parallel()
	p, box := newHarness(t), newReceiver(t, nil)
	p.set(box.URL)
	long := sixMonths
	long.After = &chat.MarkedQuote{Quote: strings.Repeat("a", 100<<10)}
	p.change(long, long, long, long)
	p.work()
	var told Message
	body := box.all()[1].body
	if err := json.Unmarshal(body, &told); err != nil || len(body) > MaxBody {
		t.Fatalf("%d bytes, %v; want at most %d", len(body), err, MaxBody)
	}
	if len(told.Data.Differences) != 2 || told.Data.More != 2 {
		t.Errorf("%d differences and %d more, want 2 of each", len(told.Data.Differences), told.Data.More)
	}
}
