package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/corpus/sources/webdav/webdavtest"
)

// mostOfServer is how much memory a server may take that follows a place, however large that is.
const mostOfServer = 600 << 20

// trial is a place on a real WebDAV server behind a proxy that can lie, and a server that follows it and is killed.
type trial struct {
	*server
	folder string
	n      int
	rng    *rand.Rand
	proxy  *liar
	place  string
	kills  int
	pauses int   // that two kills in a row led to; the owner resumes the place
	peak   int64 // bytes, over all processes
}

// placeFiles is how many files the trial has: as FOOTNOTE_TRIAL_FILES says, else few.
func placeFiles(t *testing.T) int {
	t.Helper()
	return numberFrom(t, "FOOTNOTE_TRIAL_FILES", 100, 100)
}

// A place is followed whatever happens: while the server that follows it is killed again and again, and while the
// server of the place lies, fails and falls silent. In the end each file has one document, and there is no other.
func TestAPlaceOutlivesKillsAndLies(t *testing.T) {
	t.Parallel()
	n := placeFiles(t)
	tr := &trial{server: serve(t, newDir(t)), folder: t.TempDir(), n: n, rng: rand.New(rand.NewPCG(3, 5))}
	for i := range n {
		tr.write(tr.name(i), fmt.Sprintf("# Note %d\n\nThe parcel %d was surveyed on day %d.\n", i, i, i*3))
	}
	address, _ := webdavtest.Serve(t, tr.folder)
	tr.proxy = newLiar(t, strings.TrimSuffix(address, "/dav"))

	tr.report("read %d files the first time", n)
	made := tr.send("POST", "/places", fmt.Sprintf(`{"kind":"webdav","name":"deeds","schedule":"request",
		"settings":{"url":%q,"username":"ada","password":"secret"}}`, tr.proxy.URL+"/dav"))
	tr.place = loose[placeState](t, made.body).ID
	tr.killIn("all of it", 4, func(s placeState, k int) bool { return s.Items > 0 && s.Items-s.Waiting >= n*(k+1)/6 })
	state := tr.untilLooked("")
	tr.sameAsFolder(state)
	tr.report("%d files again, nothing changed", n)
	tr.lookAll(0, 0, 0)

	changes := tr.change(n / 10)
	tr.report("%d changes", changes)
	before := tr.askLook()
	tr.killIn("the changes", 4, func(s placeState, k int) bool {
		return s.LastLook.Added+s.LastLook.Changed >= changes*(k+1)/8 || s.LookedAt != before
	})
	tr.sameAsFolder(tr.untilLooked(before))
	tr.lies()
	tr.report("")
	t.Logf("killed %d times, paused %d times; at most %d MiB of memory", tr.kills, tr.pauses, tr.peak>>20)
	if tr.peak > mostOfServer {
		t.Errorf("a server took %d MiB, want at most %d", tr.peak>>20, mostOfServer>>20)
	}
}

// lies has the place's server lie in each way, and looks at it: what was there stays, and once it is honest, all is
// as in the folder.
func (tr *trial) lies() {
	tr.t.Helper()
	for _, lie := range allLies() {
		tr.report("while it %s", lie.what)
		if lie.changes {
			tr.change(tr.n / 50)
		}
		before := tr.documents()
		tr.proxy.tell(lie)
		state := tr.untilLooked(tr.askLook())
		if lie.sees {
			tr.sameAsFolder(state)
		} else {
			after := tr.documents()
			for path := range before {
				if _, there := after[path]; !there && !lie.changes {
					tr.t.Errorf("%s is lost while the server %s: %+v", path, lie.what, state)
					break
				}
			}
			if len(after) < len(before)*9/10 {
				tr.t.Errorf("%d of %d documents are left while the server %s: %+v", len(after), len(before),
					lie.what, state)
			}
		}
		tr.proxy.tell(lies{})
		tr.sameAsFolder(tr.untilLooked(tr.askLook()))
	}
}

