package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/sources/placestest"
	"github.com/footnote/footnote/server/api"
)

// pageSite is a bench that reaches a site with pages.
func pageSite(t *testing.T) (b *bench, site string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/lease", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>The lease</title><p>The lease ends in May.</p>")
	})
	mux.HandleFunc("/down", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	site, way := placestest.Serve(t, mux)
	return newBench(t, func(c *Config) { c.Pages = way }), site
}

func TestProgramsAddAPage(t *testing.T) {
	b, site := pageSite(t)
	var res api.Uploaded
	got := b.send("POST", "/documents", `{"url":"`+site+`/lease","namespace":"home","meta":{"author":"Zed"}}`)
	got.decode(t, &res)
	if got.status != 202 || len(res.Documents) != 1 || len(res.Rejected) != 0 {
		t.Fatalf("%d %s, want 202 and one document", got.status, got.body)
	}
	info := b.settled(res.Documents[0].ID)
	if info.State != "ready" || info.Title != "The lease" || info.Namespace != "home" || info.Meta["author"] != "Zed" ||
		info.Meta["source_url"] != site+"/lease" {
		t.Errorf("document = %+v", info)
	}
	b.send("POST", "/documents", `{"url":"`+site+`/lease","namespace":"home"}`).decode(t, &res)
	if res.Documents[0].DuplicateOf != info.ID {
		t.Errorf("again = %+v, want a duplicate of %s", res, info.ID)
	}
	for _, tt := range []struct {
		body     string
		status   int
		rejected bool
	}{
		{`{"url":""}`, 400, false},
		{`{"url":"x","other":1}`, 400, false},
		{`{"url":"` + site + `/lease","namespace":".."}`, 400, false},
		{`{"url":"ftp://example.org"}`, 400, true},
		{`{"url":"` + site + `/gone"}`, 400, true},
		{`{"url":"http://169.254.169.254/latest/meta-data/"}`, 400, true},
		{`{"url":"` + site + `/down"}`, 503, true},
	} {
		got := b.send("POST", "/documents", tt.body)
		var res api.Uploaded
		if tt.rejected {
			got.decode(t, &res)
		}
		if got.status != tt.status || len(res.Rejected) > 0 != tt.rejected ||
			!strings.Contains(got.body, `"detail":"`) {
			t.Errorf("%s: %d %s, want %d, rejected: %v", tt.body, got.status, got.body, tt.status, tt.rejected)
		}
	}
}

func TestTheFormAddsAPage(t *testing.T) {
	b, site := pageSite(t)
	html := []string{"Accept", "text/html", "Content-Type", formKind}
	got := b.send("GET", "/add?title=%3Cb%3E&url="+url.QueryEscape(site+"/lease?a=1&b=<script>"), "", html...)
	if got.status != 200 || !strings.Contains(got.body, site+"/lease?a=1&amp;b=&lt;script&gt;</code>") ||
		!strings.Contains(got.body, "&lt;b&gt;") {
		t.Errorf("the form = %d, want the address and the title as text", got.status)
	}
	if docs := b.send("GET", "/documents", ""); !strings.Contains(docs.body, `"documents":[]`) {
		t.Errorf("documents = %s, want none before the form is sent", docs.body)
	}
	got = b.send("POST", "/add", url.Values{"url": {site + "/lease"}}.Encode(), html...)
	to := got.header.Get("Location")
	if got.status != 303 || !strings.HasPrefix(to, "/add?added=") {
		t.Fatalf("%d %s, want 303 to what became of it", got.status, to)
	}
	b.settled(strings.TrimPrefix(to, "/add?added="))
	if got = b.send("GET", to, "", html...); got.status != 200 || !strings.Contains(got.body, "The lease") {
		t.Errorf("what became of it = %d %.200s", got.status, got.body)
	}
	if again := b.send("POST", "/add", url.Values{"url": {site + "/lease"}}.Encode(), html...); again.header.Get(
		"Location") != to+"&again=true" {
		t.Errorf("again = %d %s", again.status, again.header.Get("Location"))
	}
	for typed, status := range map[string]int{
		"": 400, "no address": 400, "javascript:alert(1)": 400, site + "/gone": 400, site + "/down": 503,
		"nowhere.example/a": 400,
	} {
		got := b.send("POST", "/add", url.Values{"url": {typed}}.Encode(), html...)
		if got.status != status || !strings.Contains(got.body, `value="`+typed+`"`) ||
			!strings.Contains(got.body, `aria-describedby="add-said"`) {
			t.Errorf("%q: %d, want %d, the sentence and what was typed", typed, got.status, status)
		}
	}
	if got := b.send("GET", "/add?url="+url.QueryEscape("javascript:alert(1)"), "", html...); got.status != 400 ||
		strings.Contains(got.body, `type="hidden" name="url"`) {
		t.Errorf("a bookmark of no page = %d, want 400 and no button that adds it", got.status)
	}
}

func TestTheBookmarkIsOfTheServersOwnOrigin(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Hosts = []string{"ask.example.org"} })
	for _, path := range []string{"/add", "/places"} {
		got := b.send("GET", path, "", "Accept", "text/html", "Host", "ask.example.org:8443", "X-Forwarded-Proto",
			"https")
		if want := "https://ask.example.org:8443/add?"; !strings.Contains(got.body, want) {
			t.Errorf("%s has no bookmark with %s", path, want)
		}
	}
}

func TestASharedLinkLeadsToThePageThatAddsIt(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		fields []string
		want   string
	}{
		{[]string{"title=The lease", "text=https://example.org/a?b=1", "url="},
			"/add?title=The+lease&url=https%3A%2F%2Fexample.org%2Fa%3Fb%3D1"},
		{[]string{"title=Roofs", "text=Roofs", "url=https://example.org/a"},
			"/add?title=Roofs&url=https%3A%2F%2Fexample.org%2Fa"},
		{[]string{"text=https://example.org/a", "url=https://example.org/a"},
			"/add?title=&url=https%3A%2F%2Fexample.org%2Fa"},
		{[]string{"text=Look at https://example.org/a"}, "/?q=Look+at+https%3A%2F%2Fexample.org%2Fa"},
		{[]string{"text=“Dry.” https://example.org/b", "url=https://example.org/a"},
			"/?q=%E2%80%9CDry.%E2%80%9D+https%3A%2F%2Fexample.org%2Fb%0Ahttps%3A%2F%2Fexample.org%2Fa"},
		{[]string{"text=javascript:alert(1)"}, "/?q=javascript%3Aalert%281%29"},
		{[]string{"title=", "text="}, "/"},
	} {
		body, kind := form(t, tt.fields...)
		if got := b.send("POST", "/share", body, "Content-Type", kind); got.status != 303 ||
			got.header.Get("Location") != tt.want {
			t.Errorf("%q leads to %s, want %s", tt.fields, got.header.Get("Location"), tt.want)
		}
	}
}

// pageEverywhere is a web in which every address has the same page.
type pageEverywhere struct{}

// RoundTrip implements http.RoundTripper.
func (pageEverywhere) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "text/html")
	_, err := io.WriteString(w, "<title>Terms</title><p>The lease ends in May.</p>")
	answer := w.Result()
	answer.Request = r
	return answer, err
}
