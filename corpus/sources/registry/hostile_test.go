//go:build !race

// Memory is measured without the race detector, which slows garbage collection.

package registry_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestest"
	"github.com/footnote/footnote/corpus/sources/registry"
)

// mostMemory is the maximum heap growth of one list in bytes, including dead objects. The process may take 300 MiB.
const mostMemory = 200 << 20

// TestListingsUseBoundedMemory lists every hostile listing of every kind, and again at half its size until it is
// accepted: sizes just below a limit cost most. It uses a sixteenth of each kind's byte limit, which exceeds most
// other limits; make hostile tests the full limits. Each list ends by itself, with a user-facing error or at most
// sources.MaxItems items.
func TestListingsUseBoundedMemory(t *testing.T) {
	for _, h := range placestest.HostileListings(16) {
		t.Run(h.Shape, func(t *testing.T) {
			for more, err := true, error(sources.ErrTooLarge); more && chat.CodeOf(err) == chat.CodeTooLarge; {
				var items int
				if items, err = listWithin(t, h); items > sources.MaxItems+1 {
					t.Errorf("%d items were listed, want at most %d", items, sources.MaxItems)
				}
				h, more = h.Half()
			}
		})
	}
}

// TestLargeListingsAreRead lists as many entries of every kind as real servers return at once.
func TestLargeListingsAreRead(t *testing.T) {
	for _, h := range placestest.LargeListings() {
		t.Run(h.Shape, func(t *testing.T) {
			items, err := listWithin(t, h)
			if err != nil || items < h.Entries {
				t.Errorf("%d items, %v; want %d", items, err, h.Entries)
			}
		})
	}
}

// TestPagesUseBoundedMemory fetches pages that are small when compressed.
func TestPagesUseBoundedMemory(t *testing.T) {
	const most = 16 << 20 // a little below the limit of a page in bytes
	for name, page := range map[string]struct {
		kind, body string
		refused    bool
	}{
		"attributes":      {kind: "text/html", body: "<a" + strings.Repeat(" b", most/2-10) + ">words"},
		"elements":        {kind: "text/html", body: strings.Repeat("<a>", most/3-10) + "words"},
		"one word":        {kind: "text/html", body: strings.Repeat("a", most-10)},
		"wide characters": {kind: "text/html; charset=windows-1252", body: strings.Repeat("\x80", most/3-10)},
		"wide text":       {kind: "text/plain; charset=utf-16le", body: strings.Repeat("\x01\x20", most/3-10)},
		"too wide": {
			kind: "text/html; charset=windows-1252", body: strings.Repeat("\x80", most-10), refused: true,
		},
		"a comment": {kind: "text/html", body: "words<!--" + strings.Repeat("-", most-20)},
	} {
		t.Run(name, func(t *testing.T) {
			address, n := placestest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", page.kind)
				_, _ = io.WriteString(w, page.body)
			}))
			p := openKind(t, "webpages", sources.Settings{"urls": address + "/page"}, n)
			var size int64
			var err error
			took := peakMemory(func() {
				var content sources.Content
				if content, err = p.Fetch(t.Context(), sources.Item{Key: address + "/page"}, ""); err == nil {
					size, _ = io.Copy(io.Discard, content.Body)
					err = content.Body.Close()
				}
			})
			t.Logf("%d MiB for %d bytes", took>>20, size)
			if took > mostMemory {
				t.Errorf("the heap grew by %d MiB, want at most %d", took>>20, mostMemory>>20)
			}
			switch {
			case page.refused && chat.CodeOf(err) != chat.CodeTooLarge:
				t.Errorf("error = %v, want a page that is too large", err)
			case !page.refused && (err != nil || size < int64(len(page.body))):
				t.Errorf("read %d of %d bytes, %v", size, len(page.body), err)
			}
		})
	}
}

// TestMailServersUseBoundedMemory tests a mail server whose response to one command is just below the limit.
func TestMailServersUseBoundedMemory(t *testing.T) {
	const most, memory = 15 << 20, 160 << 20 // bytes of the response, below its limit, and of the heap
	var names strings.Builder
	for n := 0; names.Len() < most; n++ {
		fmt.Fprintf(&names, " %x", n)
	}
	for name, answer := range map[string]struct{ command, head, unit string }{
		"greeting":         {"", "* OK ", "a"},
		"capabilities":     {"CAPABILITY", "* CAPABILITY", names.String()},
		"lines of it":      {"CAPABILITY", "", "* CAPABILITY A B C\r\n"},
		"an untagged line": {"EXAMINE", "* OK [UIDVALIDITY 1", "1"},
		"numbers of mails": {"UID SEARCH", "* SEARCH", " 1"},
		"nested lists":     {"UID FETCH", "* 1 FETCH (FLAGS ", "("},
		"many mails":       {"UID FETCH", "", "* 1 FETCH (UID 1 RFC822.SIZE 1)\r\n"},
		"a word":           {"UID FETCH", "* 1 FETCH (", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = listener.Close() })
			body := answer.head + strings.Repeat(answer.unit, most/len(answer.unit)+1)
			go serveMail(listener, answer.command, body)
			p := openKind(t, "imap", sources.Settings{
				"server": listener.Addr().String(), "username": "ada", "password": "secret",
			}, placestest.Net(t, listener.Addr()))
			items := 0
			took := peakMemory(func() {
				for _, err = range p.List(t.Context()) {
					items++
				}
			})
			t.Logf("%d MiB, %d items, %v", took>>20, items, err)
			if told := (*chat.Error)(nil); took > memory || err != nil && !errors.As(err, &told) {
				t.Errorf("the heap grew by %d MiB, %v; want at most %d MiB and a sentence", took>>20, err, memory>>20)
			}
		})
	}
}

