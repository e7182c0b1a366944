package sitemap

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestest"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/corpus/sources/webpage"
)

const space = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" ` +
	`xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"`

// serve serves texts by path; HOST in a text is replaced by the server's URL.
func serve(t *testing.T, files map[string]string) (string, sources.Net) {
	t.Helper()
	return placestest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		text = strings.ReplaceAll(text, "HOST", "http://"+r.Host)
		if strings.HasSuffix(r.URL.Path, ".gz") {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			_, _ = io.WriteString(z, text)
			_ = z.Close()
			text = packed.String()
		}
		_, _ = io.WriteString(w, text)
	}))
}

func set(locs ...string) string {
	var b strings.Builder
	b.WriteString("<urlset " + space + ">")
	for _, loc := range locs {
		b.WriteString("<url><loc> " + loc + "\n</loc><lastmod>2999-01-01</lastmod></url>")
	}
	return b.String() + "</urlset>"
}

func index(locs ...string) string {
	var b strings.Builder
	b.WriteString("<sitemapindex " + space + ">")
	for _, loc := range locs {
		b.WriteString("<sitemap><loc>" + loc + "</loc></sitemap>")
	}
	return b.String() + "</sitemapindex>"
}

func TestSitemapListsPages(t *testing.T) {
	address, n := serve(t, map[string]string{
		"/sitemap.xml": `<?xml version="1.0"?>` + index("HOST/a.xml", "HOST/b.xml.gz", "HOST/sitemap.xml",
			"HOST/a.xml"),
		"/a.xml": set("HOST/docs/one", "HOST/docs/one", "HOST/blog/two?a=1&amp;b=2", "https://other.example/x",
			"nothing",
			"HOST/"+strings.Repeat("a", 1100)),
		"/b.xml.gz": strings.Replace(set("HOST/docs/three"), "</loc>",
			"</loc><i:image><i:loc>HOST/docs/p.png</i:loc></i:image>", 1),
		"/docs/one": "<p>words",
	})
	p := placestest.Open(t, Kind(), sources.Settings{"url": address + "/sitemap.xml"}, n)
	items, err := placestest.List(t, p)
	if err != nil || len(items) != 3 || items[address+"/blog/two?a=1&b=2"].Key == "" ||
		items[address+"/docs/three"].Key == "" {
		t.Fatalf("items = %v, %v, want three pages", items, err)
	}
	one := items[address+"/docs/one"]
	if one.Version != "" || one.Link != one.Key || !strings.HasSuffix(one.Name, "/docs/one.html") {
		t.Errorf("item = %+v, want no version, a link and a name", one)
	}
	if text, _, err := placestest.Read(t, p, one, ""); err != nil || !strings.Contains(text, "words") {
		t.Errorf("page = %q, %v", text, err)
	}
	below := func(path string) sources.Place {
		s := sources.Settings{"url": address + "/sitemap.xml", "prefix": address + path}
		return placestest.Open(t, Kind(), s, n)
	}
	some := below("/blog/")
	if items, err := placestest.List(t, some); err != nil || len(items) != 1 {
		t.Errorf("items below a prefix = %v, %v, want one", items, err)
	}
	none := below("/none/")
	placestest.WantCode(t, "a prefix without pages", none.Check(t.Context()), chat.CodeInvalid)
}

func TestPagesBehindManySitemapsAreFound(t *testing.T) {
	var others, same []string
	for i := range sources.MaxItems + 2 {
		others, same = append(others, fmt.Sprintf("HOST/%d", i)), append(same, "HOST/same")
	}
	for prefix, locs := range map[string][]string{"": same, "/docs/": others} {
		address, n := serve(t, map[string]string{"/sitemap.xml": set(append(locs, "HOST/docs/last")...)})
		p := placestest.Open(t, Kind(), sources.Settings{"url": address + "/sitemap.xml", "prefix": address + prefix},
			n)
		if items, err := placestest.List(t, p); err != nil || items[address+"/docs/last"].Key == "" {
			t.Errorf("below %q: got %d pages, %v, want the last one", prefix, len(items), err)
		}
	}
}