// killIn kills the server each time that the place is as far as wanted, and starts it again.
func (tr *trial) killIn(what string, times int, far func(s placeState, k int) bool) {
	tr.t.Helper()
	for k := range times {
		tr.waitWhile(what, func(s placeState) bool { return !far(s, k) })
		tr.measure()
		tr.kill()
		tr.kills++
		tr.server = tr.restart()
	}
}

// state is what the server says of the place.
func (tr *trial) state() placeState {
	return loose[placeState](tr.t, tr.send("GET", "/places/"+tr.place, nil).body)
}

// untilLooked waits until the place was looked at.
func (tr *trial) untilLooked(before string) placeState {
	tr.t.Helper()
	return tr.waitWhile("the look ends", func(s placeState) bool {
		return s.LookedAt == before || s.State == "looking"
	})
}

// waitWhile waits for as long as something goes on, while the place is as it should not be.
func (tr *trial) waitWhile(what string, wrong func(placeState) bool) (state placeState) {
	tr.t.Helper()
	last, late := "", time.Now().Add(patience)
	for state = tr.state(); wrong(state); state = tr.state() {
		if now := fmt.Sprint(state.Items, state.Waiting, state.LastLook); now != last {
			last, late = now, time.Now().Add(patience)
		}
		if state.State == "paused" && tr.kills > 1 {
			tr.pauses++
			tr.askLook()
		}
		if time.Now().After(late) {
			tr.t.Fatalf("waited in vain: %s: %+v", what, state)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return state
}

// askLook has the place looked at, and returns when it was before.
func (tr *trial) askLook() (before string) {
	tr.t.Helper()
	before = tr.state().LookedAt
	if r := tr.send("POST", "/places/"+tr.place+"/look", nil); r.status != http.StatusAccepted {
		tr.t.Fatalf("look: %d %s", r.status, r.body)
	}
	return before
}

// lookAll looks at the place, and wants that it changed so much.
func (tr *trial) lookAll(added, changed, removed int) {
	tr.t.Helper()
	state := tr.untilLooked(tr.askLook())
	got := fmt.Sprint(state.LastLook.Added, state.LastLook.Changed, state.LastLook.Removed)
	if want := fmt.Sprint(added, changed, removed); got != want || state.Failure != nil {
		tr.t.Errorf("the look: %+v, want %s and no failure", state, want)
	}
	tr.sameAsFolder(state)
}

// documents are the documents of the place: their bytes' hashes by path.
func (tr *trial) documents() map[string]string {
	all := map[string]string{}
	for _, d := range tr.shelved() {
		all[strings.TrimPrefix(d.Path, "deeds/")] = d.SHA256
	}
	return all
}

// sameAsFolder waits until each file has a ready document at its path, and there is no other.
func (tr *trial) sameAsFolder(state placeState) {
	tr.t.Helper()
	if state.Failure != nil {
		tr.t.Errorf("the look failed: %+v", state)
	}
	want := map[string]string{}
	for _, name := range tr.files() {
		text, err := os.ReadFile(filepath.Join(tr.folder, name))
		if err != nil {
			tr.t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		want[name] = hex.EncodeToString(sum[:])
	}
	tr.measure()
	ready := func() int {
		n := 0
		for _, d := range tr.shelved() {
			if d.State == "ready" {
				n++
			}
		}
		return n
	}
	for last, late := -1, time.Now().Add(patience); ; time.Sleep(time.Duration(50+tr.n/10) * time.Millisecond) {
		n := ready()
		if n >= len(want) {
			break
		}
		if n != last {
			last, late = n, time.Now().Add(patience)
		}
		if time.Now().After(late) {
			tr.t.Fatalf("%d documents are ready, want %d", n, len(want))
		}
	}
	got := tr.documents()
	wrong := 0
	for path, sum := range want {
		if got[path] != sum {
			if wrong++; wrong < 4 {
				tr.t.Errorf("%s has the document %q, want %q", path, got[path], sum)
			}
		}
	}
	for path := range got {
		if _, there := want[path]; !there {
			if wrong++; wrong < 8 {
				tr.t.Errorf("%s is a document and no file", path)
			}
		}
	}
	if all := len(tr.shelved()); all != len(want) {
		tr.t.Errorf("%d documents for %d files", all, len(want))
	}
}

// measure notes how much memory the server took at most.
func (tr *trial) measure() {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tr.cmd.Process.Pid))
	if err != nil {
		return // not on Linux
	}
	if found := regexp.MustCompile(`VmHWM:\s+(\d+)`).FindSubmatch(raw); found != nil {
		kib, _ := strconv.ParseInt(string(found[1]), 10, 64) // digits
		tr.peak = max(tr.peak, kib<<10)
	}
}

// report says how long the step before took and what comes now.
func (tr *trial) report(format string, args ...any) {
	if tr.proxy.step != "" {
		tr.t.Logf("%s: %.1f s, %d lists and %d files asked for", tr.proxy.step, time.Since(tr.proxy.begun).Seconds(),
			tr.proxy.lists.Swap(0), tr.proxy.files.Swap(0))
	}
	tr.proxy.step, tr.proxy.begun = fmt.Sprintf(format, args...), time.Now()
}

func (tr *trial) name(i int) string { return fmt.Sprintf("d%02d/f%05d.md", i%100, i) }

func (tr *trial) write(name, text string) { putFiles(tr.t, tr.folder, map[string]string{name: text}) }

// files are the names of all files of the place.
func (tr *trial) files() (names []string) {
	tr.t.Helper()
	err := filepath.WalkDir(tr.folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, strings.TrimPrefix(path, tr.folder+"/"))
		}
		return err
	})
	if err != nil {
		tr.t.Fatal(err)
	}
	return names
}

