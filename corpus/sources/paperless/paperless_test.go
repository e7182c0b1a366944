package paperless

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestest"
)

// fake is a server of the published API. It calls turn before each page of the documents.
type fake struct {
	docs  []map[string]any // by ID
	names map[string][]any // of each other list
	turn  func(w http.ResponseWriter, page int) (answered bool)
	host  string // in the URL of the next page
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	way, inside := strings.CutPrefix(r.URL.Path, "/papers/api/")
	switch {
	case !inside:
		http.NotFound(w, r)
	case r.Header.Get("Authorization") != "Token 0123abcd":
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"detail":"Invalid token."}`)
	case strings.HasSuffix(way, "/download/"):
		id, _ := strconv.Atoi(strings.Split(way, "/")[1])
		if r.URL.Query().Get("original") != "true" || !slices.ContainsFunc(f.docs, func(d map[string]any) bool {
			return d["id"] == id
		}) {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = fmt.Fprintf(w, "text of %d", id)
	case way == "documents/":
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		fields := r.URL.Query().Get("fields")
		if f.turn != nil && fields != "id" && f.turn(w, page) {
			return
		}
		if fields != "id" && !strings.Contains(fields, "modified") || r.URL.Query().Get("ordering") != "id" {
			http.Error(w, "the whole text was asked for", http.StatusBadRequest)
			return
		}
		var all []any
		for _, d := range f.docs {
			all = append(all, d)
		}
		f.list(w, r, all)
	default:
		f.list(w, r, f.names[strings.Trim(way, "/")])
	}
}

// list writes a page of a list.
func (f *fake) list(w http.ResponseWriter, r *http.Request, all []any) {
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	size, _ := strconv.Atoi(r.URL.Query().Get("page_size"))
	from := (page - 1) * size
	if from > 0 && from >= len(all) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"detail":"Invalid page."}`)
		return
	}
	to := min(from+size, len(all))
	answer := map[string]any{"count": len(all), "next": nil, "previous": nil, "results": all[from:to]}
	if to < len(all) {
		answer["next"] = fmt.Sprintf("http://%s%s?ordering=id&page=%d&page_size=%d", f.host, r.URL.Path, page+1, size)
	}
	raw, _ := json.Marshal(answer)
	_, _ = w.Write(raw)
}

// many returns a server with n documents, whose own URLs are those behind a proxy.
func many(n int) *fake {
	f := &fake{names: map[string][]any{}, host: "127.0.0.1:1"}
	for id := range n {
		f.docs = append(f.docs, map[string]any{
			"id": id + 1, "title": fmt.Sprintf("Letter %d", id+1), "modified": "2026-01-02T10:00:00Z",
			"original_file_name": "scan.PDF", "created": "2026-01-02", "tags": []int{}, "correspondent": nil,
		})
	}
	return f
}

// follow opens a server's documents.
func follow(t *testing.T, h http.Handler, token string) sources.Place {
	t.Helper()
	address, n := placestest.Serve(t, h)
	return placestest.Open(t, Kind(), sources.Settings{"url": address + "/papers/api/", "token": token}, n)
}

