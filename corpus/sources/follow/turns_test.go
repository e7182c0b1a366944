package follow

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestore"
)

// TestUserWithSeveralSlowPlacesYields has three places of one user hold every worker. Another user's place is
// synchronized all the same.
func TestUserWithSeveralSlowPlacesYields(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	slow := newShelf(t)
	reached := make(chan struct{}, 100)
	add := func(user, name string, at *shelf) placestore.Place {
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
	b.shelf.fill(3)
	p := add("ada", "shelf", b.shelf)
	for p.LookedAt.IsZero() {
		select {
		case <-t.Context().Done():
			t.Fatal("the other user's place was not synchronized")
		case <-reached: // a look of the first user's began again
		}
		var err error
		if p, err = b.Store.Place(t.Context(), "ada", p.ID); err != nil {
			t.Fatal(err)
		}
	}
	wantReport(t, p, 3, 0, 0)
}

// TestUserHasFourChecksAtOnce begins four checks of one user that do not end.
func TestUserHasFourChecksAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	reached, open := make(chan struct{}, 4), make(chan struct{})
	kind := shelfKind(false)
	slow := newShelf(t)
	slow.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		select {
		case <-open:
		case <-r.Context().Done():
		}
	})
	check := func(user string, at *shelf) error {
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
	if err := check("ada", b.shelf); chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("a fifth check: got %v, want %s", err, chat.CodeTooMany)
	}
	if err := check("bert", b.shelf); err != nil {
		t.Errorf("another user's check: got %v, want none", err)
	}
	close(open)
	all.Wait()
	if err := check("ada", b.shelf); err != nil {
		t.Errorf("a check after them: got %v, want none", err)
	}
}
