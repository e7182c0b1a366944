package webdav

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestest"
	"github.com/footnote/footnote/corpus/sources/webdav/webdavtest"
)

func TestRealServerWithUnusualNames(t *testing.T) {
	dir := t.TempDir()
	names := []string{
		"plain.txt", "with space.txt", "100% sure.txt", "percent%2Fslash.txt", "Größe ‐ 日本語.md", "a+b&c=d;e#f?g.txt",
		"'quote\".txt",
		"[x](y).md", strings.Repeat("ü", 120) + ".txt", "deep/deeper %25/file.txt", "~tilde.txt", "back\\slash.txt",
	}
	for _, name := range names {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("text of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address, at := webdavtest.Serve(t, dir)
	n := placestest.Net(t, at)
	settings := sources.Settings{"url": address, "username": "ada", "password": "secret"}
	p := placestest.Open(t, Kind(), settings, n)
	if err := p.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	items, err := placestest.List(t, p)
	if err != nil || len(items) != len(names) {
		t.Fatalf("%d items, %v, want %d: %v", len(items), err, len(names), items)
	}
	for _, name := range names {
		item, ok := items[strings.ReplaceAll(name, "%", "%25")]
		if !ok || item.Name != name || item.Version == "" || item.Size != int64(len("text of "+name)) ||
			item.Link == "" {
			t.Errorf("%q: item = %+v", name, item)
		}
		text, _, err := placestest.Read(t, p, item, "")
		if err != nil || text != "text of "+name {
			t.Errorf("%q = %q, %v", name, text, err)
		}
		if _, _, err := placestest.Read(t, p, item, item.Version); !errors.Is(err, sources.ErrSame) {
			t.Errorf("%q again: %v, want ErrSame", name, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "plain.txt")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := placestest.Read(t, p, items["plain.txt"], ""); !errors.Is(err, sources.ErrGone) {
		t.Errorf("a file that was removed: %v, want ErrGone", err)
	}

	settings["password"] = "wrong"
	wrong := placestest.Open(t, Kind(), settings, n)
	placestest.WantCode(t, "wrong password", wrong.Check(t.Context()), chat.CodeUnauthorized)
	for path, code := range map[string]chat.Code{"/missing": chat.CodeInvalid, "/with%20space.txt": chat.CodeInvalid} {
		other := placestest.Open(t, Kind(), sources.Settings{
			"url": address + path, "username": "ada", "password": "secret",
		}, n)
		placestest.WantCode(t, path, other.Check(t.Context()), code)
	}
}

const begin = `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns">`

// said encodes one entry of a PROPFIND response.
func said(href, kind, props string) string {
	return "<d:response><d:href>" + href + "</d:href><d:propstat><d:prop><d:resourcetype>" +
		kind + "</d:resourcetype>" +
		props + "</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
}

const collection = "<d:collection/>"

// refused encodes an entry with an error status instead of properties.
func refused(href string, status int) string {
	return fmt.Sprintf("<d:response><d:href>%s</d:href><d:status>HTTP/1.1 %d x</d:status></d:response>", href, status)
}

// answers opens a folder on a server with a function for PROPFIND responses.
func answers(t *testing.T, path string, answer func(path string) (int, string)) sources.Place {
	t.Helper()
	address, n := placestest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "PROPFIND" {
			_, _ = io.WriteString(w, "text")
			return
		}
		status, text := answer(r.URL.EscapedPath())
		if status >= 300 && status < 400 {
			w.Header().Set("Location", "/elsewhere/")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	return placestest.Open(t, Kind(), sources.Settings{"url": address + path}, n)
}

func TestNextcloudFilesLinkToPages(t *testing.T) {
	const root = "/cloud/remote.php/dav/files/ada/"
	p := answers(t, root, func(string) (int, string) {
		return 207, begin + said(root, collection, "") +
			said(root+"a%20b.txt", "", `<d:getetag>"1"</d:getetag><oc:fileid>42</oc:fileid>`) +
			said(root+"%66.txt", "", "<oc:fileid>7</oc:fileid><d:getcontentlength>-5</d:getcontentlength>") +
			said(root+"f.txt", "", "") + said("https://evil.example"+root+"x", "", "") + said(root+"../../y", "", "") +
			said(root+"a%2Fb.txt", "", "") + said(root+"%2e%2e", "", "") + said("/etc/passwd", "", "") +
			"</d:multistatus>"
	})
	items, err := placestest.List(t, p)
	if err != nil || len(items) != 3 {
		t.Fatalf("items = %v, %v, want three", items, err)
	}
	if a := items["a b.txt"]; !strings.HasSuffix(a.Link, "/cloud/f/42") || a.Version != `"1"` {
		t.Errorf("item = %+v, want a link to Nextcloud's page", a)
	}
	if f := items["f.txt"]; f.Size != -1 || f.Version != "" {
		t.Errorf("item = %+v, want neither size nor version", f)
	}
	if odd := items["a%2Fb.txt"]; odd.Name != "a-b.txt" {
		t.Errorf("item = %+v, want a slash that parts no folders", odd)
	}
}

func TestHostileServersEnd(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(path string) (int, string)
		code   chat.Code
	}{
		"folders without end": {func(path string) (int, string) {
			return 207, begin + said(path, collection, "") + said(path+"again/", collection, "") + "</d:multistatus>"
		}, chat.CodeInvalid},
		"an answer that breaks off": {func(path string) (int, string) {
			return 207, begin + said(path, collection, "") + said(path+"a.txt", "", "")
		}, chat.CodeUnavailable},
		"a page":          {func(string) (int, string) { return 200, "<html>" }, chat.CodeInvalid},
		"no multistatus":  {func(string) (int, string) { return 207, "<x/>" }, chat.CodeUnavailable},
		"no method":       {func(string) (int, string) { return 501, "" }, chat.CodeInvalid},
		"nothing there":   {func(string) (int, string) { return 404, "" }, chat.CodeInvalid},
		"somewhere else":  {func(string) (int, string) { return 301, "" }, chat.CodeInvalid},
		"out of order":    {func(string) (int, string) { return 500, "" }, chat.CodeUnavailable},
		"nothing for you": {func(string) (int, string) { return 403, "" }, chat.CodeForbidden},
		"one folder is closed": {func(path string) (int, string) {
			if path != "/dav/" {
				return 403, ""
			}
			return 207, begin + said("/dav/in/", collection, "") + said("/dav/a.txt", "", "") + "</d:multistatus>"
		}, chat.CodeForbidden},
		"one folder fails": {func(path string) (int, string) {
			if path != "/dav/" {
				return 502, ""
			}
			return 207, begin + said("/dav/in/", collection, "") + "</d:multistatus>"
		}, chat.CodeUnavailable},
		"one folder is closed, says the one that it is in": {func(string) (int, string) {
			return 207, begin + said("/dav/", collection, "") + said("/dav/a.txt", "", "") +
				refused("/dav/in/", 403) + "</d:multistatus>"
		}, chat.CodeForbidden},
		"a list that was cut": {func(string) (int, string) {
			return 207, begin + said("/dav/", collection, "") + said("/dav/a.txt", "", "") +
				refused("/dav/", 507) + "</d:multistatus>"
		}, chat.CodeUnavailable},
		"a folder without itself": {func(path string) (int, string) {
			if path != "/dav/" {
				return 207, begin + "</d:multistatus>"
			}
			return 207, begin + said("/dav/", collection, "") + said("/dav/in/", collection, "") + "</d:multistatus>"
		}, chat.CodeUnavailable},
	} {
		_, err := placestest.List(t, answers(t, "/dav", test.answer))
		placestest.WantCode(t, name, err, test.code)
	}
	long := strings.Repeat("x", 300)
	p := answers(t, "/dav", func(path string) (int, string) {
		text := begin + said(path+long+".txt", "", "")
		if strings.Count(path, "/") < 6 {
			text += said(path+long+"/", collection, "")
		}
		return 207, text + "</d:multistatus>"
	})
	items, err := placestest.List(t, p)
	if err != nil || len(items) != 5 {
		t.Fatalf("%d items with long paths, %v, want 5", len(items), err)
	}
	for _, item := range items {
		if text, _, err := placestest.Read(t, p, item, ""); err != nil || text != "text" {
			t.Errorf("an item with a long path = %q, %v", text, err)
		}
	}
}

func TestEmptyFolderWithOtherSpelling(t *testing.T) {
	p := answers(t, "/dav", func(path string) (int, string) {
		if path != "/dav/" {
			return 207, begin + said("/%64av/a%28b%29", collection, "") + "</d:multistatus>"
		}
		return 207, begin + said("/dav/", collection, "") + said("/dav/a(b)/", collection, "") +
			said("/dav/a.txt", "", "") + "</d:multistatus>"
	})
	if items, err := placestest.List(t, p); err != nil || len(items) != 1 {
		t.Errorf("items = %v, %v, want the one file", items, err)
	}
}

func TestFolderOverLimitIsIncomplete(t *testing.T) {
	var text strings.Builder
	text.WriteString(begin + said("/dav/", collection, ""))
	for n := range sources.MaxItems + 5 {
		_, _ = fmt.Fprintf(&text, "<d:response><d:href>/dav/%d.txt</d:href></d:response>", n)
	}
	text.WriteString(refused("/dav/gone.txt", 404) + "</d:multistatus>")
	items, err := placestest.List(t, answers(t, "/dav", func(string) (int, string) { return 207, text.String() }))
	if err != nil || len(items) <= sources.MaxItems {
		t.Errorf("%d items, %v, want more than are followed, so that the engine sees that there are", len(items), err)
	}
}

func TestPasswordIsSentOnlyToItsServer(t *testing.T) {
	var got string
	other, _ := placestest.Serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
	}))
	address, _ := placestest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			t.Error("request lacks the password")
		}
		http.Redirect(w, r, other, http.StatusFound)
	}))
	n := placestest.Net(t, placestest.At(t, address), placestest.At(t, other))
	p := placestest.Open(t, Kind(), sources.Settings{"url": address, "username": "ada", "password": "secret"}, n)
	_, _, err := placestest.Read(t, p, sources.Item{Key: "a.txt"}, "")
	if err != nil || got != "" {
		t.Errorf("another server got %q, %v, want nothing", got, err)
	}
}

