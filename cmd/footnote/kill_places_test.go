package main_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/corpus/sources/webdav/webdavtest"
)

// gate passes requests on to a WebDAV server, or holds them while it is shut.
type gate struct {
	*httptest.Server
	shut    atomic.Bool
	count   atomic.Int64  // requests
	reached chan struct{} // holds one: a request is held
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	at, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	g, ended := &gate{reached: make(chan struct{}, 1)}, make(chan struct{})
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: at.Scheme, Host: at.Host})
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.count.Add(1)
		if !g.shut.Load() {
			pass.ServeHTTP(w, r)
			return
		}
		select {
		case g.reached <- struct{}{}:
		default:
		}
		_, _ = io.Copy(io.Discard, r.Body) // else the end of the client is not seen
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	}))
	t.Cleanup(func() { close(ended); g.Close() })
	return g
}

// TestPlaceIsPausedAfterTwoDeaths kills the process twice while it synchronizes a place. At the first death another
// place is synchronized as well.
func TestPlaceIsPausedAfterTwoDeaths(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	putFiles(t, folder, map[string]string{"well.md": "# Well\n\nThe well is nine metres deep.\n"})
	address, _ := webdavtest.Serve(t, folder)
	deadly, innocent := newGate(t, address), newGate(t, address)
	s := serve(t, newDir(t))
	follow := func(name string, g *gate) string {
		return s.followPlace(fmt.Sprintf(`{"kind":"webdav","name":%q,"schedule":"request","settings":{
			"url":%q,"username":"ada","password":"secret"}}`, name, g.URL+"/dav"))
	}
	deadlyID, innocentID, other := follow("deadly", deadly), follow("innocent", innocent), follow("other", innocent)
	state := func(s *server, id string) placeState {
		return loose[placeState](t, s.send("GET", "/places/"+id, nil).body)
	}
	begin := func(s *server, id string, g *gate) {
		g.shut.Store(true)
		if r := s.send("POST", "/places/"+id+"/look", nil); r.status != http.StatusAccepted {
			t.Fatalf("look: got %d %s, want %d", r.status, r.body, http.StatusAccepted)
		}
		<-g.reached
	}

	// A server that is stopped in order counts no death.
	begin(s, deadlyID, deadly)
	for range 2 {
		s.end(os.Interrupt)
		s = s.restart()
		<-deadly.reached
	}
	begin(s, innocentID, innocent)
	s.kill()
	innocent.shut.Store(false)
	s = s.restart()
	<-deadly.reached
	s.kill()

	before := deadly.count.Load()
	s = s.restart()
	eventually(t, "the other place of the first death is synchronized", func() bool {
		got := state(s, innocentID)
		return got.State == "idle" && got.Failure == nil
	})
	if got := s.look(other); got.Failure != nil {
		t.Errorf("another place: got %+v, want no failure", got)
	}
	got := state(s, deadlyID)
	if got.State != "paused" || got.Failure == nil || !strings.Contains(got.Failure.Detail, "ended twice") {
		t.Errorf("after two deaths: got %+v, want it paused with its reason", got)
	}
	page := s.send("GET", "/places", nil, header{"Accept", "text/html"})
	if !strings.Contains(page.body, "ended twice") {
		t.Error("the page does not say why the place is paused")
	}
	if n := deadly.count.Load() - before; n > 0 {
		t.Errorf("got %d requests for a paused place, want none", n)
	}
	deadly.shut.Store(false)
	if got := s.look(deadlyID); got.State != "idle" || got.Failure != nil {
		t.Errorf("after a look on request: got %+v, want it idle", got)
	}
}
