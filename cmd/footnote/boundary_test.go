package main_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// passedOnBy are headers that proxies and content delivery networks add to requests.
var passedOnBy = []string{
	"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Server", "X-Real-Ip", "Via",
	"Cf-Connecting-Ip", "True-Client-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "Fastly-Client-Ip",
	"X-Original-Forwarded-For",
}

// insider is a server on loopback that counts its requests. It also takes the part of a WebDAV server that has one
// file.
type insider struct {
	*httptest.Server
	visits atomic.Int64
	to     string // where the file of the WebDAV server is
}

const insideWords = "The words of the machine itself."

func newInsider(t *testing.T, to string) *insider {
	i := &insider{to: to}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.visits.Add(1)
		switch {
		case r.Method == "PROPFIND":
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusMultiStatus)
			_, _ = io.WriteString(w, strings.Replace(emptyList, "</d:multistatus>",
				`<d:response><d:href>/dav/a.md</d:href>
				<d:propstat><d:prop><d:resourcetype/><d:getetag>"1"</d:getetag></d:prop>
				<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>`, 1))
		case i.to != "":
			w.Header().Set("Location", i.to)
			w.WriteHeader(http.StatusTemporaryRedirect)
		default:
			_, _ = io.WriteString(w, "# A file\n\n"+insideWords+"\n")
		}
	}))
	t.Cleanup(i.Close)
	return i
}

// TestProxiedRequestsReachNothingInside covers a server without keys on loopback: what acts later for a request that a
// proxy passed on reaches as little as the request itself.
func TestProxiedRequestsReachNothingInside(t *testing.T) {
	t.Parallel()
	target := newInsider(t, "")
	public := newInsider(t, target.URL+"/a.md") // stands for a server of the internet
	u, err := url.Parse(public.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, newDir(t), "FOOTNOTE_PLACES_ALLOW="+u.Host)
	hook := func(headers ...header) string {
		t.Helper()
		r := s.send("PUT", "/standing/webhook", fmt.Sprintf(`{"url":%q}`, target.URL), headers...)
		if r.status != http.StatusOK {
			t.Fatalf("PUT /standing/webhook = %d %s", r.status, r.body)
		}
		var state string
		eventually(t, "the webhook's first message was tried", func() bool {
			state = s.send("GET", "/standing/webhook", nil).body
			return !strings.Contains(state, `"sent_at":null`) || !strings.Contains(state, `"failed_at":null`)
		})
		return state
	}
	place := func(name, at string, headers ...header) (id, state string) {
		t.Helper()
		r := s.send("POST", "/places", fmt.Sprintf(
			`{"kind":"webdav","name":%q,"schedule":"request","settings":{"url":"%s/dav/"}}`, name, at), headers...)
		if r.status != http.StatusCreated {
			return "", r.body
		}
		id = loose[struct{ ID string }](t, r.body).ID
		eventually(t, "the place was looked at", func() bool {
			state = s.send("GET", "/places/"+id, nil).body
			return strings.Contains(state, `"looked_at"`) && !strings.Contains(state, `"state":"looking"`)
		})
		return id, state
	}
	for n, name := range passedOnBy {
		by := header{name, "192.0.2.1"}
		if state := hook(by); target.visits.Load() > 0 || !strings.Contains(state, "not on the public internet") {
			t.Fatalf("%s: a webhook inside was delivered: %s", name, state)
		}
		if id, said := place(name, target.URL, by); id != "" || !strings.Contains(said, "not on the public internet") {
			t.Errorf("%s: a place inside is followed: %s", name, said)
		}
		if n > 1 {
			continue // the rest is the same flag
		}
		if _, state := place("public "+name, public.URL, by); target.visits.Load() > 0 ||
			strings.Contains(s.send("GET", "/documents", nil).body, "public "+name+"/a.md") {
			t.Fatalf("%s: a redirect led inside: %s", name, state)
		}
	}
	if state := hook(); target.visits.Load() == 0 || strings.Contains(state, "trouble") {
		t.Errorf("the local user's webhook was not delivered: %s", state)
	}
	id, state := place("mine", target.URL)
	if id == "" || strings.Contains(state, "failure") || !strings.Contains(state, `"items":1`) {
		t.Errorf("the local user's place inside is not followed: %s", state)
	}
	// A proxied change takes the right away; the local user's gives it back.
	change := func(headers ...header) int {
		return s.send("PATCH", "/places/"+id, `{"settings":{}}`, headers...).status
	}
	if got := change(header{"Via", "1.1 x"}); got != http.StatusBadRequest {
		t.Errorf("a proxied change of a place inside = %d, want 400", got)
	}
	if got := change(); got != http.StatusOK {
		t.Errorf("the local user's change = %d, want 200", got)
	}
}