func TestInvalidSettingsAreRejected(t *testing.T) {
	for _, s := range []sources.Settings{
		{}, {"url": "cloud"}, {"url": "https://a:b@example.org"}, {"url": "https://example.org", "password": "x"},
	} {
		_, err := Kind().Open(s, placestest.Net(t))
		placestest.WantCode(t, fmt.Sprint(s), err, chat.CodeInvalid)
	}
}

func FuzzPropfind(f *testing.F) {
	f.Add(begin+said("/dav/a%20b.txt", "", `<d:getetag>"1"</d:getetag>`)+"</d:multistatus>", "/dav/")
	f.Add(begin+said("/dav/%2e%2e/x", collection, "")+"</d:multistatus>", "/dav/")
	f.Fuzz(func(t *testing.T, raw, root string) {
		at, err := url.Parse("https://example.org/" + strings.TrimPrefix(root, "/"))
		if err != nil || at.Host != "example.org" {
			return
		}
		at = inFolder(&url.URL{Scheme: at.Scheme, Host: at.Host, Path: at.Path, RawPath: at.RawPath})
		_ = read(strings.NewReader(raw), at, func(e entry) error { // an invalid response may fail
			name, ok := nameIn(at, e.at)
			if !ok {
				return nil
			}
			back, err := addressOf(at, name)
			if err != nil || back.Host != at.Host {
				t.Fatalf("%q: link = %v, %v", name, back, err)
			}
			if again, ok := nameIn(at, back); !ok || again != name {
				t.Errorf("name of %q from its link = %q, %v", name, again, ok)
			}
			return nil
		})
	})
}