func TestDocumentsWithMetadata(t *testing.T) {
	f := many(3)
	f.docs[0] = map[string]any{
		"id": 1, "title": " Bill 1/2026 \n of May", "modified": "2026-05-02T10:00:00.123456+02:00",
		"original_file_name": "bill.docx", "created": "2026-05-01T00:00:00+02:00", "correspondent": 7,
		"document_type": 4, "tags": []int{12, 11, 99},
	}
	f.names["correspondents"] = []any{map[string]any{"id": 7, "name": "Water works"}}
	f.names["document_types"] = []any{map[string]any{"id": 4, "name": "Invoice"}}
	for id := 1000; id < 1150; id++ { // more than one page
		f.names["tags"] = append(f.names["tags"], map[string]any{"id": id, "name": "other"})
	}
	house := map[string]any{"id": 12, "name": "house", "children": []any{map[string]any{"id": 11, "name": "2026"}}}
	f.names["tags"] = append(f.names["tags"], house)
	p := follow(t, f, "0123abcd")
	if err := p.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	items, err := placestest.List(t, p)
	if err != nil || len(items) != 3 {
		t.Fatalf("items = %v, %v, want 3", items, err)
	}
	bill := items["1"]
	want := map[string]any{
		"title": "Bill 1/2026 of May", "author": "Water works", "date": "2026-05-01", "document_type": "Invoice",
		"tags": []string{"2026", "house"},
	}
	if diff := cmp.Diff(want, bill.Meta); diff != "" {
		t.Errorf("meta (-want +got):\n%s", diff)
	}
	if bill.Name != "Bill 1-2026 of May.docx" || !strings.HasSuffix(bill.Link, "/papers/documents/1/details") ||
		items["2"].Name != "Letter 2.PDF" {
		t.Errorf("items = %+v", items)
	}
	if text, _, err := placestest.Read(t, p, bill, "older"); err != nil || text != "text of 1" {
		t.Errorf("the document = %q, %v", text, err)
	}
	if _, _, err := placestest.Read(t, p, bill, bill.Version); !errors.Is(err, sources.ErrSame) {
		t.Errorf("the document again: %v, want ErrSame", err)
	}

	versions := map[string]bool{bill.Version: true}
	for what, change := range map[string]func(){
		"changed":            func() { f.docs[0]["modified"] = "2026-06-01T10:00:00Z" },
		"another tag's name": func() { house["name"] = "flat" },
		"another file": func() {
			f.docs[0]["versions"] = []any{map[string]any{"id": 50, "checksum": "abc"}}
		},
	} {
		change()
		items, err := placestest.List(t, p)
		if err != nil || versions[items["1"].Version] || items["2"].Version == "" {
			t.Errorf("%s: version = %q, %v, want a new one", what, items["1"].Version, err)
		}
		versions[items["1"].Version] = true
	}
	f.docs = f.docs[1:]
	if _, _, err := placestest.Read(t, p, bill, ""); !errors.Is(err, sources.ErrGone) {
		t.Errorf("a document that was removed: %v, want ErrGone", err)
	}
	f.names["tags"] = nil
	placestest.WantCode(t, "wrong token", follow(t, f, "wrong").Check(t.Context()), chat.CodeUnauthorized)
	_, err = placestest.List(t, follow(t, f, "wrong"))
	placestest.WantCode(t, "list with a wrong token", err, chat.CodeUnauthorized)
}

func TestDocumentsChangingDuringListing(t *testing.T) {
	remove := func(f *fake, times int) func(http.ResponseWriter, int) bool {
		return func(_ http.ResponseWriter, page int) bool {
			if page > 1 && times > 0 {
				times--
				f.docs = f.docs[1:]
			}
			return false
		}
	}
	for _, n := range []int{201, 250} {
		f := many(n)
		f.turn = remove(f, 1)
		items, err := placestest.List(t, follow(t, f, "0123abcd"))
		if err != nil || len(items) != n {
			t.Errorf("%d of %d items, %v, want all: one moved to a page that was read", len(items), n, err)
		}
	}
	f := many(350)
	f.turn = remove(f, 100)
	_, err := placestest.List(t, follow(t, f, "0123abcd"))
	placestest.WantCode(t, "documents that go all the time", err, chat.CodeUnavailable)

	f = many(250)
	f.turn = func(_ http.ResponseWriter, page int) bool {
		if page == 2 && len(f.docs) == 250 {
			f.docs = append(f.docs, many(251).docs[250])
		}
		return false
	}
	items, err := placestest.List(t, follow(t, f, "0123abcd"))
	if err != nil || len(items) != 251 {
		t.Errorf("%d items, %v, want 251 with the one that was added", len(items), err)
	}
}

func TestDocumentReplacedDuringListing(t *testing.T) {
	f := many(250)
	f.turn = func(_ http.ResponseWriter, page int) bool {
		if page == 2 && len(f.docs) == 250 && f.docs[0]["id"] == 1 { // the 101st is on the first page now
			f.docs = append(f.docs[1:], many(251).docs[250])
		}
		return false
	}
	items, err := placestest.List(t, follow(t, f, "0123abcd"))
	if err != nil || len(items) != 251 || items["101"].Key == "" {
		t.Errorf("%d items, %v, want 251 with the one that moved to a page that was read", len(items), err)
	}
}

func TestTooManyTagNames(t *testing.T) {
	f := many(1)
	for id := range sources.MaxItems + 1 {
		f.names["tags"] = append(f.names["tags"], map[string]any{"id": id})
	}
	p := follow(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/tags/") { // all at once, whatever the requested page size
			query := r.URL.Query()
			query.Set("page_size", strconv.Itoa(len(f.names["tags"])))
			r.URL.RawQuery = query.Encode()
		}
		f.ServeHTTP(w, r)
	}), "0123abcd")
	_, err := placestest.List(t, p)
	placestest.WantCode(t, "more names than documents can be", err, chat.CodeTooLarge)
}

