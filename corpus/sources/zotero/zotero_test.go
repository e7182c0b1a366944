package zotero

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestest"
)

// fake is a server of the published API. It calls turn before each page of the files.
type fake struct {
	works, files []map[string]any
	version      int
	dir          string // of the files of the program on this machine
	turn         func(w http.ResponseWriter, start int) (answered bool)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	way, local := strings.CutPrefix(r.URL.Path, "/api")
	way, ok := strings.CutPrefix(way, "/users/12/")
	way = strings.TrimPrefix(way, "collections/COLL2345/")
	q := r.URL.Query()
	switch {
	case !local && r.Header.Get("Authorization") != "Bearer good":
		http.Error(w, "Invalid key", http.StatusForbidden)
	case local && r.Header.Get("Authorization") != "":
		http.Error(w, "a key that nobody asked for", http.StatusBadRequest)
	case !ok || r.Header.Get("Zotero-API-Version") != "3":
		http.NotFound(w, r)
	case strings.HasSuffix(way, "/file/view/url") && local:
		_, _ = io.WriteString(w, "file://"+f.dir+"/storage/"+strings.Split(way, "/")[1]+"/a%20b.pdf\n")
	case strings.HasSuffix(way, "/file") && !local:
		http.Redirect(w, r, "/storage?of="+way, http.StatusFound)
	case way == "items/top" && q.Get("itemType") == "-attachment":
		f.list(w, r, f.works)
	case way == "items" && q.Get("itemType") == "attachment":
		start, _ := strconv.Atoi(q.Get("start"))
		if f.turn == nil || !f.turn(w, start) {
			f.list(w, r, f.files)
		}
	default:
		http.NotFound(w, r)
	}
}

func (f *fake) list(w http.ResponseWriter, r *http.Request, all []map[string]any) {
	start, _ := strconv.Atoi(r.URL.Query().Get("start"))
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil {
		limit = len(all)
	}
	w.Header().Set("Total-Results", strconv.Itoa(len(all)))
	w.Header().Set("Last-Modified-Version", strconv.Itoa(f.version))
	raw, _ := json.Marshal(all[min(start, len(all)):min(start+limit, len(all))])
	_, _ = w.Write(raw)
}

func file(n int) map[string]any {
	return map[string]any{"key": fmt.Sprintf("FILE%04d", n), "version": n, "data": map[string]any{
		"itemType": "attachment", "linkMode": "imported_file", "title": "PDF", "filename": "a.pdf", "parentItem": false,
		"md5": nil, "mtime": 1700000000000,
	}}
}

func many(n int) *fake {
	f := &fake{works: []map[string]any{}, version: 7}
	for i := range n {
		f.files = append(f.files, file(i+1))
	}
	return f
}

// serve serves a library, and its files at the target of its redirects.
func serve(t *testing.T, h http.Handler) (string, sources.Net) {
	t.Helper()
	return placestest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch of := r.URL.Query().Get("of"); {
		case r.URL.Path != "/storage":
			h.ServeHTTP(w, r)
		case strings.Contains(of, "FILE0009"):
			http.NotFound(w, r)
		case strings.Contains(of, "FILE0008"):
			_, _ = io.WriteString(w, "<html>Log in")
		case strings.Contains(of, "FILE0007"):
			_, _ = io.WriteString(w, "PK\x03\x04")
		default:
			w.Header().Set("Content-Type", "application/pdf")
			_, _ = io.WriteString(w, "text of "+of)
		}
	}))
}

func follow(t *testing.T, h http.Handler, key string) sources.Place {
	t.Helper()
	address, n := serve(t, h)
	return placestest.Open(t, Kind(), sources.Settings{"url": address, "library": "users/12", "key": key}, n)
}