func TestDatesAreUsedWhenReliable(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	date := func(at time.Time) string { return at.Format(http.TimeFormat) }
	old := date(now.Add(-time.Hour))
	for name, test := range map[string]struct{ tag, date, version, match, since string }{
		"a tag and a date":   {`"1"`, old, `tag "1"`, `"1"`, ""},
		"a weak tag":         {`W/"1"`, "", `tag W/"1"`, `W/"1"`, ""},
		"a long tag":         {strings.Repeat("t", 300), old, "modified 7 " + old, "", old},
		"a date":             {"", old, "modified 7 " + old, "", old},
		"just now":           {"", date(now.Add(-time.Second)), "", "", ""},
		"in the future":      {"", date(now.AddDate(30, 0, 0)), "", "", ""},
		"before all changes": {"", "Thu, 01 Jan 1970 00:00:00 GMT", "", "", ""},
		"no date":            {"", "yesterday", "", "", ""},
		"nothing":            {"", "", "", "", ""},
	} {
		sent, asked := http.Header{}, http.Header{}
		sent.Set("ETag", test.tag)
		sent.Set("Last-Modified", test.date)
		version := versionOf(sent, 7, now)
		if version != test.version {
			t.Errorf("%s: version %q, want %q", name, version, test.version)
		}
		setConditions(asked, version, 7)
		if match, since := asked.Get("If-None-Match"), asked.Get("If-Modified-Since"); match != test.match ||
			since != test.since {
			t.Errorf("%s: asked with %q and %q, want %q and %q", name, match, since, test.match, test.since)
		}
	}
	other := http.Header{}
	setConditions(other, "modified 7 "+old, 8)
	if len(other) > 0 {
		t.Errorf("a file of another size: asked with %v, want without conditions", other)
	}
}