func TestUnexpectedResponses(t *testing.T) {
	says := func(status int, text string) func(http.ResponseWriter, int) bool {
		return func(w http.ResponseWriter, page int) bool {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.ReplaceAll(text, "PAGE", strconv.Itoa(page)))
			return true
		}
	}
	const circle = `{"count":500,"next":"https://evil.example/?page=%s","results":[{"id":%s,"title":"x"}]}`
	for name, test := range map[string]struct {
		turn func(http.ResponseWriter, int) bool
		code chat.Code
	}{
		"a log-in page":       {says(200, "<!doctype html><title>Log in</title>"), chat.CodeInvalid},
		"another program":     {says(200, `{"items":[]}`), chat.CodeInvalid},
		"another kind of ids": {says(200, `{"count":1,"results":[{"id":"x"}]}`), chat.CodeInvalid},
		"nothing there":       {says(404, ""), chat.CodeInvalid},
		"nothing for you":     {says(403, "{}"), chat.CodeForbidden},
		"out of order":        {says(502, "<html>"), chat.CodeUnavailable},
		"an end too soon":     {says(200, `{"count":1,"results":[{"id":1,`), chat.CodeUnavailable},
		"a circle":            {says(200, fmt.Sprintf(circle, "1", "PAGE")), chat.CodeInvalid},
		"pages that are left": {says(200, fmt.Sprintf(circle, "3", "PAGE")), chat.CodeInvalid},
		"the same for ever":   {says(200, fmt.Sprintf(circle, "2", "1")), chat.CodeInvalid},
		"a next that is none": {says(200, fmt.Sprintf(circle, "%zz", "PAGE")), chat.CodeInvalid},
		"fewer than it says":  {says(200, `{"count":2,"results":[{"id":1}]}`), chat.CodeUnavailable},
		"a page that fails": {func(w http.ResponseWriter, page int) bool {
			return page == 2 && says(500, "")(w, page)
		}, chat.CodeUnavailable},
		"too large": {func(w http.ResponseWriter, _ int) bool {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(bytes.Repeat([]byte(" "), maxPage+1))
			return z.Close() == nil
		}, chat.CodeTooLarge},
	} {
		f := many(250)
		f.turn = test.turn
		_, err := placestest.List(t, follow(t, f, "0123abcd"))
		placestest.WantCode(t, name, err, test.code)
	}
	p := follow(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<title>Log in</title>")
	}), "0123abcd")
	_, _, err := placestest.Read(t, p, sources.Item{Key: "1", Name: "a.pdf"}, "")
	placestest.WantCode(t, "a log-in page in the place of a document", err, chat.CodeUnavailable)
	if text, _, err := placestest.Read(t, p, sources.Item{Key: "1", Name: "a.HTML"}, ""); err != nil || text == "" {
		t.Errorf("a document that is a page = %q, %v", text, err)
	}
}

func TestForbiddenTagNames(t *testing.T) {
	f := many(2)
	p := follow(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/tags/") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		f.ServeHTTP(w, r)
	}), "0123abcd")
	if items, err := placestest.List(t, p); err != nil || len(items) != 2 {
		t.Errorf("items = %v, %v, want both, without tags", items, err)
	}
}

func TestTokenIsSentOnlyToItsServer(t *testing.T) {
	var got, first string
	other, toOther := placestest.Serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
	}))
	address, n := placestest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first = r.Header.Get("Authorization")
		http.Redirect(w, r, other, http.StatusFound)
	}))
	near := n.HTTP.Transport
	n.HTTP.Transport = ways(func(r *http.Request) (*http.Response, error) {
		if "http://"+r.URL.Host == other {
			return toOther.HTTP.Transport.RoundTrip(r)
		}
		return near.RoundTrip(r)
	})
	p := placestest.Open(t, Kind(), sources.Settings{"url": address, "token": "0123abcd"}, n)
	_, _, err := placestest.Read(t, p, sources.Item{Key: "1"}, "")
	if err != nil || got != "" || first != "Token 0123abcd" {
		t.Errorf("the servers got %q and %q, %v, want the token and nothing", first, got, err)
	}
}

// ways is a function as an HTTP transport.
type ways func(*http.Request) (*http.Response, error)

func (w ways) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

func TestInvalidSettingsAreRejected(t *testing.T) {
	for _, s := range []sources.Settings{
		{}, {"url": "https://papers.example"}, {"url": "papers", "token": "x"},
		{"url": "https://a:b@papers.example", "token": "x"}, {"url": "https://papers.example", "token": "a b"},
	} {
		_, err := Kind().Open(s, placestest.Net(t))
		placestest.WantCode(t, fmt.Sprint(s), err, chat.CodeInvalid)
	}
}
