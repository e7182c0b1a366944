package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
)

func TestFilesAreCheckedBeforeTheyAreSent(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Limits.UploadFile = 10_000 })
	check := func(parts ...string) reply {
		body, kind := form(t, parts...)
		return b.send("POST", "/documents/check", body, "Content-Type", kind)
	}
	got := check(
		"size=12",
		"@notes.conf=The roof is.",
		"size=9000",
		"@film.mov=\x00\x00\x00\x18ftypmp42"+strings.Repeat("\x07", 500),
		"size=0",
		"@empty.md=",
		"size=10001",
		"@long.txt=words",
		"size=9000",
		"@scan=%PDF-1.7",
	)
	var answer struct {
		Refused []struct {
			At     int
			Detail string
		}
	}
	got.decode(t, &answer)
	want := []struct {
		at     int
		detail string
	}{{1, "is a video"}, {2, "is empty"}, {3, "is larger than 9.8 KiB"}}
	if got.status != http.StatusOK || len(answer.Refused) != len(want) {
		t.Fatalf("check = %d %s, want 200 and %d refused files", got.status, got.body, len(want))
	}
	for i, w := range want {
		if r := answer.Refused[i]; r.At != w.at || !strings.Contains(r.Detail, w.detail) {
			t.Errorf("refused file = %d, %q; want %d, %q", r.At, r.Detail, w.at, w.detail)
		}
	}
	if list := b.send("GET", "/documents", ""); !strings.Contains(list.body, `"documents":[]`) {
		t.Errorf("after a check there are documents: %s", list.body)
	}
	head := strings.Repeat("a", corpus.SniffBytes)
	if got := check(
		"size=1",
		"@long.txt="+head+strings.Repeat("\x00", 100),
	); !strings.Contains(
		got.body,
		`"refused":[]`,
	) {
		t.Errorf("what follows the beginning counts: %s", got.body)
	}
	many := make([]string, 101)
	for i := range many {
		many[i] = "@a.txt=words"
	}
	for name, got := range map[string]reply{
		"101 files":      check(many...),
		"no size":        check("size=big", "@a.txt=words"),
		"a body too big": check("@a.txt=" + strings.Repeat("a", 2<<20)),
	} {
		if got.status < 400 || got.status >= 500 {
			t.Errorf("%s: %d %s, want a refusal", name, got.status, got.body)
		}
	}
}
