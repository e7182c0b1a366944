package placestest

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/text/encoding/unicode"

	"github.com/footnote/footnote/corpus/sources"
)

const mib = 1 << 20

// Hostile is a listing of one kind of place that tries to exhaust its client's memory or time. It is repetitive and
// compressed, so a server sends a few hundred kilobytes of it.
type Hostile struct {
	Kind  string // of a place
	Shape string
	form  *form
	head  string
	unit  string // repeated; each verb in it is replaced by a counter
	tail  string
	size  int  // bytes of the units; 0: endless
	wide  bool // encoded in UTF-16
	// Entries is the number of units in place of a size.
	Entries int
}

// form is the format of a kind's listing.
type form struct {
	kind, variant string
	head, tail    string // around the entries
	calm          string // between them: a valid listing
	size          int    // bytes of a hostile listing, below the kind's limit
	entry, child  string // names of elements, or in JSON whole texts
	key           string // an entry's content, with a number
	real          string // an entry as servers send it
	most          int    // number of real entries that must be readable
	shapes        func(*form) []Hostile
	settings      func(address string) sources.Settings
}

// forms are the formats of all kinds that list by HTTP.
var forms = []*form{{
	kind: "webdav", size: 126 * mib, shapes: xmlShapes, entry: "response", child: "<propstat/>",
	head: `<multistatus xmlns="DAV:"><response><href>/list/</href><propstat><prop><resourcetype><collection/>` +
		`</resourcetype></prop><status>HTTP/1.1 200 OK</status></propstat></response>`,
	tail: `</multistatus>`, key: `<href>/list/%d</href>`, settings: at("url"),
	real: `<response><href>/list/A%%20report%%20with%%20a%%20name%%20of%%20usual%%20length-%d.pdf</href>` +
		`<propstat><prop>` +
		`<resourcetype/><getetag>"0123456789abcdef"</getetag><getcontentlength>123456</getcontentlength>` +
		`<fileid xmlns="http://owncloud.org/ns">123456</fileid></prop><status>HTTP/1.1 200 OK</status></propstat>` +
		`</response>`, most: 99_999,
}, {
	kind: "s3", size: 31 * mib, shapes: xmlShapes, entry: "Contents", child: "<ChecksumAlgorithm/>",
	head: `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name>`,
	tail: `</ListBucketResult>`, key: `<Key>%d</Key><Size>1</Size>`,
	real: `<Contents><Key>A+report+with+a+name+of+usual+length-%d.pdf</Key><LastModified>2026-01-02T03:04:05.000Z` +
		`</LastModified><ETag>&quot;0123456789abcdef&quot;</ETag><ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm>` +
		`<ChecksumType>FULL_OBJECT</ChecksumType><Size>123456</Size><Owner><ID>0123456789abcdef</ID><DisplayName>ada` +
		`</DisplayName></Owner><StorageClass>STANDARD</StorageClass></Contents>`, most: 1000,
	settings: func(address string) sources.Settings {
		return sources.Settings{
			"bucket": "bucket", "endpoint": address, "region": "us-east-1", "key": "ada", "secret": "secret",
		}
	},
}, {
	kind: "sitemap", size: 49 * mib, shapes: xmlShapes, entry: "url", child: "<x/>",
	head: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`, tail: `</urlset>`,
	key: `<loc>http://HOST/%d</loc>`, calm: `<url><loc>http://HOST/page</loc></url>`, settings: at("url"),
	real: `<url><loc>http://HOST/articles/a-page-with-a-title-of-usual-length-%d</loc><lastmod>2026-01-02</lastmod>` +
		`<changefreq>weekly</changefreq><priority>0.5</priority></url>`, most: 50_000,
}, {
	kind: "feed", variant: " (RSS)", size: 15 * mib, shapes: xmlShapes, entry: "item", child: "<category/>",
	head: `<rss version="2.0"><channel><title>News</title>`, tail: `</channel></rss>`, key: `<guid>%d</guid>`,
	settings: at("url"),
	real: `<item><title>A title of usual length</title><link>http://HOST/%d</link><guid isPermaLink="false">%d</guid>` +
		`<pubDate>Fri, 02 Jan 2026 03:04:05 GMT</pubDate><author>ada@example.org (Ada Brown)</author><category>News` +
		`</category><description><![CDATA[<p>A few words about <b>it</b>.</p>]]></description></item>`, most: 10_000,
}, {
	kind: "feed", variant: " (Atom)", size: 15 * mib, shapes: xmlShapes, entry: "entry", child: "<link/>",
	head: `<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>`, tail: `</feed>`, key: `<id>%d</id>`,
	settings: at("url"),
	real: `<entry><title>A title of usual length</title>` +
		`<link rel="alternate" type="text/html" href="http://HOST/%d"/>` +
		`<id>%d</id><updated>2026-01-02T03:04:05Z</updated><author><name>Ada Brown</name></author><summary ` +
		`type="html">&lt;p&gt;A few words about it.&lt;/p&gt;</summary></entry>`, most: 10_000,
}, {
	kind: "feed", variant: " (JSON)", size: 15 * mib, shapes: jsonShapes,
	head: `{"version":"https://jsonfeed.org/version/1.1","title":"News","items":[`, tail: `]}`,
	entry: `{"id":"1","title":"%s"}`, child: `{"id":"1","attachments":[%s]}`, key: `{"id":"%d"}`, settings: at("url"),
	real: `{"id":"%d","url":"http://HOST/%d","title":"A title of usual length","date_published":` +
		`"2026-01-02T03:04:05Z","authors":[{"name":"Ada Brown"}],"tags":["News"],"content_html":"<p>A few words</p>"},`,
	most: 10_000,
}, {
	kind: "zotero", size: 126 * mib, shapes: jsonShapes, head: `[`, tail: `]`,
	entry: `{"key":"AAAAAAAA","data":{"title":"%s"}}`, child: `{"key":"AAAAAAAA","data":{"tags":[%s]}}`,
	real: `{"key":"%08d","version":1,"meta":{"parsedDate":"2026-01-02"},"data":{"title":"A title of usual length",` +
		`"creators":[{"creatorType":"author","firstName":"Ada","lastName":"Brown"}],"abstractNote":"A few words.",` +
		`"DOI":"10.1000/1","url":"https://example.org/1","tags":[{"tag":"roofs"}],"linkMode":"imported_file",` +
		`"filename":"a.pdf","md5":"0123456789abcdef","mtime":1}},`, most: 50_000,
	key: `{"key":"%08d"}`, settings: func(address string) sources.Settings {
		return sources.Settings{"library": "users/1", "url": address + "/api"} // of the program on this machine
	},
}, {
	kind: "paperless", size: 31 * mib, shapes: jsonShapes, head: `{"count":1,"results":[`, tail: `]}`,
	entry: `{"id":1,"title":"%s"}`, child: `{"id":1,"versions":[%s]}`, key: `{"id":1%d}`,
	real: `{"id":1%d,"title":"A title of usual length","correspondent":1,"document_type":1,"tags":[1,2,3],"created":` +
		`"2026-01-02","modified":"2026-01-02T03:04:05Z","original_file_name":"a.pdf","checksum":"0123456789abcdef",` +
		`"versions":[]},`, most: 10_000,
	settings: func(address string) sources.Settings { return sources.Settings{"url": address, "token": "secret"} },
}}

