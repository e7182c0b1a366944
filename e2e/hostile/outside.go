//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
)

// insideText is the internal server's response, which must not be in any response of the server under attack.
const insideText = "the secrets of the machine"

// hostileNames are names of files in a synced folder.
//
// Names may be too long, contain path traversal, control characters, invalid UTF-8 or bidirectional controls, or be
// reserved by an operating system. Each is a file that can be downloaded, since the folder's server accepts any
// path.
var hostileNames = []string{
	strings.Repeat("n", 300) + ".md", strings.Repeat("é", 150) + ".md", "../../etc/passwd", "..", "a/b.md", "\x00.md",
	"a\r\nSet-Cookie: hostile=1.md", "\x1b[2J.md", "\u202egnp.md", "<script>hostile()</script>.md", "CON.md",
	".hidden.md",
	" .md", "\xff\xfe.md", strings.Repeat("d/", 40) + "deep.md", strings.Repeat("k", 1100) + ".md", "%2e%2e%2fup.md",
}

// outside is a server where places may be synced, and an internal one that must not be reached.
//
// inside counts connections and not requests: even a connection without a request reveals that a server exists.
// Both are on loopback, and only the port differs.
type outside struct {
	server     *httptest.Server
	reached    *httptest.Server // the internal server
	insidePort string
	inside     atomic.Int64 // connections to it
	// listing handles every request while it is set.
	listing atomic.Pointer[http.Handler]
}

// newOutside starts both; close stops them.
func newOutside() *outside {
	o := &outside{}
	o.reached = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, insideText) // the client may have disconnected
	}))
	o.reached.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			o.inside.Add(1)
		}
	}
	o.reached.Start()
	_, o.insidePort, _ = net.SplitHostPort(o.reached.Listener.Addr().String()) // it is one
	o.server = httptest.NewServer(o)
	return o
}

// host returns the address that the operator of the server under attack allows. It is the only loopback address in
// FOOTNOTE_PLACES_ALLOW.
func (o *outside) host() string { return o.server.Listener.Addr().String() }

// close cuts open connections first, since an endless list would continue.
func (o *outside) close() {
	for _, s := range []*httptest.Server{o.server, o.reached} {
		s.CloseClientConnections()
		s.Close()
	}
}

// ServeHTTP redirects to the address in the query, or serves a WebDAV folder. A path below /names/ has the hostile
// names, one below /endless/ an endless list. The redirect is written unchanged, without the validation of
// net/http. Any other method gets a small text.
func (o *outside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if listing := o.listing.Load(); listing != nil {
		(*listing).ServeHTTP(w, r)
		return
	}
	if to := r.URL.Query().Get("to"); to != "" {
		w.Header()["Location"] = []string{to}
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	switch {
	case r.Method != "PROPFIND":
		_, _ = io.WriteString(w, "# A file\n\nIt has "+r.URL.Path+" as its path.\n") // the client may have disconnected
	case strings.HasPrefix(r.URL.Path, "/names/"):
		o.list(w, "/names/", hostileNames, r.Header.Get("Depth") == "0")
	case strings.HasPrefix(r.URL.Path, "/endless/"):
		o.list(w, "/endless/", nil, r.Header.Get("Depth") == "0")
		// Until the reader disconnects.
		for n := 0; r.Header.Get("Depth") != "0"; n++ {
			if _, err := fmt.Fprintf(w, entryForm, fmt.Sprintf("/endless/%d.md", n), n); err != nil {
				return
			}
		}
	default:
		http.NotFound(w, r)
	}
}

// entryForm is one file of a WebDAV folder: its path, and a number as its ETag.
const entryForm = `<d:response><d:href>%s</d:href><d:propstat><d:prop><d:resourcetype/><d:getetag>"%d"</d:getetag>` +
	`</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`

// list writes the contents of a folder: the names, and one plain file. An endless list has no names. itself is a
// request for the folder alone (Depth 0), without its files.
func (o *outside) list(w http.ResponseWriter, folder string, names []string, itself bool) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusMultiStatus)
	var b strings.Builder
	b.WriteString(`<d:multistatus xmlns:d="DAV:"><d:response><d:href>` + folder + `</d:href><d:propstat><d:prop>` +
		`<d:resourcetype><d:collection/></d:resourcetype></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>` +
		`</d:response>`)
	if itself {
		b.WriteString(`</d:multistatus>`)
	} else if names != nil {
		for n, name := range append([]string{"plain.md"}, names...) {
			fmt.Fprintf(&b, entryForm, folder+url.PathEscape(name), n)
		}
		b.WriteString(`</d:multistatus>`)
	}
	_, _ = io.WriteString(w, b.String()) // the client may have disconnected
}
