package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/footnote/footnote/agent/web"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/sql/librarytest"
)

// shelf is a place over real HTTP: what is on it and how it behaves is the test's to say.
type shelf struct {
	*httptest.Server
	mu      sync.Mutex
	items   map[string]page
	order   []string
	fails   func(w http.ResponseWriter, r *http.Request) bool // answers a request itself
	fetched int
}

// hole is the key of an item behind which the shelf's list lacks something.
const hole = "a hole"

// page is an item of the shelf.
type page struct{ Version, Name, Body, Title string }

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{items: map[string]page{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// put puts an item on the shelf.
func (s *shelf) put(key string, p page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.items[key]; !there {
		s.order = append(s.order, key)
	}
	s.items[key] = p
}

// take takes an item away.
func (s *shelf) take(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.items, key)
}

// breakWith has requests answered otherwise; nil: as they should be.
func (s *shelf) breakWith(fails func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = fails
}

func (s *shelf) serve(w http.ResponseWriter, r *http.Request) {
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

// shelfKind follows a shelf.
func shelfKind(keeps bool) sources.Kind {
	return sources.Kind{
		Name: "shelf", Keeps: keeps,
		Fields: []sources.Field{{Name: "url", Required: true}, {Name: "password", Secret: true}},
		Open: func(s sources.Settings, n sources.Net) (sources.Place, error) {
			return &openShelf{s["url"], s["password"], n}, nil
		},
	}
}

type openShelf struct {
	url, password string
	net           sources.Net
}

func (o *openShelf) get(ctx context.Context, query string) (io.ReadCloser, error) {
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
		return nil, &chat.Error{Code: chat.CodeTimeout, Message: "The shelf is too slow."}
	}
	return nil, &chat.Error{Code: chat.CodeUnavailable, Message: "The shelf is out of order."}
}

func (o *openShelf) Check(ctx context.Context) error {
	body, err := o.get(ctx, "/")
	if err == nil {
		err = body.Close()
	}
	return err
}

func (o *openShelf) List(ctx context.Context) iter.Seq2[sources.Item, error] {
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

func (o *openShelf) Fetch(ctx context.Context, item sources.Item, _ string) (sources.Content, error) {
	body, err := o.get(ctx, "/?key="+url.QueryEscape(item.Key))
	return sources.Content{Body: body}, err
}

// bench is a follower of a shelf over a real library.
type bench struct {
	*Follower
	library *librarytest.Library
	shelf   *shelf
	place   placestore.Place
}

const user = chat.LocalUser

func newBench(t *testing.T, keeps bool) *bench {
	t.Helper()
	lib := librarytest.Open(t, t.TempDir(), nil)
	b := &bench{library: lib, shelf: newShelf(t)}
	reach := web.Reach{Own: true}
	client := reach.Client()
	t.Cleanup(client.CloseIdleConnections)
	b.Follower = New(Config{
		Store: lib.DB.Places(), Library: lib.Library, Kinds: []sources.Kind{shelfKind(keeps)}, Secrets: t.TempDir(),
		Net:   func(sources.Kind, bool) sources.Net { return sources.Net{HTTP: client, Dial: reach.Dial} },
		Alone: true,
	})
	return b
}

// follow has the shelf followed, on request.
func (b *bench) follow(t *testing.T) {
	t.Helper()
	var err error
	b.place, err = b.Create(t.Context(), user, true, Draft{
		Kind: "shelf", Name: "shelf", Schedule: placestore.OnRequest,
		Settings: map[string]string{"url": b.shelf.URL, "password": "open sesame"},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// lookNow looks at the place once and returns it.
func (b *bench) lookNow(t *testing.T) placestore.Place {
	t.Helper()
	if b.place.ID == "" {
		b.follow(t)
	} else if _, err := b.Look(t.Context(), user, b.place.ID); err != nil {
		t.Fatal(err)
	}
	return b.work(t)
}

// work does what is due.
func (b *bench) work(t *testing.T) placestore.Place {
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

// documents are all documents by path.
func (b *bench) documents(t *testing.T) map[string]corpus.Document {
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

// wantReport checks what a look did.
func wantReport(t *testing.T, p placestore.Place, added, changed, removed int) {
	t.Helper()
	if p.Failure != nil {
		t.Errorf("the look failed: %+v", p.Failure)
	}
	got := fmt.Sprintf("%d added, %d changed, %d removed", p.Report.Added, p.Report.Changed, p.Report.Removed)
	if want := fmt.Sprintf("%d added, %d changed, %d removed", added, changed, removed); got != want {
		t.Errorf("the look: %s; want %s", got, want)
	}
}

// fill puts n items on the shelf.
func (s *shelf) fill(n int) {
	for i := range n {
		s.put(fmt.Sprintf("k%05d", i), page{
			Version: "1", Name: fmt.Sprintf("folder/page %d.md", i), Body: fmt.Sprintf("# Page %d\n\nText %d.", i, i),
		})
	}
}