// at returns the settings of a kind that only needs an address.
func at(name string) func(string) sources.Settings {
	return func(address string) sources.Settings { return sources.Settings{name: address + "/list"} }
}

// HostileListings returns every shape of every kind, a little below the kind's limit, or at a fraction of it.
func HostileListings(share int) []Hostile {
	var all []Hostile
	for _, f := range forms {
		for _, h := range f.shapes(f) {
			h.form, h.Kind, h.Shape = f, f.kind, f.kind+f.variant+": "+h.Shape
			if !strings.HasSuffix(h.Shape, "without end") {
				h.size = f.size / share
			}
			all = append(all, h)
		}
	}
	return all
}

// LargeListings returns one valid listing for each kind, with the number of entries that must be readable.
func LargeListings() []Hostile {
	var all []Hostile
	for _, f := range forms {
		h := Hostile{
			Kind: f.kind, Shape: f.kind + f.variant, form: f, head: f.head, unit: f.real, tail: f.tail, Entries: f.most,
		}
		if last, comma := strings.CutSuffix(h.unit, ","); comma { // JSON has no comma after the last entry
			h.Entries, h.tail = h.Entries-1, strings.NewReplacer("%08d", "ZZZZZZZZ", "%d", "0").Replace(last)+h.tail
		}
		all = append(all, h)
	}
	return all
}

// Half returns the listing at half its size. ok is false for one that is small or endless.
func (h Hostile) Half() (Hostile, bool) {
	h.size /= 2
	return h, h.size > 64<<10
}

