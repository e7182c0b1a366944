package server

import (
	"strings"
	"testing"

	"footnote/corpus"
)

func TestARefusedUploadLeavesNothingOfItBehind(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Limits.UploadFiles = 2 })
	_, res := b.uploadFiles("@kept.md=" + survey)
	kept := res.Documents[0].ID
	b.settled(kept)
	count := func() int {
		t.Helper()
		var list struct{ Documents []documentInfo }
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
		if got.status != tt.status || !strings.Contains(got.body, "Nothing of this upload was kept") {
			t.Errorf("%s: %d %s", tt.name, got.status, got.body)
		}
		if n := count(); n != 1 {
			t.Errorf("%s: %d documents, want the one of before", tt.name, n)
		}
	}
	got, res := b.uploadFiles("@u1.txt=words of u1")
	if got.status != 202 || len(res.Documents) != 1 {
		t.Fatalf("the file alone: %d %s", got.status, got.body)
	}
	if info := b.settled(res.Documents[0].ID); info.State != corpus.StateReady || count() != 2 {
		t.Errorf("the file alone = %+v, %d documents", info, count())
	}
}

func TestANewVersionOfARefusedUploadStaysAndIsNamed(t *testing.T) {
	b := newBench(t)
	_, res := b.uploadFiles("@a.md=" + survey)
	b.settled(res.Documents[0].ID)
	got, _ := b.uploadFiles("@a.md=Other words.", "foo=1")
	if got.status != 400 || !strings.Contains(got.body, "a.md") || !strings.Contains(got.body, "stays") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestTheSameFileWithOtherMetaGetsThatMeta(t *testing.T) {
	b := newBench(t)
	_, res := b.uploadFiles("@a.md=" + survey)
	id := res.Documents[0].ID
	b.settled(id)
	_, res = b.uploadFiles(`meta={"author":"Zed"}`, "@a.md="+survey)
	if len(res.Documents) != 1 || res.Documents[0].DuplicateOf != id {
		t.Fatalf("again = %+v", res)
	}
	var info documentInfo
	b.send("GET", "/documents/"+id, "").decode(t, &info)
	if info.Meta["author"] != "Zed" {
		t.Errorf("meta = %v", info.Meta)
	}
	var found searchResponse
	b.send("POST", "/search", `{"query":"gutters","filters":{"meta":{"author":"Zed"}}}`).decode(t, &found)
	if found.TotalResults == 0 {
		t.Error("a search for the new author finds nothing")
	}
}
