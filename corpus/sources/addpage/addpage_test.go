package addpage_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources/addpage"
	"github.com/footnote/footnote/corpus/sources/placestest"
	"github.com/footnote/footnote/sql/librarytest"
)

const words = `<!doctype html><title>Leases</title><link rel="canonical" href="/lease"><p>The lease ends in %s.</p>`

// adder returns an Adder with a new library, and the URL of a server with these handlers.
func adder(t *testing.T, answers map[string]http.HandlerFunc) (*addpage.Adder, string) {
	t.Helper()
	mux := http.NewServeMux()
	for at, answer := range answers {
		mux.HandleFunc(at, answer)
	}
	url, n := placestest.Serve(t, mux)
	return addpage.New(librarytest.Open(t, t.TempDir(), nil).Library, n), url
}

func says(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text)
	}
}

func add(t *testing.T, a *addpage.Adder, address string) (corpus.Document, bool) {
	t.Helper()
	d, duplicate, err := a.Add(t.Context(), addpage.Page{
		User: "ada", Address: address, Meta: map[string]any{"author": "Zed", corpus.MetaPlace: "x"},
	})
	if err != nil {
		t.Fatalf("Add(%s): %v", address, err)
	}
	return d, duplicate
}

func TestPageBecomesDocumentWithLink(t *testing.T) {
	var month atomic.Value
	month.Store("May")
	a, url := adder(t, map[string]http.HandlerFunc{
		"/old": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/lease?from=old", http.StatusFound)
		},
		"/lease": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(w, words, month.Load())
		},
	})
	first, duplicate := add(t, a, " "+url+"/old#part ")
	if duplicate || first.SourceURL() != url+"/lease" || first.User != "ada" || first.Meta["author"] != "Zed" ||
		first.MetaText(corpus.MetaPlace) != "" {
		t.Errorf("document = %+v, %v; want a new one of ada's that leads to its canonical address", first, duplicate)
	}
	if again, duplicate := add(t, a, url+"/old"); !duplicate || again.ID != first.ID {
		t.Errorf("again = %s, %v; want the duplicate of %s", again.ID, duplicate, first.ID)
	}
	month.Store("June")
	if changed, duplicate := add(t, a, url+"/old"); duplicate || changed.ID != first.ID ||
		changed.SHA256 == first.SHA256 || changed.SourceURL() != url+"/lease" {
		t.Errorf("changed = %+v, %v; want another version of %s", changed, duplicate, first.ID)
	}
	if other, _, err := a.Add(t.Context(), addpage.Page{User: "bert", Address: url + "/old"}); err != nil ||
		other.ID == first.ID {
		t.Errorf("bert's = %s, %v; want a document of his own", other.ID, err)
	}
}

func TestDocumentWithSameNameIsKept(t *testing.T) {
	for _, watched := range []any{nil, map[string]any{"folder": "/papers", "path": "lease.html"}} {
		a, url := adder(t, map[string]http.HandlerFunc{"/lease": says("text/html", "<p>The lease ends in May.")})
		meta := map[string]any{}
		if watched != nil {
			meta = map[string]any{corpus.MetaSourceURL: url + "/lease", corpus.MetaWatched: watched}
		}
		mine, _, err := a.Library.Add(t.Context(), corpus.Upload{
			User: "ada", Path: "127.0.0.1/lease.html", Filename: "lease.html", Meta: meta,
			Body: strings.NewReader(fmt.Sprintf("<p>My own notes %d.", len(meta))),
		})
		if err != nil {
			t.Fatal(err)
		}
		d, _ := add(t, a, url+"/lease")
		if d.ID == mine.ID || d.SourceURL() != url+"/lease" || !strings.HasPrefix(d.Path, "127.0.0.1/lease (") {
			t.Errorf("with meta %v: %s %q, want another document than %s", meta, d.ID, d.Path, mine.ID)
		}
	}
}

