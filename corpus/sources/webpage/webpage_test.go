package webpage_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestest"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/corpus/sources/robots"
	"github.com/footnote/footnote/corpus/sources/webpage"
)

const article = `<!doctype html><html><head><title>Guide</title><link rel="canonical" href="/guide">
<script>var t=%d</script></head><body><p>The lease ends in May.</p></body></html>`

func site(t *testing.T, changes map[string]http.HandlerFunc) (string, sources.Net) {
	t.Helper()
	mux := http.NewServeMux()
	for path, h := range changes {
		mux.HandleFunc(path, h)
	}
	return placestest.Serve(t, mux)
}

func says(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text)
	}
}

func TestPageIsReadOnlyWhenChanged(t *testing.T) {
	asked, words := 0, "The lease ends in May."
	url, n := site(t, map[string]http.HandlerFunc{"/guide.php": func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, strings.Replace(article, "The lease ends in May.", words, 1), asked)
	}})
	address := url + "/guide.php?id=1"
	p := placestest.Open(t, webpage.Kind(), sources.Settings{"urls": address + "\n\n" + address + "#top"}, n)
	items, err := placestest.List(t, p)
	if err != nil || len(items) != 1 {
		t.Fatalf("items = %v, %v, want one", items, err)
	}
	text, content, err := placestest.Read(t, p, items[address], "")
	if err != nil || !strings.Contains(text, words) {
		t.Fatalf("page = %q, %v", text, err)
	}
	if content.Link != url+"/guide" || content.Name != "127.0.0.1/guide id=1.html" {
		t.Errorf("link = %q, name = %q, want the canonical address and a name", content.Link, content.Name)
	}
	if _, _, err := placestest.Read(t, p, items[address], content.Version); !errors.Is(err, sources.ErrSame) {
		t.Errorf("same words in other markup: %v, want ErrSame", err)
	}
	words = "The lease ends in June."
	if text, _, err := placestest.Read(t, p, items[address], content.Version); !strings.Contains(text, "June") {
		t.Errorf("changed page = %q, %v, want the new words", text, err)
	}
}