func TestFilesWithMetadata(t *testing.T) {
	f := many(3)
	f.works = append(f.works, map[string]any{
		"key": "WORK2345", "version": 3, "meta": map[string]any{"parsedDate": "1843-08"}, "data": map[string]any{
			"itemType": "journalArticle", "title": "Notes", "DOI": "10.1/x", "url": "https://example.org/notes",
			"creators": []any{
				map[string]any{"creatorType": "author", "firstName": "Ada", "lastName": "Lovelace"},
				map[string]any{"creatorType": "author", "name": "Royal Society"},
				map[string]any{"creatorType": "editor", "name": "Nobody"},
			},
			"tags": []any{map[string]any{"tag": "machines"}},
		},
	})
	of := f.files[0]["data"].(map[string]any)
	of["parentItem"], of["filename"] = "WORK2345", "Lovelace - Notes.pdf"
	f.files[0]["links"] = map[string]any{
		"alternate": map[string]any{"href": "https://www.zotero.org/ada/items/FILE0001"},
	}
	f.files[1]["links"] = map[string]any{"alternate": map[string]any{"href": "https://evil.example/FILE0002"}}
	f.files[2]["data"].(map[string]any)["linkMode"] = "linked_file"
	p := follow(t, f, "good")
	if err := p.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	items, err := placestest.List(t, p)
	if err != nil || len(items) != 2 {
		t.Fatalf("items = %v, %v, want the two that are no links", items, err)
	}
	notes := items["FILE0001"]
	want := map[string]any{
		"title": "Notes", "author": "Ada Lovelace, Royal Society", "year": 1843, "doi": "10.1/x",
		"authors": []string{"Ada Lovelace", "Royal Society"}, "url": "https://example.org/notes",
		"tags": []string{"machines"},
	}
	if diff := cmp.Diff(want, notes.Meta); diff != "" {
		t.Errorf("meta (-want +got):\n%s", diff)
	}
	if notes.Name != "Lovelace - Notes.pdf" || notes.Link != "https://www.zotero.org/ada/items/FILE0001" ||
		items["FILE0002"].Link != "" {
		t.Errorf("items = %+v", items)
	}
	text, _, err := placestest.Read(t, p, notes, "older")
	if err != nil || text != "text of items/FILE0001/file" {
		t.Errorf("the file = %q, %v", text, err)
	}
	if _, _, err := placestest.Read(t, p, notes, notes.Version); !errors.Is(err, sources.ErrSame) {
		t.Errorf("the file again: %v, want ErrSame", err)
	}
	if _, _, err := placestest.Read(t, p, sources.Item{Key: "FILE0009"}, ""); !errors.Is(err, sources.ErrGone) {
		t.Errorf("a file that is not there: %v, want ErrGone", err)
	}
	_, _, err = placestest.Read(t, p, sources.Item{Key: "FILE0008", Name: "a.pdf"}, "")
	placestest.WantCode(t, "a page in the place of a file", err, chat.CodeUnavailable)
	_, packed, err := placestest.Read(t, p, sources.Item{Key: "FILE0007", Name: "page.html"}, "")
	if err != nil || packed.Name != "page.zip" {
		t.Errorf("a packed page = %+v, %v, want the name of an archive", packed, err)
	}
	of["md5"] = "abc"
	if again, err := placestest.List(t, p); err != nil || again["FILE0001"].Version == notes.Version {
		t.Errorf("a file that changed: %+v, %v, want another version", again["FILE0001"], err)
	}
	placestest.WantCode(t, "wrong key", follow(t, f, "wrong").Check(t.Context()), chat.CodeUnauthorized)
}

func TestLibraryChangingDuringListing(t *testing.T) {
	remove := func(f *fake, times int) func(http.ResponseWriter, int) bool {
		return func(_ http.ResponseWriter, start int) bool {
			if start > 0 && times > 0 {
				times--
				f.version++
				f.files = f.files[1:]
			}
			return false
		}
	}
	f := many(201)
	f.turn = remove(f, 1)
	items, err := placestest.List(t, follow(t, f, "good"))
	if err != nil || len(items) != 201 {
		t.Errorf("%d of 201 items, %v, want all: one moved to a page that was read", len(items), err)
	}
	f = many(350)
	f.turn = remove(f, 100)
	_, err = placestest.List(t, follow(t, f, "good"))
	placestest.WantCode(t, "a library that changes all the time", err, chat.CodeUnavailable)
}

func TestUnexpectedResponses(t *testing.T) {
	says := func(status int, total, text string) func(http.ResponseWriter, int) bool {
		return func(w http.ResponseWriter, _ int) bool {
			w.Header().Set("Total-Results", total)
			w.Header().Set("Last-Modified-Version", "7")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
			return true
		}
	}
	for name, test := range map[string]struct {
		turn func(http.ResponseWriter, int) bool
		code chat.Code
	}{
		"a log-in page":      {says(200, "1", "<html>Log in"), chat.CodeInvalid},
		"another program":    {says(200, "1", `{"items":[]}`), chat.CodeInvalid},
		"no total":           {says(200, "", `[]`), chat.CodeInvalid},
		"a key that is none": {says(200, "1", `[{"key":"../../x"}]`), chat.CodeInvalid},
		"no such library":    {says(404, "", ""), chat.CodeInvalid},
		"out of order":       {says(502, "", ""), chat.CodeUnavailable},
		"an end too soon":    {says(200, "1", `[{"key":"FILE0001",`), chat.CodeUnavailable},
		"the same for ever":  {says(200, "500", `[{"key":"FILE0001"}]`), chat.CodeInvalid},
		"fewer than it says": {says(200, "5", `[]`), chat.CodeUnavailable},
		"a page that fails": {func(w http.ResponseWriter, start int) bool {
			return start > 0 && says(500, "", "")(w, start)
		}, chat.CodeUnavailable},
		"too large": {func(w http.ResponseWriter, _ int) bool {
			w.Header().Set("Total-Results", "1")
			w.Header().Set("Last-Modified-Version", "7")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range maxPage>>20 + 1 {
				_, _ = z.Write(bytes.Repeat([]byte(" "), 1<<20))
			}
			return z.Close() == nil
		}, chat.CodeTooLarge},
	} {
		f := many(250)
		f.turn = test.turn
		_, err := placestest.List(t, follow(t, f, "good"))
		placestest.WantCode(t, name, err, test.code)
	}
}