// A missing folder counts as removed if its parent no longer lists it; otherwise the list is incomplete.
func TestListedFolderIsNotRemoved(t *testing.T) {
	for name, test := range map[string]struct {
		listed int // number of lists with the folder
		hole   bool
	}{"removed meanwhile": {1, false}, "always listed": {100, true}} {
		times := 0
		p := answers(t, "/dav", func(path string) (int, string) {
			if path != "/dav/" {
				return http.StatusNotFound, ""
			}
			text := begin + said("/dav/", collection, "") + said("/dav/a.txt", "", "")
			if times++; times <= test.listed {
				text += said("/dav/in/", collection, "")
			}
			return http.StatusMultiStatus, text + "</d:multistatus>"
		})
		items, err := placestest.List(t, p)
		if len(items) != 1 || errors.Is(err, sources.ErrPart) != test.hole || (err != nil) != test.hole {
			t.Errorf("%s: %d items, %v; want one and a hole: %v", name, len(items), err, test.hole)
		}
	}
}

// Some unreadable folders make the list incomplete; many mean that the server is out of order.
func TestManyFailingFoldersFailServer(t *testing.T) {
	for folders, part := range map[int]bool{maxUnseen: true, maxUnseen + 1: false} {
		p := answers(t, "/dav", func(path string) (int, string) {
			if path != "/dav/" {
				return http.StatusInternalServerError, ""
			}
			text := begin + said("/dav/", collection, "")
			for i := range folders {
				text += said("/dav/"+strings.Repeat("f", i+1)+"/", collection, "")
			}
			return http.StatusMultiStatus, text + "</d:multistatus>"
		})
		_, err := placestest.List(t, p)
		placestest.WantCode(t, "folders that fail", err, chat.CodeUnavailable)
		if errors.Is(err, sources.ErrPart) != part {
			t.Errorf("%d folders that fail: %v, want a hole: %v", folders, err, part)
		}
	}
}
