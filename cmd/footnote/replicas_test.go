package main_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/blobs/s3/s3test"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

func TestReplicasShareABucketAndTheWork(t *testing.T) {
	t.Parallel()
	storage := s3test.New(t)
	env := append(bucket(storage), "DATABASE_URL="+postgrestest.Shared(t).Schema(t), "AWS_SECRET_ACCESS_KEY=canary")
	one, two := serve(t, newDir(t), env...), serve(t, newDir(t), env...)
	var files []file
	for i := range 12 {
		files = append(files, file{fmt.Sprintf("book%d.md", i), chapter(fmt.Sprint("book", i), 20)})
	}
	ids := one.add(files...)
	for _, id := range ids {
		if d := two.settled(id); d.State != "ready" {
			t.Errorf("a document became %+v, want State %q", d, "ready")
		}
	}
	if r := two.send("GET", "/documents/"+ids[0]+"/file", nil); r.status != http.StatusOK || r.body != files[0].body {
		t.Errorf("the other replica's original: %d %.200s; want %d and %.200s",
			r.status, r.body, http.StatusOK, files[0].body)
	}
	storage.Fail(s3test.HangUp)
	r := one.upload(file{"late.md", "# Late\n\nIt comes too late.\n"})
	if r.status != http.StatusServiceUnavailable && !strings.Contains(r.body, `"unavailable"`) ||
		!strings.Contains(r.body, "storage of the originals does not answer") {
		t.Errorf("an upload without storage: %d %s, want %q in it",
			r.status, r.body, "storage of the originals does not answer")
	}
	if r := two.send("GET", "/documents/"+ids[0]+"/text", nil); r.status != http.StatusOK ||
		!strings.Contains(r.body, "book0begins") {
		t.Errorf("the text without storage: %d %.200s; want %d and %q in it",
			r.status, r.body, http.StatusOK, "book0begins")
	}
	if log := one.log.String() + two.log.String(); strings.Contains(log, "canary") ||
		strings.Contains(log, "this replica's data directory only") {
		t.Errorf("the log holds a key, or warns of originals that are not shared:\n%s", log)
	}
}

func TestReplicasThatDoNotShareOriginalsAreWarned(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t), "DATABASE_URL="+postgrestest.Shared(t).Schema(t))
	if !strings.Contains(s.log.String(), "set FOOTNOTE_BLOBS to a directory or a bucket that all replicas share") {
		t.Errorf("no warning:\n%s", s.log)
	}
}

// replicas starts n servers on one database and one directory of originals.
func replicas(t *testing.T, n int) []*server {
	t.Helper()
	env := []string{"DATABASE_URL=" + postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://" + t.TempDir()}
	list := make([]*server, n)
	for i := range list {
		list[i] = serve(t, newDir(t), env...)
	}
	return list
}

func TestAnyReplicaServesWhatAnotherDid(t *testing.T) {
	t.Parallel()
	both := replicas(t, 2)
	one, two := both[0], both[1]
	if !strings.Contains(one.log.String(), "semantic search is off") {
		t.Errorf("serve does not say that semantic search is off:\n%s", one.log)
	}
	id := one.add(file{
		"survey.md", "# Survey\n\nThe roof of the house was renewed in 1987 with slate tiles.\n\n## Garden\n\nThe " +
			"fence leans.\n",
	})[0]
	if d := two.settled(id); d.State != "ready" || d.Title != "Survey" {
		t.Errorf("the other replica has the document as %+v; want State %q and Title %q", d, "ready", "Survey")
	}
	if r := two.send("GET", "/documents/"+id+"/file", nil); r.status != http.StatusOK ||
		!strings.Contains(r.body, "renewed in 1987") {
		t.Errorf("the other replica's original: %d %.200s; want %d and %q in it",
			r.status, r.body, http.StatusOK, "renewed in 1987")
	}
	run := one.begin("When was the roof renewed?")
	elsewhere := two.follow(run.RunID) // while it runs
	if elsewhere.done.Status != chat.RunCompleted || elsewhere.answer == nil ||
		!strings.Contains(elsewhere.answer.Markdown, "1987") {
		t.Errorf("the run ended as %+v with %+v; want Status %v and %q in it",
			elsewhere.done, elsewhere.answer, chat.RunCompleted, "1987")
	}
	if len(elsewhere.citations) == 0 || elsewhere.citations[0].DocumentID != id {
		t.Errorf("citations %+v; want some citations and %v", elsewhere.citations, id)
	}
	for _, s := range both {
		if again := s.follow(run.RunID); !slices.Equal(again.raw, elsewhere.raw) {
			t.Errorf("a replay on %s differs from what was streamed", s.url)
		}
	}
	for k := range elsewhere.raw {
		st, err := one.open("GET", fmt.Sprintf("/agent/runs/%s/events?after=%d", run.RunID, k), nil)
		if err != nil {
			t.Fatal(err)
		}
		rest, err := st.rest()
		st.close()
		if !errors.Is(err, io.EOF) || !slices.Equal(rest, elsewhere.raw[k:]) {
			t.Errorf("after %d: %d events, %v; want %d", k, len(rest), err, len(elsewhere.raw)-k)
		}
	}
	if code := one.end(os.Interrupt); code != 0 {
		t.Errorf("the first replica ended with %d:\n%s", code, one.log)
	}
	if log := two.run("When was the roof renewed?"); log.done.Status != chat.RunCompleted || len(log.citations) == 0 {
		t.Errorf("alone, the other replica's run ended as %+v with %d citations; want Status %v and some citations",
			log.done, len(log.citations), chat.RunCompleted)
	}
}

func TestAWrongDatabaseIsSaid(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, url string
		code      int
		says      string
	}{
		{"no URL of a database", "mysql://root:canary@localhost/x", 2, "DATABASE_URL is not a URL like postgres://"},
		{"a URL with a broken port", "postgres://root:canary@localhost:nowhere/x", 2,
			"DATABASE_URL is not a URL like postgres://"},
		{"no server there", "postgres://root:canary@127.0.0.1:1/x", 1, "The database does not answer"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := command(t, "", []string{"DATABASE_URL=" + row.url}, "serve", "--addr=127.0.0.1:0",
				"--data="+newDir(t))
			if got.code != row.code || !strings.Contains(got.stderr, row.says) ||
				strings.Contains(got.stderr+got.stdout, "canary") {
				t.Errorf("exit %d, want %d and %q:\n%s", got.code, row.code, row.says, got.stderr)
			}
		})
	}
	got := command(t, "", []string{"FOOTNOTE_BLOBS=blobs"}, "serve")
	if got.code != 2 || !strings.Contains(got.stderr, "FOOTNOTE_BLOBS") {
		t.Errorf("a relative FOOTNOTE_BLOBS: exit %d\n%s", got.code, got.stderr)
	}
}
