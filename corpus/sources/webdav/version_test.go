package webdav

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestest"
)

func TestDatesAreReliedOnWhenTheyCanBe(t *testing.T) {
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
		askIfChanged(asked, version, 7)
		if match, since := asked.Get("If-None-Match"), asked.Get("If-Modified-Since"); match != test.match ||
			since != test.since {
			t.Errorf("%s: asked with %q and %q, want %q and %q", name, match, since, test.match, test.since)
		}
	}
	other := http.Header{}
	askIfChanged(other, "modified 7 "+old, 8)
	if len(other) > 0 {
		t.Errorf("a file of another size: asked with %v, want without conditions", other)
	}
}

// A folder that is not there is gone if it is not listed any more; else the list has a hole.
func TestAFolderThatIsListedIsNotGone(t *testing.T) {
	for name, test := range map[string]struct {
		listed int // times that the folder is listed
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

// Some folders that can't be read leave holes; many are a server that is out of order.
func TestManyFoldersThatFailAreAServerThatDoes(t *testing.T) {
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
