package server

import (
	"html"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/api"
)

func TestRejectedUploadLeavesNothing(t *testing.T) {
	b := newHarness(t, func(c *Config) { c.Limits.UploadFiles = 2 })
	_, res := b.uploadFiles("@kept.md=" + survey)
	kept := res.Documents[0].ID
	b.settled(kept)
	count := func() int {
		t.Helper()
		var list struct{ Documents []api.DocumentInfo }
		b.send("GET", "/documents", "").decode(t, &list)
		return len(list.Documents)
	}
	for _, tt := range []struct {
		name   string
		parts  []string
		status int
	}{
		{"an unknown field after a file", []string{"@u1.txt=words of u1", "foo=1"}, 400},
		{"meta that is none after a file", []string{"@u1.txt=words of u1", "meta={bad"}, 400},
		{"too many files", []string{"@u1.txt=words of u1", "@u2.txt=words of u2", "@u3.txt=words of u3"}, 413},
		{"a file that was there before", []string{"@kept.md=" + survey, "@u1.txt=words of u1", "foo=1"}, 400},
	} {
		got, _ := b.uploadFiles(tt.parts...)
		if got.status != tt.status || !strings.Contains(got.body, "Nothing from this upload was saved") {
			t.Errorf("%s: %d %s; want %d and %q in it",
				tt.name, got.status, got.body, tt.status, "Nothing from this upload was saved")
		}
		if n := count(); n != 1 {
			t.Errorf("%s: %d documents, want the one of before", tt.name, n)
		}
	}
	got, res := b.uploadFiles("@u1.txt=words of u1")
	if got.status != 202 || len(res.Documents) != 1 {
		t.Fatalf("the file alone: %d %s, want 202", got.status, got.body)
	}
	if info := b.settled(res.Documents[0].ID); info.State != corpus.StateReady || count() != 2 {
		t.Errorf("the file alone = %+v, %d documents; want State %v and 2", info, count(), corpus.StateReady)
	}
}

func TestRejectedUploadKeepsAndNamesNewVersion(t *testing.T) {
	b := newHarness(t)
	_, res := b.uploadFiles("@a.md=" + survey)
	b.settled(res.Documents[0].ID)
	got, _ := b.uploadFiles("@a.md=Other words.", "foo=1")
	const remain = "changes to existing documents remain"
	if got.status != 400 || !strings.Contains(got.body, "a.md") || !strings.Contains(got.body, remain) {
		t.Errorf("%d %s; want 400, %q in it, %q in it", got.status, got.body, "a.md", remain)
	}
}

func TestSameFileWithNewMetadataIsUpdated(t *testing.T) {
	b := newHarness(t)
	_, res := b.uploadFiles("@a.md=" + survey)
	id := res.Documents[0].ID
	b.settled(id)
	_, res = b.uploadFiles(`meta={"author":"Zed"}`, "@a.md="+survey)
	if len(res.Documents) != 1 || res.Documents[0].DuplicateOf != id {
		t.Fatalf("again = %+v; want 1 document and Documents[0].DuplicateOf %v", res, id)
	}
	var info api.DocumentInfo
	b.send("GET", "/documents/"+id, "").decode(t, &info)
	if info.Meta["author"] != "Zed" {
		t.Errorf("meta = %v, want %q", info.Meta, "Zed")
	}
	var found api.SearchResponse
	b.send("POST", "/search", `{"query":"gutters","filters":{"meta":{"author":"Zed"}}}`).decode(t, &found)
	if found.TotalResults == 0 {
		t.Errorf("a search for the new author finds nothing: got %v, want other than 0", found.TotalResults)
	}
}

func TestUploadStatusFollowsRejectionReason(t *testing.T) {
	b := newHarness(t, func(c *Config) { c.Limits.UploadFile = 100 })
	large, unsupported, fine := "@large.md="+strings.Repeat("large ", 100), "@a.exe=MZ\x90\x00\x03\x00\x00\x00",
		"@fine.md=Fine words."
	for _, tt := range []struct {
		name   string
		parts  []string
		status int
		codes  []chat.Code
	}{
		{"too large", []string{large}, 413, []chat.Code{chat.CodeTooLarge}},
		{"of another kind", []string{unsupported}, 415, []chat.Code{chat.CodeUnsupported}},
		{"both", []string{unsupported, large}, 415, []chat.Code{chat.CodeUnsupported, chat.CodeTooLarge}},
		{"one is taken", []string{large, fine}, 202, []chat.Code{chat.CodeTooLarge}},
		{"one is there already", []string{fine, large}, 202, []chat.Code{chat.CodeTooLarge}},
	} {
		got, res := b.uploadFiles(tt.parts...)
		var codes []chat.Code
		for _, r := range res.Rejected {
			codes = append(codes, r.Code)
		}
		if got.status != tt.status || !slices.Equal(codes, tt.codes) || !strings.Contains(got.body, `"documents":[`) ||
			got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %v %s, want %d %v", tt.name, got.status, codes, got.body, tt.status, tt.codes)
		}
		body, kind := form(t, tt.parts...)
		page := b.send("POST", "/documents", body, "Content-Type", kind, "Accept", "text/html")
		want := tt.status
		if want == 202 {
			want = 200
		}
		if page.status != want {
			t.Errorf("%s: the page has status %d, want %d", tt.name, page.status, want)
		}
		for _, r := range res.Rejected {
			if !strings.Contains(page.body, r.Filename) ||
				!strings.Contains(page.body, html.EscapeString(string(r.Detail))) {
				t.Errorf("%s: page lacks %q and %q", tt.name, r.Filename, r.Detail)
			}
		}
	}
	body, kind := form(t, fine)
	if got := b.send("POST", "/documents", body, "Content-Type", kind, "Accept", "text/html"); got.status != 303 ||
		got.header.Get("Location") != "/documents" {
		t.Errorf("complete form: got %d %q; want 303 and %q", got.status, got.header.Get("Location"), "/documents")
	}
}