func TestHostileSitemapsEnd(t *testing.T) {
	var many []string
	for i := range 600 {
		many = append(many, fmt.Sprintf("HOST/%d.xml", i))
	}
	address, n := serve(t, map[string]string{
		"/deep": index("HOST/1"), "/1": index("HOST/2"), "/2": index("HOST/3"), "/3": index("HOST/4"),
		"/wide": index(many...),
		"/page": "<!doctype html><html><p>no sitemap", "/cut": strings.TrimSuffix(set("HOST/x"), "</urlset>"),
		"/empty": "", "/half": index("HOST/fine", "HOST/missing"), "/fine": set("HOST/x"),
		"/laughs": `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><urlset ` +
			space + `><url><loc>&b;</loc></url></urlset>`,
		"/bomb.gz": set("HOST/x") + strings.Repeat(" ", maxBytes),
		"/rot":     `<?xml version="1.0" encoding="x-none"?>` + set("HOST/x"),
	})
	for path, code := range map[string]chat.Code{
		"/deep": chat.CodeInvalid, "/wide": chat.CodeInvalid, "/page": chat.CodeInvalid, "/cut": chat.CodeInvalid,
		"/empty": chat.CodeInvalid, "/half": chat.CodeInvalid, "/laughs": chat.CodeInvalid,
		"/bomb.gz": chat.CodeTooLarge,
		"/rot":     chat.CodeInvalid, "/nowhere": chat.CodeInvalid,
	} {
		p := placestest.Open(t, Kind(), sources.Settings{"url": address + path}, n)
		_, err := placestest.List(t, p)
		placestest.WantCode(t, path, err, code)
	}
	for _, s := range []sources.Settings{
		{}, {"url": "sitemap.xml"}, {"url": address, "prefix": "docs"},
		{"url": address, "prefix": "https://other.example"},
	} {
		_, err := Kind().Open(s, n)
		placestest.WantCode(t, fmt.Sprint(s), err, chat.CodeInvalid)
	}
}

func FuzzSitemap(f *testing.F) {
	f.Add([]byte(set("https://example.org/a", "https://evil.example/b")))
	f.Add([]byte(index("https://www.example.org/a.xml")))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	address, err := url.Parse("https://example.org/sitemap.xml")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_ = read(bytes.NewReader(raw), address, "", func(u *url.URL, _ bool) error { // an invalid file may fail
			if _, err := request.Address(u.String()); err != nil || webpage.SiteOf(u) != "example.org" {
				t.Errorf("got item with address %q: %v", u, err)
			}
			return nil
		})
	})
}

// A page that robots.txt forbids is refused, and the others are fetched.
func TestRobotsDisallowedPagesAreRejected(t *testing.T) {
	address, n := serve(t, map[string]string{
		"/sitemap.xml": set("HOST/open", "HOST/closed", "HOST/closed/but"), "/open": "<p>words", "/closed": "<p>closed",
		"/closed/but": "<p>words",
		"/robots.txt": "User-agent: *\nDisallow: /closed\nAllow: /closed/but\nDisallow: /sitemap.xml",
	})
	p := placestest.Open(t, Kind(), sources.Settings{"url": address + "/sitemap.xml"}, n)
	items, err := placestest.List(t, p)
	if err != nil || len(items) != 3 {
		t.Fatalf("items = %v, %v, want the three of a sitemap that a person named", items, err)
	}
	_, _, err = placestest.Read(t, p, items[address+"/closed"], "")
	placestest.WantCode(t, "a closed page", err, chat.CodeForbidden)
	for _, path := range []string{"/open", "/closed/but"} {
		text, _, err := placestest.Read(t, p, items[address+path], "")
		if err != nil || !strings.Contains(text, "words") {
			t.Errorf("%s = %q, %v", path, text, err)
		}
	}
}

// With robots.txt unavailable, pages are neither fetched nor refused, but retried later.
func TestPagesWaitForUnavailableRobots(t *testing.T) {
	address, n := placestest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/sitemap.xml":
			_, _ = io.WriteString(w, set("http://"+r.Host+"/a"))
		case "/robots.txt":
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	p := placestest.Open(t, Kind(), sources.Settings{"url": address + "/sitemap.xml"}, n)
	items, err := placestest.List(t, p)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = placestest.Read(t, p, items[address+"/a"], "")
	placestest.WantCode(t, "a page", err, chat.CodeUnavailable)
}