func TestAddPageErrorIsOneSentence(t *testing.T) {
	answers := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	a, url := adder(t, map[string]http.HandlerFunc{
		"/gone": answers(404), "/secret": answers(401), "/broken": answers(500), "/down": answers(502),
		"/inside": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "http://127.0.0.1:1/", 302) },
		"/round":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round", 302) },
		"/empty":  says("text/html", ""),
		"/film":   says("video/mp4", "film"),
		"/tool":   says("application/octet-stream", "MZ\x90\x00"),
		"/large": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			for chunk := make([]byte, 1<<20); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		},
		"/cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "<p>The lease")
		},
		"/cut.csv": func(w http.ResponseWriter, _ *http.Request) { // fails after the first read of the body
			w.Header().Set("Content-Type", "text/csv")
			w.Header().Set("Content-Length", "20000000")
			_, _ = io.WriteString(w, strings.Repeat("a,b\n", 4_500_000))
		},
	})
	for address, code := range map[string]chat.Code{
		"": chat.CodeInvalid, "guide": chat.CodeInvalid, "ftp://example.org": chat.CodeInvalid,
		"file:///etc/passwd": chat.CodeInvalid, "http://me:secret@example.org/": chat.CodeInvalid,
		"http://169.254.169.254/latest/": chat.CodeInvalid, "http://127.0.0.1:1/": chat.CodeInvalid,
		url + "/gone": chat.CodeInvalid, url + "/secret": chat.CodeInvalid, url + "/broken": chat.CodeInvalid,
		url + "/down": chat.CodeUnavailable, url + "/inside": chat.CodeInvalid, url + "/round": chat.CodeInvalid,
		url + "/empty": chat.CodeInvalid, url + "/film": chat.CodeUnsupported, url + "/tool": chat.CodeUnsupported,
		url + "/large": chat.CodeTooLarge, url + "/cut": chat.CodeUnavailable, url + "/cut.csv": chat.CodeUnavailable,
	} {
		_, _, err := a.Add(t.Context(), addpage.Page{User: "ada", Address: address})
		placestest.WantCode(t, address, err, code)
		said := chat.MessageOf(err).String()
		if !strings.HasSuffix(said, ".") || strings.Contains(said, "asked again") {
			t.Errorf("%s: %q, want a sentence that promises nothing", address, said)
		}
	}
	if docs, _, err := a.Library.List(t.Context(), chat.Scope{User: "ada"}, corpus.Filter{Limit: 10}); err != nil ||
		len(docs) > 0 {
		t.Errorf("%d documents, %v; want none", len(docs), err)
	}
}

func TestUserAddsAtMostFourPagesAtOnce(t *testing.T) {
	waiting, open := make(chan struct{}, 4), make(chan struct{})
	a, url := adder(t, map[string]http.HandlerFunc{
		"/slow": func(w http.ResponseWriter, r *http.Request) {
			waiting <- struct{}{}
			select {
			case <-open:
			case <-r.Context().Done():
			}
			_, _ = io.WriteString(w, "<p>The lease ends in May.")
		},
		"/quick": says("text/html", "<p>Quick."),
	})
	done := make(chan error, 4)
	for range 4 {
		go func() {
			_, _, err := a.Add(t.Context(), addpage.Page{User: "ada", Address: url + "/slow"})
			done <- err
		}()
	}
	for range 4 {
		<-waiting
	}
	_, _, err := a.Add(t.Context(), addpage.Page{User: "ada", Address: url + "/quick"})
	placestest.WantCode(t, "a fifth", err, chat.CodeTooMany)
	if _, _, err := a.Add(t.Context(), addpage.Page{User: "bert", Address: url + "/quick"}); err != nil {
		t.Errorf("other user's page: got %v, want no error", err)
	}
	close(open)
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	add(t, a, url+"/quick")
}

func TestCancelledAddEnds(t *testing.T) {
	asked := make(chan struct{})
	a, url := adder(t, map[string]http.HandlerFunc{"/slow": func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, _, err := a.Add(ctx, addpage.Page{User: "ada", Address: url + "/slow"}); ctx.Err() == nil || err == nil {
		t.Errorf("error = %v, want the end of the caller's context", err)
	}
}
