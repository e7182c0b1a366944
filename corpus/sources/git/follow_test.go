package git_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/follow"
	"github.com/footnote/footnote/corpus/sources/git"
	"github.com/footnote/footnote/corpus/sources/git/gittest"
	"github.com/footnote/footnote/corpus/sources/placestest"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/sql/librarytest"
)

// A library follows a repository: changed files are sent once, unchanged ones never again, and nothing is removed
// when a server is down or fails.
func TestLibraryFollowsRepository(t *testing.T) {
	t.Parallel()
	r := gittest.Serve(t)
	r.Write(map[string]string{
		"README.md": "# Book", "docs/roof.md": "# Roof\n\nThe slates last 30 years.", "docs/same.md": "# Book",
		"tool.exe": "MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00",
		"film.mp4": "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
	})
	r.Push()
	f, lib := newFollower(t, r)
	first := f.look(t)
	if first.Failure != nil || first.Report.Added != 3 || first.Counts.Refused != 2 {
		t.Fatalf("first check = %+v", first.Progress)
	}
	so := r.Traffic()
	if so.Times != 2 || len(so.Asked) != 5 { // the commit, and four distinct files
		t.Errorf("%d objects were asked for, %d times; want 5, twice", len(so.Asked), so.Times)
	}
	asked := so.Asked

	r.Write(map[string]string{"docs/roof.md": "# Roof\n\nThe slates last 40 years.", "new.md": "# New"})
	r.Git("rm", "-q", "docs/same.md")
	r.Push()
	p := f.look(t)
	so = r.Traffic()
	for _, name := range so.Asked {
		if slices.Contains(asked, name) {
			t.Errorf("%s is fetched again", name)
		}
	}
	if p.Failure != nil || p.Report.Changed != 1 || p.Report.Added != 1 || len(so.Asked) != 3 {
		t.Errorf("after a change: %+v, asked for %v; want the commit and two files", p.Progress, so.Asked)
	}
	// An incomplete look is not recorded as complete.
	r.Write(map[string]string{"late.md": "# Late"})
	r.Push()
	posts := 0
	r.BreakWith(func(w http.ResponseWriter, req *http.Request) bool {
		if req.Method == http.MethodPost {
			posts++
		}
		if posts > 2 { // branches and folders succeed, files fail
			w.WriteHeader(http.StatusBadGateway)
		}
		return posts > 2
	})
	if p = f.look(t); p.Failure == nil || p.Counts.Waiting != 1 {
		t.Errorf("files that can't be read: %+v, want it said", p.Progress)
	}
	r.BreakWith(nil)
	if p = f.look(t); p.Failure != nil || p.Report.Added != 1 {
		t.Errorf("then: %+v, want the file that waited", p.Progress)
	}
	r.Traffic()
	paths := []string{"book/README.md", "book/docs/roof.md", "book/late.md", "book/new.md"}
	wantPaths(t, lib, paths)

	// Without a new commit not even folders are fetched.
	if p = f.look(t); p.Failure != nil || p.Report.Changed != 0 || p.Counts.Items != 6 || r.Traffic().Times != 0 {
		t.Errorf("without a change: %+v, want nothing asked for", p.Progress)
	}
	wantPaths(t, lib, paths)

	for name, fails := range map[string]func(w http.ResponseWriter, _ *http.Request) bool{
		"it is down": func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(502); return true },
		"it is gone": func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(404); return true },
		"it asks for a password": func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(401)
			return true
		},
	} {
		r.BreakWith(fails)
		if p := f.look(t); p.Failure == nil {
			t.Errorf("%s: %+v, want it said", name, p.Progress)
		}
		wantPaths(t, lib, paths)
	}
	r.BreakWith(nil)
	if err := os.Rename(r.Bare, r.Bare+".away"); err != nil {
		t.Fatal(err)
	}
	if p := f.look(t); p.Failure == nil {
		t.Errorf("without the repository: %+v, want it said", p.Progress)
	}
	wantPaths(t, lib, paths)
	if err := os.Rename(r.Bare+".away", r.Bare); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"README.md", "docs", "new.md", "late.md", "tool.exe", "film.mp4"} {
		if err := os.RemoveAll(filepath.Join(r.Clone, file)); err != nil {
			t.Fatal(err)
		}
	}
	r.Push()
	if p := f.look(t); p.Note == "" {
		t.Errorf("a repository that is empty now: %+v, want it said", p.Progress)
	}
	wantPaths(t, lib, paths)
}

// follower follows a repository.
type follower struct {
	*follow.Follower
	id    string
	ended chan struct{} // a look
}

// released signals the end of a look.
type released struct {
	placestore.Store
	ended chan struct{}
}

// ReleasePlace implements placestore.Store.
func (r released) ReleasePlace(
	ctx context.Context, id, owner string, revision int64, progress placestore.Progress, due time.Duration,
) error {
	err := r.Store.ReleasePlace(ctx, id, owner, revision, progress, due)
	r.ended <- struct{}{}
	return err
}

func newFollower(t *testing.T, r *gittest.Repository) (*follower, *librarytest.Library) {
	t.Helper()
	lib := librarytest.Open(t, t.TempDir(), nil)
	f := &follower{ended: make(chan struct{}, 100)}
	n := placestest.Net(t, r.At)
	f.Follower = follow.New(follow.Config{
		Store: released{lib.DB.Places(), f.ended}, Library: lib.Library, Kinds: []sources.Kind{git.Kind()},
		Secrets: t.TempDir(), Alone: true, Net: func(sources.Kind, bool) sources.Net { return n },
	})
	p, err := f.Create(t.Context(), chat.LocalUser, true, follow.Draft{
		Kind: "git", Name: "book", Schedule: placestore.OnRequest, Settings: map[string]string{"url": r.Address},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.id = p.ID
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return f, lib
}

// look runs a look at the repository; the first one is due already.
func (f *follower) look(t *testing.T) placestore.Place {
	t.Helper()
	p, err := f.Store.Place(t.Context(), chat.LocalUser, f.id)
	if err == nil && !p.LookedAt.IsZero() {
		_, err = f.SyncNow(t.Context(), chat.LocalUser, f.id)
	}
	if err != nil {
		t.Fatal(err)
	}
	<-f.ended
	if p, err = f.Store.Place(t.Context(), chat.LocalUser, f.id); err != nil {
		t.Fatal(err)
	}
	return p
}

func wantPaths(t *testing.T, lib *librarytest.Library, want []string) {
	t.Helper()
	docs, _, err := lib.Library.List(t.Context(), chat.Scope{User: chat.LocalUser}, corpus.Filter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range docs {
		got = append(got, d.Path)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("documents = %q, want %q", got, want)
	}
}
