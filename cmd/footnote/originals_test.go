package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/blobs/s3/s3test"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// bucket are the settings that keep originals in a storage.
func bucket(storage *s3test.Storage) []string {
	return append(s3test.Env(), "FOOTNOTE_BLOBS="+storage.URL)
}

// filesBelow counts the files of a directory and of all below it.
func filesBelow(t *testing.T, dir string) (n int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

func TestABackupHoldsTheOriginalsOfABucketAndGoesAnywhere(t *testing.T) {
	t.Parallel()
	storage := s3test.New(t)
	s := serve(t, newDir(t), bucket(storage)...)
	big := file{"big.txt", strings.Repeat("The ledger of the mill is long, and this is one line of it.\n", 20000)}
	ids := s.add(append([]file{big}, books...)...)
	before := s.everything(ids, []string{s.finished("What is the rent?")})
	backup := filepath.Join(t.TempDir(), "backup.tar")
	if got := command(t, "", bucket(storage), "backup", backup, "--data="+s.dir); got.code != 0 ||
		!strings.Contains(got.stdout, "4 originals") || strings.Contains(got.stdout, "not there") {
		t.Fatalf("backup: %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	s.kill()

	plain := newDir(t)
	if got := command(t, "", nil, "restore", backup, "--data="+plain); got.code != 0 ||
		filesBelow(t, filepath.Join(plain, "blobs")) != 4 {
		t.Fatalf("restore to files: %d, %d files\n%s", got.code, filesBelow(t, filepath.Join(plain, "blobs")),
			got.stderr)
	}
	serve(t, plain).mustHave(before)

	other, there := s3test.New(t), newDir(t)
	if got := command(t, "", bucket(other), "restore", backup, "--data="+there); got.code != 0 ||
		!strings.Contains(got.stdout, "s3://originals/footnote") || filesBelow(t, filepath.Join(there, "blobs")) != 0 {
		t.Fatalf("restore to a bucket: %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	serve(t, there, bucket(other)...).mustHave(before)

	shared, third := filepath.Join(t.TempDir(), "shared"), newDir(t)
	if got := command(t, "", []string{"FOOTNOTE_BLOBS=file://" + shared}, "restore", backup,
		"--data="+third); got.code != 0 || filesBelow(t, shared) != 4 {
		t.Fatalf("restore to a shared directory: %d\n%s", got.code, got.stderr)
	}
	serve(t, third, "FOOTNOTE_BLOBS=file://"+shared).mustHave(before)
}

func TestABucketThatIsAwayLeavesNoBackupAndNoHalfRestore(t *testing.T) {
	t.Parallel()
	storage := s3test.New(t)
	s := serve(t, newDir(t), bucket(storage)...)
	s.add(books...)
	s.kill()
	dir := t.TempDir()
	backup := filepath.Join(dir, "backup.tar")
	storage.Fail(s3test.HangUp)
	if got := command(t, "", bucket(storage), "backup", backup, "--data="+s.dir); got.code != 1 ||
		!strings.Contains(lastLine(got.stderr), "The storage of the originals does not answer") {
		t.Errorf("backup without the bucket: %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("it left %v, %v; want no names", names, err)
	}
	storage.Heal()
	if got := command(t, "", bucket(storage), "backup", backup, "--data="+s.dir); got.code != 0 {
		t.Fatalf("backup: %d\n%s", got.code, got.stderr)
	}
	storage.Fail(s3test.HangUp)
	there := newDir(t)
	if got := command(t, "", bucket(storage), "restore", backup, "--data="+there); got.code != 1 ||
		!strings.Contains(lastLine(got.stderr), "The storage of the originals does not answer") {
		t.Errorf("restore without the bucket: %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if _, err := os.Stat(filepath.Join(there, "footnote.db")); err == nil {
		t.Error("the database is there without its originals")
	}
	storage.Heal()
	if got := command(t, "", bucket(storage), "restore", backup, "--data="+there); got.code != 0 {
		t.Errorf("restore once it is back: %d\n%s", got.code, got.stderr)
	}
}

func TestHealthAndDoctorTellOfTheOriginals(t *testing.T) {
	t.Parallel()
	type report struct {
		Status string `json:"status"`
		Checks map[string]struct {
			Status string `json:"status"`
			Detail string `json:"detail"`
		} `json:"checks"`
	}
	health := func(s *server) (int, report) {
		r := s.send("GET", "/health", nil)
		return r.status, loose[report](t, r.body)
	}
	storage := s3test.New(t)
	s := serve(t, newDir(t), append(bucket(storage), "DATABASE_URL="+postgrestest.Shared(t).Schema(t))...)
	if status, r := health(s); status != http.StatusOK || r.Status != "ok" || r.Checks["originals"].Status != "ok" {
		t.Errorf("/health = %d %+v; want %d, Status %q, %q", status, r, http.StatusOK, "ok", "ok")
	}
	calls := storage.Calls()
	for range 20 {
		health(s)
	}
	if n := storage.Calls() - calls; n >= 20 { // each answer is kept for ten seconds
		t.Errorf("20 looks at /health asked the storage %d times, want less than 20", n)
	}
	storage.Fail(s3test.HangUp)
	eventually(t, "/health says that the originals are away", func() bool {
		status, r := health(s)
		return status == http.StatusOK && r.Status == "degraded" && r.Checks["originals"].Status == "failed" &&
			strings.Contains(r.Checks["originals"].Detail, "does not answer")
	})
	if got := command(t, "", bucket(storage), "doctor", "--data="+newDir(t)); got.code != 1 ||
		!strings.Contains(got.stdout, "✕ originals") {
		t.Errorf("doctor while it is away: %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	storage.Heal()
	eventually(t, "/health says that they are back", func() bool {
		_, r := health(s)
		return r.Status == "ok" && r.Checks["originals"].Status == "ok"
	})
	if got := command(t, "", bucket(storage), "doctor", "--data="+newDir(t)); got.code != 0 ||
		!strings.Contains(got.stdout, "✓ originals") || strings.Contains(got.stdout, "endpoint") {
		t.Errorf("doctor: %d\n%s%s", got.code, got.stdout, got.stderr)
	}

	shared := filepath.Join(t.TempDir(), "shared")
	files := serve(t, newDir(t), "FOOTNOTE_BLOBS=file://"+shared)
	if _, r := health(files); r.Checks["originals"].Status != "ok" {
		t.Errorf("/health with a directory = %+v, want %q", r, "ok")
	}
	if err := os.Rename(shared, shared+"-away"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "/health says that the directory is away", func() bool {
		_, r := health(files)
		return r.Status == "degraded" &&
			strings.Contains(r.Checks["originals"].Detail, "directory of the originals is not there")
	})
}

func TestTheDoctorComparesTheDatabaseWithTheOriginals(t *testing.T) {
	t.Parallel()
	data := newDir(t)
	doctor := func(code int, want string) {
		t.Helper()
		got := command(t, "", nil, "doctor", "--data="+data)
		if got.code != code || !strings.Contains(got.stdout, want) {
			t.Errorf("doctor: %d\n%s%s; want %d and %q in it", got.code, got.stdout, got.stderr, code, want)
		}
	}
	if got := command(t, "", nil, "ingest", "--data="+data, folder(t, books[0], books[1])); got.code != 0 {
		t.Fatalf("ingest: %d\n%s%s, want 0", got.code, got.stdout, got.stderr)
	}
	doctor(0, "✓ originals       2 originals, none is missing")

	stray := filepath.Join(data, "blobs", "aa", strings.Repeat("b", 62))
	for _, err := range []error{os.MkdirAll(filepath.Dir(stray), 0o700), os.WriteFile(stray, []byte("x"), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	doctor(0, "1 file that no document needs")

	// the database of a library that is new, with all its tables
	other := newDir(t)
	if got := command(t, "", nil, "doctor", "--data="+other); got.code != 0 {
		t.Fatalf("doctor: %d\n%s%s, want 0", got.code, got.stdout, got.stderr)
	}
	full := filepath.Join(data, "footnote.db")
	if err := os.Rename(full, full+"-full"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(other, "footnote.db"), full); err != nil {
		t.Fatal(err)
	}
	doctor(1, "the database knows no document, though "+filepath.Join(data, "blobs")+" holds 3 originals")

	if err := os.Rename(full+"-full", full); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(data, "blobs")); err != nil {
		t.Fatal(err)
	}
	doctor(1, "2 of 2 originals are missing")
}