// xmlShapes returns the attacks with XML elements.
func xmlShapes(f *form) []Hostile {
	begin, end := f.head+"<"+f.entry+">", "</"+f.entry+">"+f.tail
	whole := "<" + f.entry + ">" + f.key + "</" + f.entry + ">"
	root, spaces, _ := strings.Cut(f.head, " ")
	return []Hostile{
		{Shape: "nested elements", head: f.head, unit: "<a>"},
		{Shape: "nested elements in UTF-16", head: f.head, unit: "<a>", wide: true},
		{Shape: "nested entries", head: f.head, unit: "<" + f.entry + ">"},
		{Shape: "nested namespaces", head: begin, unit: `<a xmlns:b%d="c">`},
		{Shape: "empty entries", head: f.head, unit: "<" + f.entry + "/>", tail: f.tail},
		{Shape: "unknown elements", head: f.head, unit: "<x/>", tail: f.tail},
		{Shape: "an element of many attributes", head: begin + "<x", unit: ` a=""`, tail: "/>" + end},
		{Shape: "a root of many attributes", head: root, unit: ` a=""`, tail: " " + spaces + f.tail},
		{Shape: "an entry of many small elements", head: begin, unit: f.child, tail: end},
		{Shape: "an entry of many unknown elements", head: begin, unit: "<y:x/>", tail: end},
		{Shape: "an entry of one long text", head: begin + f.key[:strings.IndexByte(f.key, '%')], unit: "a",
			tail: f.key[strings.IndexByte(f.key, '%')+len("%d"):] + end},
		{Shape: "a text in many pieces", head: begin + "<y:x>", unit: "a<!---->", tail: "</y:x>" + end},
		{Shape: "entries with valid keys", head: f.head, unit: whole, tail: f.tail},
		{Shape: "comments", head: f.head, unit: "<!---->", tail: f.tail},
		{Shape: "CDATA", head: begin, unit: "<![CDATA[<a>]]>", tail: end},
		{Shape: "a document type of many entities", head: "<!DOCTYPE a [", unit: `<!ENTITY b "c">`,
			tail: "]>" + f.head},
		{Shape: "entries without end", head: f.head, unit: whole},
		{Shape: "white space without end", head: f.head, unit: strings.Repeat(" ", 1000)},
	}
}

// jsonShapes returns the attacks with JSON.
func jsonShapes(f *form) []Hostile {
	before, after, _ := strings.Cut(f.entry, "%s")
	open, closed, _ := strings.Cut(f.child, "%s")
	return []Hostile{
		{Shape: "empty entries", head: f.head, unit: "{},", tail: "{}" + f.tail},
		{Shape: "nested arrays", head: f.head, unit: "["},
		{Shape: "nested objects", head: f.head, unit: `{"a":`},
		{Shape: "an entry of one long text", head: f.head + before, unit: "a", tail: after + f.tail},
		{Shape: "an entry of many small values", head: f.head + open, unit: "{},", tail: "{}" + closed + f.tail},
		{Shape: "an entry of many members", head: f.head + `{"x":0`, unit: `,"%d":[]`, tail: "}" + f.tail},
		{Shape: "a number of many digits", head: f.head, unit: "1", tail: f.tail},
		{Shape: "entries with valid keys", head: f.head + fmt.Sprintf(f.key, 0), unit: "," + f.key, tail: f.tail},
		{Shape: "a list beside the list", head: f.head + f.tail[:len(f.tail)-1] + `,"x":[0`, unit: ",0", tail: "]}"},
		{Shape: "entries without end", head: f.head, unit: f.key + ","},
		{Shape: "white space without end", head: f.head, unit: strings.Repeat(" ", 1000)},
	}
}

// Settings returns the settings of a place at a server of this listing.
func (h Hostile) Settings(address string) sources.Settings { return h.form.settings(address) }

// Handler serves the listing, after so many valid responses.
func (h Hostile) Handler(calm int64) http.Handler {
	var asked atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := h
		if asked.Add(1) <= calm {
			body = Hostile{form: h.form, head: h.form.head + h.form.calm + h.form.tail, size: 1}
		}
		w.Header().Set("Content-Type", "application/xml")
		w.Header().Set("Total-Results", strconv.Itoa(h.Entries))
		w.Header().Set("Content-Encoding", "gzip")
		if h.Kind == "webdav" {
			w.WriteHeader(http.StatusMultiStatus)
		}
		packed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // a valid level
		if body.write(packed, r.Host) == nil {              // else the client closed the connection
			_ = packed.Close()
		}
	})
}

// Serve starts a server of the listing. The caller closes it.
func (h Hostile) Serve(calm int64) *httptest.Server { return httptest.NewServer(h.Handler(calm)) }

// write writes the listing until its end or a write error.
func (h Hostile) write(w io.Writer, host string) error {
	if h.wide {
		w = unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().Writer(w)
	}
	head, unit := strings.ReplaceAll(h.head, "HOST", host), strings.ReplaceAll(h.unit, "HOST", host)
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	var some strings.Builder
	verbs := strings.Count(unit, "%") - 2*strings.Count(unit, "%%")
	for n, written := 0, 0; unit != "" && !h.isOver(n, written); written += some.Len() {
		some.Reset()
		for some.Len() < 64<<10 && !h.isOver(n, written+some.Len()) {
			if n++; verbs > 0 {
				fmt.Fprintf(&some, unit, slices.Repeat([]any{n}, verbs)...)
			} else {
				some.WriteString(unit)
			}
		}
		if _, err := io.WriteString(w, some.String()); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, strings.ReplaceAll(h.tail, "HOST", host))
	return err
}

// isOver reports whether the listing ends after so many units and bytes.
func (h Hostile) isOver(units, bytes int) bool {
	if h.Entries > 0 {
		return units >= h.Entries
	}
	return h.size > 0 && bytes >= h.size
}
