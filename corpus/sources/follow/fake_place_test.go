package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/agent/web"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/corpus/sources/registry"
	"github.com/footnote/footnote/sql/librarytest"
)

// fakePlace is a test place over real HTTP, with items and behaviour set by the test.
type fakePlace struct {
	*httptest.Server
	mu      sync.Mutex
	items   map[string]page
	order   []string
	fails   func(w http.ResponseWriter, r *http.Request) bool // handles a request itself
	fetched int
}

// hole is the key of an item after which the place's list is incomplete.
const hole = "a hole"

// page is an item of the fakePlace.
type page struct{ Version, Name, Body, Title string }

func newFakePlace(t *testing.T) *fakePlace {
	t.Helper()
	s := &fakePlace{items: map[string]page{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// put adds or replaces an item.
func (s *fakePlace) put(key string, p page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.items[key]; !there {
		s.order = append(s.order, key)
	}
	s.items[key] = p
}

// remove removes an item.
func (s *fakePlace) remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.items, key)
}

// breakWith sets a handler that may replace responses; nil removes it.
func (s *fakePlace) breakWith(fails func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = fails
}

func (s *fakePlace) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil && s.fails(w, r) {
		return
	}
	if _, password, _ := r.BasicAuth(); password != "open sesame" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	key := r.URL.Query().Get("key")
	if key == "" {
		out := json.NewEncoder(w)
		for _, key := range s.order {
			if p, there := s.items[key]; there {
				_ = out.Encode(map[string]string{"key": key, "version": p.Version, "name": p.Name, "title": p.Title})
			}
		}
		return
	}
	p, there := s.items[key]
	if !there {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.fetched++
	_, _ = io.WriteString(w, p.Body)
}

// fakeKind returns the kind of a fakePlace.
func fakeKind(keeps bool) sources.Kind {
	return sources.Kind{
		Name: "shelf", Keeps: keeps,
		Fields: []sources.Field{{Name: "url", Required: true}, {Name: "password", Secret: true}},
		Open: func(s sources.Settings, n sources.Net) (sources.Place, error) {
			return &openFakePlace{s["url"], s["password"], n}, nil
		},
	}
}

type openFakePlace struct {
	url, password string
	net           sources.Net
}

func (o *openFakePlace) get(ctx context.Context, query string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url+query, nil)
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth("me", o.password)
	resp, err := o.net.HTTP.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*chat.Error](err); ok {
			return nil, e
		}
		return nil, &chat.Error{Code: chat.CodeUnavailable, Message: "The shelf does not answer.", Err: err}
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	_ = resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return nil, &chat.Error{Code: chat.CodeUnauthorized, Message: "The password is not taken."}
	case http.StatusNotFound:
		return nil, sources.ErrGone
	case http.StatusForbidden:
		return nil, &chat.Error{Code: chat.CodeForbidden, Message: "Not now.", Err: sources.ErrAgain}
	case http.StatusGatewayTimeout:
		return nil, &chat.Error{Code: chat.CodeTimeout, Message: sources.Retried("The shelf is too slow.")}
	}
	return nil, &chat.Error{Code: chat.CodeUnavailable, Message: "The shelf is out of order."}
}

func (o *openFakePlace) Check(ctx context.Context) error {
	body, err := o.get(ctx, "/")
	if err == nil {
		err = body.Close()
	}
	return err
}

func (o *openFakePlace) List(ctx context.Context) iter.Seq2[sources.Item, error] {
	return func(yield func(sources.Item, error) bool) {
		body, err := o.get(ctx, "/")
		if err != nil {
			if errors.Is(err, sources.ErrGone) {
				err = &chat.Error{Code: chat.CodeInvalid, Message: "There is no shelf at this address."}
			}
			yield(sources.Item{}, err)
			return
		}
		defer body.Close()
		for in := json.NewDecoder(body); ; {
			var line struct{ Key, Version, Name, Title string }
			if err := in.Decode(&line); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				yield(sources.Item{}, &chat.Error{Code: chat.CodeUnavailable, Message: "The list broke off.", Err: err})
				return
			}
			if line.Key == hole {
				yield(sources.Item{}, &chat.Error{
					Code: chat.CodeUnavailable, Message: "A board is missing.", Err: sources.ErrPart,
				})
				return
			}
			if !yield(sources.Item{
				Key: line.Key, Version: line.Version, Name: line.Name, Size: -1,
				Link: o.url + "/" + url.PathEscape(line.Key),
				Meta: map[string]any{"title": line.Title, "watched": "mine"},
			}, nil) {
				return
			}
		}
	}
}

