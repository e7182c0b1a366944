//go:build linux

package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// hostilePages are pages that a user is tricked into adding, and the expected status.
//
// 413 is a page that is too large, 503 a server that could not be read, 400 a forbidden address, and 202 an
// accepted page. The last two of the list are accepted, since they are only odd: their scripts must not get onto
// this server's pages.
var hostilePages = map[string]struct {
	serve  http.HandlerFunc
	status int
}{
	"a page without end": {func(w http.ResponseWriter, _ *http.Request) { pour(w, "<p>word ") }, 413},
	"a page that unpacks without end": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		defer packed.Close()
		pour(packed, strings.Repeat("<p>word ", 1000))
	}, 413},
	"a file without end": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/csv")
		pour(w, strings.Repeat("a,b\n", 1000))
	}, 413},
	"a server that says nothing": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 503},
	"addresses in a circle": {func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
	}, 400},
	"a way to a cloud's secrets": {func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
	}, 400},
	"a way to this machine": {func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
	}, 400},
	"headers of 2 MiB": {func(w http.ResponseWriter, _ *http.Request) {
		for n := range 2 * mib / 1000 {
			w.Header().Set(fmt.Sprintf("X-%d", n), strings.Repeat("a", 1000))
		}
	}, 503},
	"2 MiB of open elements": {func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("<div>", 2*mib/5)+"The warranty covers the boiler.")
	}, 202},
	"an address of its own that is a script": {func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `<link rel=canonical href="javascript:hostile()">`+
			`<title><script>hostile()</script></title>`+
			`<base href="javascript:"><p>The warranty covers the boiler.</p>`)
	}, 202},
}

// pour writes a text repeatedly until the reader disconnects, which makes the write fail.
func pour(w io.Writer, text string) {
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

// servePages serves each of them below its name, without a limit.
func servePages() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		hostilePages[strings.TrimPrefix(r.URL.Path, "/")].serve(w, r)
	}))
}

// pageCells add each of them. The address is allowed by FOOTNOTE_PLACES_ALLOW (newSite).
func pageCells() []cell {
	var cells []cell
	for _, name := range sortedKeys(hostilePages) {
		cells = append(cells, cell{name: "page: " + name,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.addPage(ctx, r, name)
			}})
	}
	return cells
}

// addPage adds a page and opens the result. An accepted page must settle, and the pages that show it must not
// contain its script.
func (s *site) addPage(ctx context.Context, r *result, name string) (string, error) {
	address := strings.ReplaceAll(s.pages.URL+"/"+name, " ", "%20")
	got, err := s.postJSON(ctx, s.attack, "/documents", map[string]any{"url": address})
	if err != nil {
		return "", err
	}
	if want := hostilePages[name].status; got.status != want {
		r.noteProblem("POST /documents: status = %d, want %d: %s", got.status, want, clipBytes(got.body))
	}
	var said added
	if err := json.Unmarshal(got.body, &said); err != nil || len(said.Documents) == 0 {
		return fmt.Sprintf("refused (%d) in %d ms", got.status, got.took.Milliseconds()), err
	}
	d, err := s.waitSettled(ctx, s.attack, said.Documents[0].ID)
	if err != nil {
		return "", err
	}
	for _, at := range []string{"/documents", "/add?added=" + d.ID, "/d/" + d.ID} {
		page, err := s.getPath(ctx, s.attack, at, "text/html")
		if err != nil {
			return "", err
		}
		if body := string(page.body); strings.Contains(body, "<script>hostile") ||
			strings.Contains(body, `href="javascript:hostile`) {
			r.noteProblem("GET %s has the page's script as its own", at)
		}
	}
	return d.describeOutcome(), nil
}
