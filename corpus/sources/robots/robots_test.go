package robots

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources/placestest"
	"github.com/footnote/footnote/corpus/sources/request"
)

func TestRulesAllow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rules    string
		allow    []string
		disallow []string
	}{
		{"", []string{"/", "/a"}, nil},
		{"User-agent: *\nDisallow:", []string{"/", "/a"}, nil},
		{"User-agent: *\nDisallow: /", []string{"/robots.txt"}, []string{"", "/", "/a", "/?q"}},
		{"user-AGENT : * \r\n DISALLOW : /in # not this\r\n", []string{"/", "/i"}, []string{"/in", "/in/a", "/inside"}},
		{"\xef\xbb\xbfUser-agent: *\rDisallow: /a", []string{"/b"}, []string{"/a"}},
		// only the groups for this program apply, wherever they are
		{
			"User-agent: *\nDisallow: /\n\nUser-agent: FOOTNOTE/2.0\nDisallow: /own\n" +
				"User-agent: other\nDisallow: /x\nUser-agent: footnote\nDisallow: /more",
			[]string{"/", "/x"}, []string{"/own", "/more"},
		},
		{"User-agent: footnotes\nDisallow: /\nUser-agent: foot\nDisallow: /", []string{"/"}, nil},
		{"User-agent: a\nUser-agent: footnote\nSitemap: /s\nDisallow: /x", []string{"/"}, []string{"/x"}},
		{"User-agent: footnote\nDisallow:\n\nUser-agent: *\nDisallow: /", []string{"/"}, nil},
		{"Disallow: /\nUser-agent: *\nAllow: /", []string{"/"}, nil},
		// the longest match applies; of equally long ones the one that allows
		{"User-agent: *\nAllow: /p\nDisallow: /", []string{"/p", "/page"}, []string{"/", "/a"}},
		{"User-agent: *\nDisallow: /folder\nAllow: /folder", []string{"/folder/a"}, nil},
		{"User-agent: *\nAllow: /folder\nDisallow: /folder", []string{"/folder/a"}, nil},
		{"User-agent: *\nAllow: /page\nDisallow: /*.htm", []string{"/page"}, []string{"/page.htm", "/page.html"}},
		{"User-agent: *\nAllow: /$\nDisallow: /", []string{"/"}, []string{"/page", "/?q"}},
		{"User-agent: *\nDisallow: /*.php$", []string{"/a.php?x", "/a.php5"}, []string{"/a.php", "/in/b.php"}},
		{"User-agent: *\nDisallow: /a*b*c", []string{"/acb", "/abb"}, []string{"/abc", "/a1b2c3"}},
		{"User-agent: *\nDisallow: *private", []string{"/"}, []string{"/private", "/in/private/x"}},
		{"User-agent: *\nDisallow: /fish*$", []string{"/"}, []string{"/fish", "/fish/a"}},
		// in any encoding
		{"User-agent: *\nDisallow: /foo/bar/ツ", nil, []string{"/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"}},
		{"User-agent: *\nDisallow: /foo/bar/%62%61%7A", nil, []string{"/foo/bar/baz"}},
		{"User-agent: *\nDisallow: /a%2Fb", []string{"/a/b"}, []string{"/a%2fb"}},
		{"User-agent: *\nDisallow: /a-%2A.h\nDisallow: /b-%24", []string{"/a-b.h"}, []string{"/a-*.h", "/b-$"}},
		{"User-agent: *\nDisallow: /%", []string{"/a"}, nil},
		{"<html>User-agent: *\nDisallow: /", []string{"/"}, nil},
	} {
		rules := Parse([]byte(test.rules))
		for i, paths := range [][]string{test.allow, test.disallow} {
			for _, path := range paths {
				page, err := url.Parse("https://example.org" + path)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := rules.Allow(page), i == 0; got != want {
					t.Errorf("%q: %q is allowed: %v, want %v", test.rules, path, got, want)
				}
			}
		}
	}
}