// TestGitServersUseBoundedMemory tests a Git server whose capabilities or branches are just below the limit.
func TestGitServersUseBoundedMemory(t *testing.T) {
	const most, memory = 15 << 20, 160 << 20 // bytes of the response, below its limit, and of the heap
	const itself = "000eversion 2\n0000"
	var branches strings.Builder
	for n := 0; branches.Len() < most; n++ {
		fmt.Fprintf(&branches, "0041%s refs/heads/%08d\n", strings.Repeat("a", 40), n)
	}
	for name, said := range map[string]struct{ itself, branches string }{
		"abilities": {"000eversion 2\n" + strings.Repeat("000cagent=x\n", most/12) + "0000", "0000"},
		"long abilities": {
			"000eversion 2\n" + strings.Repeat("fff0fetch="+strings.Repeat("a ", 32755), most>>16) + "0000", "0000",
		},
		"branches":    {itself, branches.String() + "0000"},
		"no protocol": {strings.Repeat("a", most), "0000"},
	} {
		t.Run(name, func(t *testing.T) {
			address, n := placestest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					_, _ = io.WriteString(w, said.itself) // the client may have closed the connection
				} else {
					_, _ = io.WriteString(w, said.branches)
				}
			}))
			var err error
			took := peakMemory(func() {
				for _, err = range openKind(t, "git", sources.Settings{"url": address + "/a"}, n).List(t.Context()) {
					continue
				}
			})
			t.Logf("%d MiB, %v", took>>20, err)
			if told := (*chat.Error)(nil); took > memory || !errors.As(err, &told) {
				t.Errorf("the heap grew by %d MiB, %v; want at most %d MiB and a sentence", took>>20, err, memory>>20)
			}
		})
	}
}

// serveMail serves one connection as a mail server with one mail, with a custom response to one command.
func serveMail(listener net.Listener, command, answer string) {
	conn, err := listener.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	said := map[string]string{
		"CAPABILITY": "* CAPABILITY IMAP4rev1\r\n", "EXAMINE": "* OK [UIDVALIDITY 1]\r\n",
		"UID SEARCH": "* SEARCH 1\r\n", "": "* OK hello",
	}
	said[command] = answer
	_, _ = io.WriteString(conn, said[""]+"\r\n") // the client may have closed the connection, here and below
	for in := bufio.NewScanner(conn); in.Scan(); {
		tag, line, _ := strings.Cut(in.Text(), " ")
		for known, text := range said {
			if known != "" && strings.HasPrefix(line, known) {
				_, _ = io.WriteString(conn, strings.TrimSuffix(text, "\r\n")+"\r\n")
			}
		}
		if _, err := io.WriteString(conn, tag+" OK done\r\n"); err != nil {
			return
		}
	}
}

// listWithin lists a place, and fails the test unless that ends with a user-facing error within mostMemory.
func listWithin(t *testing.T, h placestest.Hostile) (items int, err error) {
	t.Helper()
	address, n := placestest.Serve(t, h.Handler(0))
	took := peakMemory(func() {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		for _, failed := range openKind(t, h.Kind, h.Settings(address), n).List(ctx) {
			if err = failed; err == nil {
				items++
			}
		}
		if ctx.Err() != nil {
			t.Error("listing did not end within two minutes")
		}
	})
	t.Logf("%d MiB, %d items, %v", took>>20, items, err)
	if took > mostMemory {
		t.Errorf("the heap grew by %d MiB, want at most %d", took>>20, mostMemory>>20)
	}
	if told := (*chat.Error)(nil); err != nil && !errors.As(err, &told) {
		t.Errorf("error = %v, want a sentence for people", err)
	}
	return items, err
}

func openKind(t *testing.T, name string, s sources.Settings, n sources.Net) sources.Place {
	t.Helper()
	for _, kind := range registry.Kinds() {
		if kind.Name == name {
			return placestest.Open(t, kind, s, n)
		}
	}
	t.Fatalf("kind %q is missing", name)
	return nil
}

// peakMemory returns the peak heap growth in bytes while do runs, including dead objects.
func peakMemory(do func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // the default, independent of GOGC
	runtime.GC()
	now := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before, most := now(), uint64(0)
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			most = max(most, now())
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	do()
	close(done)
	watch.Wait()
	return max(most, before) - before
}
