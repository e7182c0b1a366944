package feed

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestest"
)

const rss = `<?xml version="1.0" encoding="iso-8859-1"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel><title>News</title>
<item><title>Gr` + "\xf6" + `&#223;e 1/2</title><link>/one</link>
 <guid isPermaLink="false">id-1</guid><dc:creator>Ada</dc:creator>
 <pubDate>Tue, 06 Jan 2026 10:00:00 GMT</pubDate><description>short</description></item>
<item><title>Whole</title><link>/two</link><guid>id-2</guid>
 <content:encoded><![CDATA[<p>All of it.</p>]]></content:encoded>
 <pubDate>Tue, 06 Jan 2999 10:00:00 GMT</pubDate></item>
<item><title>Again</title><guid>id-2</guid></item>
<item><title>Note</title><guid>id-3</guid><description>Only this.</description></item>
<item><title>Odd</title><link>javascript:alert(1)</link><guid>id-4</guid></item>
<item></item>
</channel></rss>`

func serve(t *testing.T, files map[string]string) (string, sources.Net) {
	t.Helper()
	return placestest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, text)
	}))
}

func TestFeedEntries(t *testing.T) {
	address, n := serve(t, map[string]string{"/feed": rss, "/one": "<p>The page of one."})
	p := placestest.Open(t, Kind(), sources.Settings{"url": address + "/feed"}, n)
	if err := p.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	items, err := placestest.List(t, p)
	if err != nil || len(items) != 4 {
		t.Fatalf("items = %v, %v, want four", items, err)
	}
	one := items["id-1"]
	if one.Meta["title"] != "Größe 1/2" || one.Meta["author"] != "Ada" || one.Meta["date"] != "2026-01-06" ||
		one.Link != address+"/one" || one.Name != "2026-01-06 Größe 1-2.html" {
		t.Errorf("entry = %+v", one)
	}
	if items["id-2"].Meta["date"] != nil || items["id-4"].Link != "" {
		t.Errorf("entries = %+v, %+v, want no date of the future and no link to a script", items["id-2"], items["id-4"])
	}
	for key, want := range map[string]string{"id-1": "The page of one.", "id-2": "All of it.", "id-3": "Only this."} {
		text, content, err := placestest.Read(t, p, items[key], "")
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s = %q, %v, want %q", key, text, err, want)
		}
		if _, _, err := placestest.Read(t, p, items[key], content.Version); !errors.Is(err, sources.ErrSame) {
			t.Errorf("%s again: %v, want ErrSame", key, err)
		}
	}
	if !Kind().Keeps {
		t.Error("items of a feed are not kept")
	}
}

func TestAtomAndInvalidFeeds(t *testing.T) {
	address, n := serve(t, map[string]string{
		"/atom": `<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry><id>urn:1</id><title>A</title>
			<link href="https://example.org/a"/><updated>2026-02-03T00:00:00Z</updated>
			<content type="html">&lt;p&gt;Inside.&lt;/p&gt;</content></entry></feed>`,
		"/page": "<!doctype html><p>words", "/empty": "", "/cut": rss[:600],
	})
	atom := placestest.Open(t, Kind(), sources.Settings{"url": address + "/atom"}, n)
	text, _, err := placestest.Read(t, atom, sources.Item{Key: "urn:1"}, "")
	if err != nil || !strings.Contains(text, "<p>Inside.</p>") {
		t.Errorf("entry = %q, %v", text, err)
	}
	if _, _, err := placestest.Read(t, atom, sources.Item{Key: "urn:2"}, ""); !errors.Is(err, sources.ErrGone) {
		t.Errorf("an entry that is not there: %v, want ErrGone", err)
	}
	for _, path := range []string{"/page", "/empty", "/cut", "/nowhere"} {
		p := placestest.Open(t, Kind(), sources.Settings{"url": address + path}, n)
		placestest.WantCode(t, path, p.Check(t.Context()), chat.CodeInvalid)
	}
	_, err = Kind().Open(sources.Settings{"url": "feed"}, n)
	placestest.WantCode(t, "no address", err, chat.CodeInvalid)
}

// TestRobotsDisallowedPagesAreRejected covers robots.txt: it applies to the pages of entries, but not to entries
// in the feed, nor to the feed itself, which a person entered.
func TestRobotsDisallowedPagesAreRejected(t *testing.T) {
	address, n := serve(t, map[string]string{
		"/feed": rss, "/one": "<p>The page of one.", "/robots.txt": "User-agent: *\nDisallow: /",
	})
	p := placestest.Open(t, Kind(), sources.Settings{"url": address + "/feed"}, n)
	items, err := placestest.List(t, p)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = placestest.Read(t, p, items["id-1"], "")
	placestest.WantCode(t, "a closed page", err, chat.CodeForbidden)
	if text, _, err := placestest.Read(t, p, items["id-2"], ""); err != nil || !strings.Contains(text, "All of it.") {
		t.Errorf("an entry of the feed's own = %q, %v", text, err)
	}
}