func TestRobotsResponses(t *testing.T) {
	t.Parallel()
	const none = "User-agent: *\nDisallow: /"
	writes := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, none) }
	for name, test := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		code   chat.Code // empty: allowed
	}{
		"closed": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, ""},
		"broken": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, chat.CodeUnavailable},
		"down":   {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, chat.CodeUnavailable},
		"breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, none)
		}, chat.CodeUnavailable},
		"moved": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.Redirect(w, r, "/rules", http.StatusFound)
				return
			}
			_, _ = io.WriteString(w, none)
		}, chat.CodeForbidden},
		"a circle": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, 302) }, ""},
		"a long one": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("# nothing\n", maxRead/10)+none)
		}, ""},
		"a server inside": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/robots.txt", http.StatusFound)
		}, chat.CodeForbidden},
		"rules":     {writes, chat.CodeForbidden},
		"not there": {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(404); writes(w, r) }, ""},
	} {
		var times atomic.Int32
		address, n := placestest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			times.Add(1)
			test.answer(w, r)
		}))
		page, err := url.Parse(address + "/page")
		if err != nil {
			t.Fatal(err)
		}
		asker := New(request.New(n))
		err = asker.Check(t.Context(), page)
		if (test.code == "") != (err == nil) || err != nil && chat.CodeOf(err) != test.code {
			t.Errorf("%s: %v, want code %q", name, err, test.code)
		}
		before := times.Load()
		if err2 := asker.Check(t.Context(), page); times.Load() != before || !errors.Is(err2, err) {
			t.Errorf("%s: second request, %v", name, err2)
		}
	}
}

// A cancelled call is not cached.
func TestCancelledRequestIsNotCached(t *testing.T) {
	t.Parallel()
	address, n := placestest.Serve(t, http.NotFoundHandler())
	page, err := url.Parse(address + "/page")
	if err != nil {
		t.Fatal(err)
	}
	asker := New(request.New(n))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := asker.Check(ended, page); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want the end of the context", err)
	}
	if err := asker.Check(t.Context(), page); err != nil {
		t.Errorf("then: %v", err)
	}
}

func FuzzRules(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$", "/ab")
	f.Add("User-agent: footnote\nAllow: /%zz", "/%41?x")
	f.Fuzz(func(t *testing.T, rules, path string) {
		page, err := url.Parse("https://example.org/" + strings.TrimPrefix(path, "/"))
		if err != nil {
			return
		}
		Parse([]byte(rules)).Allow(page)
		if all := "User-agent: *\nDisallow: " + page.EscapedPath(); Parse([]byte(all)).Allow(page) !=
			(page.Path == "/robots.txt") && !strings.ContainsAny(all, "*$# ") {
			t.Errorf("rules allow %q, want it disallowed", all)
		}
	})
}

func TestRulesAreBounded(t *testing.T) {
	parts := 0
	for _, r := range Parse([]byte("User-agent: *\nDisallow: " + strings.Repeat("*", maxRead) + "\n" +
		strings.Repeat("Disallow: /*a*b\n", 2*maxParts))) {
		parts += len(r.parts)
	}
	if parts == 0 || parts > maxParts {
		t.Errorf("the rules have %d parts, want 1 to %d", parts, maxParts)
	}
}

func TestLargeRulesAreEvicted(t *testing.T) {
	address, n := placestest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /closed\n"+strings.Repeat("#", maxRead))
	}))
	n.HTTP.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return n.Dial(ctx, "tcp", strings.TrimPrefix(address, "http://")) // for any host
	}
	asker := New(request.New(n))
	for host := range 2 * maxKept / maxRead {
		page := &url.URL{Scheme: "http", Host: fmt.Sprintf("host%d.example", host), Path: "/open"}
		if err := asker.Check(t.Context(), page); err != nil {
			t.Fatal(err)
		}
	}
	if kept := len(asker.known) * maxRead; kept == 0 || kept > maxKept {
		t.Errorf("rules of %d bytes are kept, want 1 to %d", kept, maxKept)
	}
}