// change makes so many changes in all ways, each to a file of its own.
func (tr *trial) change(n int) int {
	tr.t.Helper()
	files := tr.files()
	tr.rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	for i, name := range files[:n] {
		nr := tr.rng.Uint32()
		switch at := filepath.Join(tr.folder, name); i % 4 {
		case 0:
			tr.write(fmt.Sprintf("new/g%d.md", nr), fmt.Sprintf("# New %d\n\nA new parcel %d.\n", nr, nr))
		case 1: // with the size of before, for dates alone to tell
			text, err := os.ReadFile(at)
			if err != nil {
				tr.t.Fatal(err)
			}
			mark := fmt.Appendf(nil, "%010d", nr)
			tr.write(name, string(append(mark, bytes.Repeat([]byte("x"), max(len(text)-len(mark), 0))...)))
		case 2:
			to := filepath.Join(tr.folder, fmt.Sprintf("moved/r%d.md", nr))
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				tr.t.Fatal(err)
			}
			if err := os.Rename(at, to); err != nil {
				tr.t.Fatal(err)
			}
		case 3:
			if err := os.Remove(at); err != nil {
				tr.t.Fatal(err)
			}
		}
	}
	return n
}

// lies are what a server does that it should not.
type lies struct {
	what    string
	changes bool // files change at the same time
	sees    bool // the look sees them all the same
	// answers answers a request itself; alters changes an answer. Both may be nil.
	answers func(w http.ResponseWriter, r *http.Request) bool
	alters  func(resp *http.Response) error
}

// liar is a proxy that lies as it is told.
type liar struct {
	*httptest.Server
	now          atomic.Pointer[lies]
	lists, files atomic.Int64
	step         string
	begun        time.Time
}

func newLiar(t *testing.T, to string) *liar {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l := &liar{}
	l.tell(lies{})
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.ModifyResponse = func(resp *http.Response) error {
		if alters := l.now.Load().alters; alters != nil {
			return alters(resp)
		}
		return nil
	}
	forward.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) {
		w.WriteHeader(http.StatusBadGateway)
	}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "PROPFIND" {
			l.lists.Add(1)
		} else {
			l.files.Add(1)
		}
		if answers := l.now.Load().answers; answers != nil && answers(w, r) {
			_, _ = io.Copy(io.Discard, r.Body) // it may break off
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(l.Close)
	return l
}

func (l *liar) tell(lie lies) { l.now.Store(&lie) }
