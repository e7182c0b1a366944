package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestARestoreTouchesNothingUnlessItIsTold(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	ids := s.add(books[0])
	k := s.everything(ids, []string{s.finished("What is the condition of the roof?")})
	backup := filepath.Join(t.TempDir(), "backup.tar")
	env := []string{"FOOTNOTE_DATA=" + s.dir}
	if got := command(t, "", env, "backup", backup); got.code != 0 {
		t.Fatal(got.stderr)
	}
	if got := command(t, "", env, "backup", backup); got.code != 1 ||
		!strings.Contains(got.stderr, "is there already") {
		t.Errorf("a second backup under the name: %d %s; want 1 and %q in it", got.code, got.stderr, "is there already")
	}
	if got := command(t, "", env, "restore", backup, "--force"); got.code != 1 ||
		!strings.Contains(got.stderr, "in use by the Footnote at") {
		t.Errorf("restore below a server: %d %s; want 1 and %q in it",
			got.code, got.stderr, "in use by the Footnote at")
	}
	s.add(books[1])
	s.end(os.Interrupt)
	if got := command(t, "", env, "restore", backup); got.code != 1 || !strings.Contains(got.stderr, "holds data") {
		t.Errorf("restore over data: %d %s; want 1 and %q in it", got.code, got.stderr, "holds data")
	}
	if got := command(t, "", env, "restore", backup, "--force"); got.code != 0 ||
		!strings.Contains(got.stdout, "before-restore-") {
		t.Fatalf("restore --force: %d %s%s; want 0 and %q in it", got.code, got.stdout, got.stderr, "before-restore-")
	}
	again := s.restart()
	again.mustHave(k)
	if again.search("rent").TotalResults != 0 {
		t.Error("what came after the backup is still there")
	}
	if aside, err := filepath.Glob(filepath.Join(s.dir, "before-restore-*", "footnote.db")); err != nil ||
		len(aside) != 1 {
		t.Errorf("what was there is not put aside: %v %v, want 1", aside, err)
	}
	for _, args := range [][]string{{"backup", "x.tar"}, {"restore", backup}} {
		if got := command(t, "", []string{"DATABASE_URL=postgres://x/y"}, args...); got.code != 1 ||
			!strings.Contains(got.stderr, "pg_dump") {
			t.Errorf("%s with DATABASE_URL: %d %s; want 1 and %q in it", args[0], got.code, got.stderr, "pg_dump")
		}
	}
	if got := command(t, "", nil, "backup", filepath.Join(t.TempDir(), "x.tar"),
		"--data="+t.TempDir()); got.code != 1 || !strings.Contains(got.stderr, "There is no database at") {
		t.Errorf("a backup of nothing: %d %s; want 1 and %q in it", got.code, got.stderr, "There is no database at")
	}
}