func TestServerVersionsAreUsed(t *testing.T) {
	url, n := site(t, map[string]http.HandlerFunc{"/a": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"7"`)
		w.Header().Set("Last-Modified", "Tue, 01 Jan 2999 00:00:00 GMT")
		if r.Header.Get("If-None-Match") == `"7"` && r.Header.Get("If-Modified-Since") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, "<p>words")
	}})
	p := placestest.Open(t, webpage.Kind(), sources.Settings{"urls": url + "/a"}, n)
	_, content, err := placestest.Read(t, p, sources.Item{Key: url + "/a"}, "")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = placestest.Read(t, p, sources.Item{Key: url + "/a"}, content.Version)
	if !errors.Is(err, sources.ErrSame) {
		t.Errorf("error = %v, want ErrSame", err)
	}
}

func TestTextAndFileTypes(t *testing.T) {
	url, n := site(t, map[string]http.HandlerFunc{
		"/latin":      says("text/html; charset=iso-8859-1", "<p>Gr\xf6\xdfe"),
		"/lies":       says("text/html; charset=x-unknown", "<p>words"),
		"/report.pdf": says("application/octet-stream", "%PDF-1.7"),
		"/download":   says("application/pdf", "%PDF-1.7"),
		"/notes.md":   says("text/plain", "# Notes"),
		"/canon":      says("text/html", `<base href="http://evil.example/"><link rel="canonical" href="x">words`),
	})
	p := placestest.Open(t, webpage.Kind(), sources.Settings{"urls": url}, n)
	for path, want := range map[string][2]string{
		"/latin": {"Größe", ".html"}, "/lies": {"words", ".html"}, "/report.pdf": {"%PDF", "/report.pdf"},
		"/download": {"%PDF", "/download.pdf"}, "/notes.md": {"# Notes", "/notes.md"}, "/canon": {"words", ".html"},
	} {
		text, content, err := placestest.Read(t, p, sources.Item{Key: url + path}, "")
		if err != nil || !strings.Contains(text, want[0]) || !strings.HasSuffix(content.Name, want[1]) ||
			content.Link != url+path {
			t.Errorf("%s = %q, %q, %q, %v, want %v", path, text, content.Name, content.Link, err, want)
		}
	}
}

func TestServerErrorsAreOneSentence(t *testing.T) {
	answers := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	leads := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	endless := func(kind string, packed bool) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			out := io.Writer(w)
			if packed {
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				defer z.Close()
				out = z
			}
			for chunk := make([]byte, 1<<16); ; {
				if _, err := out.Write(chunk); err != nil {
					return
				}
			}
		}
	}
	url, n := site(t, map[string]http.HandlerFunc{
		"/gone": answers(410), "/login": answers(401), "/teapot": answers(418), "/broken": answers(500),
		"/down": answers(503), "/stale": answers(304),
		"/busy": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "100000")
			w.WriteHeader(http.StatusTooManyRequests)
		},
		"/loop": leads("/loop"), "/meta": leads("http://169.254.169.254/latest/meta-data"),
		"/self": leads("http://127.0.0.1:1/"), "/six": leads("http://[::1]:1/"), "/ten": leads("http://10.0.0.1/"),
		"/name": leads("http://localhost:1/"), "/file": leads("file:///etc/passwd"),
		"/large": endless("text/html", false), "/bomb": endless("text/html", true), "/film": says("video/mp4", "x"),
		"/zip": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "this is not packed")
		},
		"/cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "<p>half")
		},
	})
	p := placestest.Open(t, webpage.Kind(), sources.Settings{"urls": url}, n)
	for path, code := range map[string]chat.Code{
		"/login": chat.CodeForbidden, "/teapot": chat.CodeInvalid, "/broken": chat.CodeInvalid,
		"/down": chat.CodeUnavailable, "/stale": chat.CodeInvalid, "/busy": chat.CodeUnavailable,
		"/loop": chat.CodeInvalid, "/meta": chat.CodeForbidden, "/self": chat.CodeForbidden, "/six": chat.CodeForbidden,
		"/ten": chat.CodeForbidden, "/name": chat.CodeForbidden, "/file": chat.CodeInvalid,
		"/large": chat.CodeTooLarge, "/bomb": chat.CodeTooLarge, "/film": chat.CodeUnsupported,
		"/zip": chat.CodeInvalid, "/cut": chat.CodeUnavailable,
	} {
		_, _, err := placestest.Read(t, p, sources.Item{Key: url + path}, "")
		placestest.WantCode(t, path, err, code)
	}
	for _, path := range []string{"/gone", "/nowhere"} {
		if _, _, err := placestest.Read(t, p, sources.Item{Key: url + path}, ""); !errors.Is(err, sources.ErrGone) {
			t.Errorf("%s: %v, want ErrGone", path, err)
		}
	}
	placestest.WantCode(t, "check of a page that is not there", p.Check(t.Context()), chat.CodeInvalid)

	two := placestest.Open(t, webpage.Kind(), sources.Settings{"urls": url + "\nhttp://other.example"}, n)
	_, _, err := placestest.Read(t, two, sources.Item{Key: url + "/down"}, "")
	placestest.WantCode(t, "one of several servers is down", err, chat.CodeInvalid)
}

func TestInvalidAddressesAreRejected(t *testing.T) {
	for _, urls := range []string{
		"", "guide", "ftp://example.org", "https://", "https://me:secret@example.org/", "https://example.org/" +
			strings.Repeat("a", 1100), strings.Repeat("https://example.org/\x7f", 1),
	} {
		_, err := webpage.Kind().Open(sources.Settings{"urls": urls}, placestest.Net(t))
		placestest.WantCode(t, urls, err, chat.CodeInvalid)
	}
	var many strings.Builder
	for i := range 1001 {
		_, _ = fmt.Fprintf(&many, "https://example.org/%d\n", i)
	}
	_, err := webpage.Kind().Open(sources.Settings{"urls": many.String()}, placestest.Net(t))
	placestest.WantCode(t, "1,001 addresses", err, chat.CodeInvalid)
}

// robots.txt does not apply to pages that a person entered. It applies to all others, also after redirects.
func TestRobotsApplyToDiscoveredPages(t *testing.T) {
	asked := 0
	address, n := site(t, map[string]http.HandlerFunc{
		"/robots.txt": func(w http.ResponseWriter, _ *http.Request) {
			asked++
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /closed")
		},
		"/closed": says("text/html", "<p>closed"),
		"/moved":  http.RedirectHandler("/closed", http.StatusFound).ServeHTTP,
		"/open":   says("text/html", "<p>open"),
	})
	named := placestest.Open(t, webpage.Kind(), sources.Settings{"urls": address + "/closed"}, n)
	text, _, err := placestest.Read(t, named, sources.Item{Key: address + "/closed"}, "")
	if err != nil || !strings.Contains(text, "closed") || asked > 0 {
		t.Errorf("a page that a person named = %q, %v after %d questions", text, err, asked)
	}
	client := request.New(n)
	found := webpage.Reader{Client: client, Robots: robots.New(client)}
	for _, path := range []string{"/closed", "/moved"} {
		_, err := found.Fetch(t.Context(), sources.Item{Key: address + path}, "")
		placestest.WantCode(t, path, err, chat.CodeForbidden)
	}
	if content, err := found.Fetch(t.Context(), sources.Item{Key: address + "/open"}, ""); err != nil {
		t.Error(err)
	} else {
		_ = content.Body.Close()
	}
	if asked != 1 {
		t.Errorf("robots.txt was asked for %d times, want once", asked)
	}
}