func (o *openFakePlace) Fetch(ctx context.Context, item sources.Item, _ string) (sources.Content, error) {
	body, err := o.get(ctx, "/?key="+url.QueryEscape(item.Key))
	return sources.Content{Body: body}, err
}

// harness is a Follower with a fakePlace and a real library.
type harness struct {
	*Follower
	library *librarytest.Library
	remote  *fakePlace
	place   placestore.Place
}

const user = chat.LocalUser

func newHarness(t *testing.T, keeps bool) *harness {
	t.Helper()
	lib := librarytest.Open(t, t.TempDir(), nil)
	b := &harness{library: lib, remote: newFakePlace(t)}
	reach := web.DialPolicy{Own: true}
	client := reach.Client()
	t.Cleanup(client.CloseIdleConnections)
	b.Follower = New(Config{
		Store: lib.DB.Places(), Library: lib.Library, Kinds: []sources.Kind{fakeKind(keeps)}, Secrets: t.TempDir(),
		Net:   func(sources.Kind, bool) sources.Net { return sources.Net{HTTP: client, Dial: reach.Dial} },
		Alone: true,
	})
	return b
}

// follow creates the place, with looks on request.
func (b *harness) follow(t *testing.T) {
	t.Helper()
	var err error
	b.place, err = b.Create(t.Context(), user, true, Draft{
		Kind: "shelf", Name: "shelf", Schedule: placestore.OnRequest,
		Settings: map[string]string{"url": b.remote.URL, "password": "open sesame"},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// lookNow runs one look at the place and returns the place.
func (b *harness) lookNow(t *testing.T) placestore.Place {
	t.Helper()
	if b.place.ID == "" {
		b.follow(t)
	} else if _, err := b.SyncNow(t.Context(), user, b.place.ID); err != nil {
		t.Fatal(err)
	}
	return b.work(t)
}

// work processes a due place.
func (b *harness) work(t *testing.T) placestore.Place {
	t.Helper()
	if did, err := b.workOnce(t.Context()); err != nil || !did {
		t.Fatalf("workOnce = %v, %v; want a look", did, err)
	}
	p, err := b.Store.Place(t.Context(), user, b.place.ID)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// documents returns all documents by path.
func (b *harness) documents(t *testing.T) map[string]corpus.Document {
	t.Helper()
	all := map[string]corpus.Document{}
	f := corpus.Filter{Limit: 1000}
	for {
		page, next, err := b.Library.List(t.Context(), chat.Scope{User: user}, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range page {
			all[d.Path] = d
		}
		if f.Cursor = next; next == "" {
			return all
		}
	}
}

// wantReport checks the report of a look.
func wantReport(t *testing.T, p placestore.Place, added, changed, removed int) {
	t.Helper()
	if p.Failure != nil {
		t.Errorf("check failed: %+v", p.Failure)
	}
	got := fmt.Sprintf("%d added, %d changed, %d removed", p.Report.Added, p.Report.Changed, p.Report.Removed)
	if want := fmt.Sprintf("%d added, %d changed, %d removed", added, changed, removed); got != want {
		t.Errorf("the look: %s; want %s", got, want)
	}
}

// fill adds n items.
func (s *fakePlace) fill(n int) {
	for i := range n {
		s.put(fmt.Sprintf("k%05d", i), page{
			Version: "1", Name: fmt.Sprintf("folder/page %d.md", i), Body: fmt.Sprintf("# Page %d\n\nText %d.", i, i),
		})
	}
}

// An item that was moved or renamed keeps its document, with the item's new path and link.
func TestDocumentMovesWithItem(t *testing.T) {
	t.Parallel()
	b := newHarness(t, false)
	b.remote.fill(3)
	wantReport(t, b.lookNow(t), 3, 0, 0)
	before := b.documents(t)["shelf/folder/page 1.md"]
	moved := b.remote.items["k00001"]
	b.remote.remove("k00001")
	moved.Name = "attic/old page.md"
	b.remote.put("elsewhere", moved)
	wantReport(t, b.lookNow(t), 0, 1, 0)
	now := b.documents(t)
	d, there := now["shelf/attic/old page.md"]
	if !there || d.ID != before.ID || len(now) != 3 {
		t.Fatalf("documents = %v; want the one of before at its new path", now)
	}
	if link := d.MetaText(corpus.MetaSourceURL); !strings.HasSuffix(link, "/elsewhere") {
		t.Errorf("it leads to %q, want where the item is", link)
	}
	wantReport(t, b.lookNow(t), 0, 0, 0)
	b.remote.remove("elsewhere")
	wantReport(t, b.lookNow(t), 0, 0, 1)
}

// If a place changes all its keys, no document is duplicated or lost, and each is later removed with its item.
func TestChangedItemKeysKeepDocuments(t *testing.T) {
	t.Parallel()
	b := newHarness(t, false)
	b.remote.fill(20)
	b.remote.put("copy", b.remote.items["k00007"])
	b.lookNow(t)
	before := b.documents(t)
	for i := range 20 {
		key := fmt.Sprintf("k%05d", i)
		p := b.remote.items[key]
		b.remote.remove(key)
		b.remote.put("other "+key, p)
	}
	wantReport(t, b.lookNow(t), 1, 0, 0) // the item that shared a document with the copy
	now := b.documents(t)
	for path, d := range before {
		if now[path].ID != d.ID {
			t.Errorf("%s is document %q, want %q", path, now[path].ID, d.ID)
		}
	}
	if len(now) != len(before) {
		t.Errorf("%d documents, want %d", len(now), len(before))
	}
	b.remote.remove("other k00003")
	wantReport(t, b.lookNow(t), 0, 0, 1)
	if now := b.documents(t); len(now) != len(before)-1 {
		t.Errorf("%d documents, want %d", len(now), len(before)-1)
	}
}

// Items of an incomplete list are fetched. Nothing is removed or moved until the list is complete.
func TestIncompleteListRemovesNothing(t *testing.T) {
	t.Parallel()
	b := newHarness(t, false)
	b.remote.fill(3)
	b.lookNow(t)
	moved := b.remote.items["k00000"]
	b.remote.remove("k00000")
	b.remote.remove("k00001")
	moved.Name = "elsewhere.md"
	b.remote.put("moved", moved)
	b.remote.put("new", page{Version: "1", Name: "new.md", Body: "# New\n\nIt is new."})
	b.remote.put(hole, page{})
	p := b.lookNow(t)
	if p.Failure == nil || p.Failure.Message != "A board is missing." || p.Report.Removed != 0 {
		t.Errorf("the look: %+v, want its failure and nothing removed", p)
	}
	now := b.documents(t)
	for _, path := range []string{"shelf/folder/page 0.md", "shelf/folder/page 1.md", "shelf/new.md"} {
		if _, there := now[path]; !there {
			t.Errorf("%s is missing in %d documents", path, len(now))
		}
	}
	b.remote.remove(hole)
	p = b.lookNow(t)
	if now = b.documents(t); len(now) != 3 || p.Failure != nil {
		t.Errorf("%d documents and %+v once it is whole, want 3", len(now), p.Failure)
	}
}

// An item with a temporary refusal is retried at each look, although its version stays the same.
func TestTemporaryRefusalIsRetried(t *testing.T) {
	t.Parallel()
	b := newHarness(t, false)
	b.remote.fill(2)
	b.remote.breakWith(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("key") == "k00001" {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	})
	if p := b.lookNow(t); p.Report.Added != 1 || p.Counts.Refused != 1 || p.Failure != nil {
		t.Errorf("the look: %+v, want one added and one refused", p)
	}
	b.remote.breakWith(nil)
	p := b.lookNow(t)
	wantReport(t, p, 1, 0, 0)
	if p.Counts.Refused != 0 {
		t.Errorf("%d are refused still, want none", p.Counts.Refused)
	}
}

// TestUserWithSlowSourcesYields has three places of one user occupy every worker. Another user's place is
// still synchronised.
func TestUserWithSlowSourcesYields(t *testing.T) {
	t.Parallel()
	b := newHarness(t, false)
	slow := newFakePlace(t)
	reached := make(chan struct{}, 100)
	add := func(user, name string, at *fakePlace) placestore.Place {
		p, err := b.Create(t.Context(), user, true, Draft{
			Kind: "shelf", Name: name, Schedule: placestore.OnRequest,
			Settings: map[string]string{"url": at.URL, "password": "open sesame"},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for i := range 3 {
		add("mallory", fmt.Sprint(i), slow)
	}
	slow.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		reached <- struct{}{}
		<-r.Context().Done()
	})
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	running.Go(func() { b.Run(t.Context()) })
	for range workers {
		<-reached
	}
	b.remote.fill(3)
	p := add("ada", "shelf", b.remote)
	for p.LookedAt.IsZero() {
		select {
		case <-t.Context().Done():
			t.Fatal("other user's source was not synchronized")
		case <-reached: // a look of the first user started again
		}
		var err error
		if p, err = b.Store.Place(t.Context(), "ada", p.ID); err != nil {
			t.Fatal(err)
		}
	}
	wantReport(t, p, 3, 0, 0)
}

// TestUserHasFourChecksAtOnce starts four checks of one user that block.
func TestUserHasFourChecksAtOnce(t *testing.T) {
	t.Parallel()
	b := newHarness(t, false)
	reached, open := make(chan struct{}, 4), make(chan struct{})
	kind := fakeKind(false)
	slow := newFakePlace(t)
	slow.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		select {
		case <-open:
		case <-r.Context().Done():
		}
	})
	check := func(user string, at *fakePlace) error {
		return b.check(t.Context(), user, true, kind, sources.Settings{"url": at.URL}, sources.Settings{
			"password": "open sesame",
		})
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := check("ada", slow); err != nil {
				t.Error(err)
			}
		})
	}
	for range 4 {
		<-reached
	}
	if err := check("ada", b.remote); chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("a fifth check: got %v, want %s", err, chat.CodeTooMany)
	}
	if err := check("bert", b.remote); err != nil {
		t.Errorf("another user's check: got %v, want none", err)
	}
	close(open)
	all.Wait()
	if err := check("ada", b.remote); err != nil {
		t.Errorf("a check after them: got %v, want none", err)
	}
}

// dials is a network access that records requested addresses and rejects all connections.
type dials struct{ to []string }

// RoundTrip implements http.RoundTripper.
func (d *dials) RoundTrip(r *http.Request) (*http.Response, error) {
	d.to = append(d.to, r.URL.String())
	return nil, &chat.Error{Code: chat.CodeForbidden, Message: "Nothing is sent."}
}

func (d *dials) dial(_ context.Context, _, address string) (net.Conn, error) {
	d.to = append(d.to, address)
	return nil, &chat.Error{Code: chat.CodeForbidden, Message: "Nothing is sent."}
}

// elsewhere returns addresses that differ from a kind's example in scheme, host or port.
func elsewhere(t *testing.T, example string) []string {
	t.Helper()
	if host, port, err := net.SplitHostPort(example); err == nil && !strings.Contains(example, "/") {
		return []string{"evil.example:" + port, "evil.example", host + ":1993", host + ".:" + port}
	}
	u, err := url.Parse(example)
	if err != nil {
		t.Fatal(err)
	}
	with := func(scheme, host string) string {
		moved := *u
		moved.Scheme, moved.Host = scheme, host
		return moved.String()
	}
	other := map[string]string{"https": "http", "http": "https"}[u.Scheme]
	return []string{
		with(other, u.Host), with(u.Scheme, "evil.example"), with(u.Scheme, u.Hostname()+":8444"),
		with(u.Scheme, u.Hostname()+".evil.example"), with(u.Scheme, u.Hostname()+"."),
	}
}

// TestServerChangeRequiresSecrets covers each kind of the registry with a secret: a stored secret is never
// sent to another server.
func TestServerChangeRequiresSecrets(t *testing.T) {
	t.Parallel()
	lib := librarytest.Open(t, t.TempDir(), nil)
	sent := &dials{}
	f := New(Config{
		Store: lib.DB.Places(), Library: lib.Library, Kinds: registry.Kinds(), Secrets: t.TempDir(), Alone: true,
		Net: func(sources.Kind, bool) sources.Net {
			return sources.Net{HTTP: &http.Client{Transport: sent}, Dial: sent.dial}
		},
	})
	for _, kind := range f.Kinds {
		settings, secrets := map[string]string{}, map[string]string{}
		var addresses []string
		for _, field := range kind.Fields {
			switch {
			case field.Secret:
				secrets[field.Name] = "a-secret"
			case strings.Contains(field.Example, "://") || strings.Contains(field.Example, ".org:"):
				addresses = append(addresses, field.Name)
				fallthrough
			case field.Example != "":
				settings[field.Name] = field.Example
			default:
				settings[field.Name] = "ada"
			}
		}
		if len(secrets) == 0 {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			if len(addresses) == 0 {
				t.Fatal("no field has an address as its example, want one that the test can change")
			}
			id := chat.NewID()
			setup := placestore.Setup{
				Kind: kind.Name, Name: kind.Name, Namespace: chat.DefaultNamespace, Settings: settings,
				Schedule: placestore.OnRequest, Secrets: slices.Sorted(maps.Keys(secrets)), SecretsAt: "at",
			}
			if err := f.storeSecrets(id, setup.SecretsAt, secrets); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Store.CreatePlace(t.Context(), id, user, setup); err != nil {
				t.Fatal(err)
			}
			// change returns the requested addresses of a change, and the field of its error.
			change := func(given map[string]string) (to []string, field string) {
				t.Helper()
				sent.to = nil
				_, err := f.Change(t.Context(), user, id, true, Change{Settings: given})
				if err == nil || chat.CodeOf(err) != chat.CodeInvalid {
					t.Errorf("%v: %v, want %s", given, err, chat.CodeInvalid)
				}
				if wrong, ok := errors.AsType[*FieldError](err); ok {
					field = wrong.Field
				}
				return sent.to, field
			}
			for _, name := range addresses {
				for n, at := range elsewhere(t, settings[name]) {
					if to, field := change(map[string]string{name: at}); len(to) > 0 || secrets[field] == "" {
						t.Errorf("%s = %s: requests to %q, an error of %q; want none, and one of the secret",
							name, at, to, field)
					}
					if n > 0 {
						continue // each attempt takes seconds for some kinds
					}
					with := maps.Clone(secrets)
					with[name] = at
					if to, field := change(with); len(to) == 0 || field != "" {
						t.Errorf("%s = %s with the secret: requests to %q, an error of %q; want it to be tried",
							name, at, to, field)
					}
				}
				if to, field := change(map[string]string{name: settings[name]}); len(to) == 0 || field != "" {
					t.Errorf("the same address: requests to %q, an error of %q; want it to be tried", to, field)
				}
			}
			// A change of another field keeps the secret.
			if to, field := change(map[string]string{}); len(to) == 0 || field != "" {
				t.Errorf("no change: requests to %q, an error of %q; want it to be tried", to, field)
			}
		})
	}
}