func TestBackoffIsRespected(t *testing.T) {
	f, wait := many(150), "40"
	f.turn = func(w http.ResponseWriter, start int) bool {
		if start == 0 {
			w.Header().Set("Backoff", wait)
		}
		return false
	}
	p := follow(t, f, "good")
	var waited []time.Duration
	p.(*library).pause = func(_ context.Context, d time.Duration) error {
		waited = append(waited, d)
		return nil
	}
	items, err := placestest.List(t, p)
	if err != nil || len(items) != 150 || len(waited) != 1 || waited[0] > 40*time.Second {
		t.Errorf("%d items, %v, waited %v, want one rest of 40 s", len(items), err, waited)
	}
	wait = "86400"
	_, err = placestest.List(t, p)
	placestest.WantCode(t, "a rest of a day", err, chat.CodeUnavailable)
}

func TestLocalProgram(t *testing.T) {
	f := many(300)
	f.dir = filepath.ToSlash(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(f.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("storage/FILE0001/a b.pdf", "text")
	write("secret", "secret")
	address, n := serve(t, f)
	p := placestest.Open(t, Kind(), sources.Settings{
		"url": address + "/api", "library": "users/12", "key": "good", "collection": "COLL2345",
	}, n)
	items, err := placestest.List(t, p)
	if err != nil || len(items) != 300 {
		t.Fatalf("%d items, %v, want 300", len(items), err)
	}
	if text, _, err := placestest.Read(t, p, items["FILE0001"], ""); err != nil || text != "text" {
		t.Errorf("the file = %q, %v", text, err)
	}
	if _, _, err := placestest.Read(t, p, items["FILE0002"], ""); !errors.Is(err, sources.ErrGone) {
		t.Errorf("a file that is not there: %v, want ErrGone", err)
	}
	if err := os.Symlink(filepath.Join(f.dir, "secret"), filepath.Join(f.dir, "storage/FILE0001/link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(f.dir, filepath.Join(f.dir, "storage/FILE0003")); err != nil {
		t.Fatal(err)
	}
	for key, way := range map[string]string{
		"FILE0001": f.dir + "/storage/FILE0001/link", "FILE0002": f.dir + "/storage/FILE0001/a%20b.pdf",
		"FILE0003": f.dir + "/storage/FILE0003/secret", "FILE0004": f.dir + "/storage/FILE0004/../../secret",
		"FILE0005": f.dir + "/secret", "..": f.dir + "/storage/../secret",
	} {
		_, err := openLocal(key, "file://"+way)
		placestest.WantCode(t, way, err, chat.CodeInvalid)
	}
	closed := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	address, n = placestest.Serve(t, closed)
	p = placestest.Open(t, Kind(), sources.Settings{"url": address + "/api", "library": "users/0"}, n)
	placestest.WantCode(t, "not allowed in its settings", p.Check(t.Context()), chat.CodeForbidden)
}

func TestInvalidSettingsAreRejected(t *testing.T) {
	for _, s := range []sources.Settings{
		{}, {"library": "https://www.zotero.org/ada"}, {"library": "users/ada"},
		{"library": "users/1", "url": "zotero"}, {"library": "users/1", "collection": "../x"},
		{"library": "users/1", "key": "a b"},
	} {
		_, err := Kind().Open(s, placestest.Net(t))
		placestest.WantCode(t, fmt.Sprint(s), err, chat.CodeInvalid)
	}
	for given, want := range map[string]string{
		"groups/45": "groups/45", "/users/1/": "users/1", "https://www.zotero.org/groups/45/name/library": "groups/45",
	} {
		if got, ok := libraryPath(given); got != want || !ok {
			t.Errorf("the library %q is %q, want %q", given, got, want)
		}
	}
}
