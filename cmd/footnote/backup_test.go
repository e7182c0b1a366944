package main_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/blobs/s3/s3test"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// kept is a snapshot of a library, which must be the same after a migration or restore.
type kept struct {
	documents map[string]string // text by id
	originals map[string]string // by document id
	runs      map[string][]event
	citations map[string]bool // by URL: whether the quote is marked there, not only reported as changed
}

// everything reads documents and finished runs from a server.
func (s *server) everything(ids, runs []string) kept {
	s.t.Helper()
	k := kept{map[string]string{}, map[string]string{}, map[string][]event{}, map[string]bool{}}
	for _, id := range ids {
		text, original := s.send("GET", "/documents/"+id+"/text", nil), s.send("GET", "/documents/"+id+"/file", nil)
		if text.status != http.StatusOK || original.status != http.StatusOK {
			s.t.Fatalf("document %s: text %d %.200s, original %d %.200s", id, text.status, text.body, original.status,
				original.body)
		}
		k.documents[id], k.originals[id] = text.body, original.body
	}
	for _, run := range runs {
		log := s.follow(run)
		k.runs[run] = log.raw
		for _, c := range log.citations {
			r := s.send("GET", c.URL, nil)
			if r.status != http.StatusOK {
				s.t.Fatalf("citation %d of %s: %d %.200s", c.Number, run, r.status, r.body)
			}
			k.citations[c.URL] = strings.Contains(r.body, "<mark")
		}
	}
	return k
}

// finished sends a question, waits for the run's end and returns its id.
func (s *server) finished(question string) string {
	s.t.Helper()
	run := s.begin(question)
	s.follow(run.RunID)
	return run.RunID
}

// mustHave fails unless a server has all of k, byte for byte, and each stream can be resumed at any event.
func (s *server) mustHave(k kept) {
	s.t.Helper()
	for id, text := range k.documents {
		if r := s.send("GET", "/documents/"+id+"/text", nil); r.status != http.StatusOK || r.body != text {
			s.t.Errorf("text of %s: %d %.200s", id, r.status, r.body)
		}
		if r := s.send("GET", "/documents/"+id+"/file", nil); r.status != http.StatusOK || r.body != k.originals[id] {
			s.t.Errorf("original of %s: %d %.200s", id, r.status, r.body)
		}
	}
	for run, raw := range k.runs {
		for after := range raw {
			st, err := s.open("GET", fmt.Sprintf("/agent/runs/%s/events?after=%d", run, after), nil)
			if err != nil {
				s.t.Fatal(err)
			}
			rest, _ := st.rest() // it ends with the run
			st.close()
			if !slices.Equal(rest, raw[after:]) {
				s.t.Errorf("run %s after %d: %d events, want %d, the same", run, after, len(rest), len(raw)-after)
			}
		}
	}
	for url, marked := range k.citations {
		if r := s.send("GET", url, nil); r.status != http.StatusOK || strings.Contains(r.body, "<mark") != marked {
			s.t.Errorf("the citation %s opens as %d, marked %v before: %.300s", url, r.status, marked, r.body)
		}
	}
}

func lampChapter(n int) file {
	return file{
		fmt.Sprintf("chapter-%03d.md", n),
		fmt.Sprintf("# Chapter %d\n\nThe lamp number %d burns with a steady flame above the harbour.\n\n## "+
			"Keeper\n\nIts keeper counts %d ships a year.\n", n, n, 100+n),
	}
}

func TestBackupOfBusyServerIsComplete(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	ids := s.add(books...)
	var runs []string
	for _, question := range []string{"What is the condition of the roof?", "What is the rent?"} {
		runs = append(runs, s.finished(question))
	}
	before := s.everything(ids, runs)
	stop := make(chan struct{})
	var busy sync.WaitGroup
	var begun []string // runs, guarded by the WaitGroup
	work := func(do func(n int) error) {
		busy.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := do(n); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work(func(n int) error {
		body, contentType := form(t, lampChapter(n))
		r, err := s.try("POST", "/documents", body, header{"Content-Type", contentType})
		if err == nil && r.status != http.StatusAccepted {
			err = fmt.Errorf("upload: %d %s", r.status, r.body)
		}
		return err
	})
	work(func(int) error {
		r, err := s.try("POST", "/chat", ask("Who counts the ships?"))
		if err != nil || r.status != http.StatusAccepted {
			return fmt.Errorf("question: %w %d %s", err, r.status, r.body)
		}
		begun = append(begun, loose[started](t, r.body).RunID)
		return nil
	})
	dir := t.TempDir()
	var backup string
	for i := range 3 {
		backup = filepath.Join(dir, fmt.Sprintf("backup-%d.tar", i))
		if got := command(t, "", nil, "backup", backup, "--data="+s.dir); got.code != 0 ||
			!strings.Contains(got.stdout, "originals") {
			t.Fatalf("backup: %d\n%s%s", got.code, got.stdout, got.stderr)
		}
	}
	close(stop)
	busy.Wait()
	if names, err := os.ReadDir(dir); err != nil || len(names) != 3 {
		t.Errorf("beside the backups there is more: %v %v, want 3 names", names, err)
	}
	s.kill()

	restored := newDir(t)
	if got := command(t, "", nil, "restore", backup, "--data="+restored); got.code != 0 {
		t.Fatalf("restore: %d\n%s", got.code, got.stderr)
	}
	again := serve(t, restored)
	again.mustHave(before)
	var list struct {
		Documents []documentState `json:"documents"`
	}
	eventually(t, "each document of the backup is ready", func() bool {
		list = loose[struct {
			Documents []documentState `json:"documents"`
		}](t, again.send("GET", "/documents?limit=1000", nil).body)
		return !slices.ContainsFunc(list.Documents, func(d documentState) bool { return d.State != "ready" })
	})
	for _, d := range list.Documents {
		again.everything([]string{d.ID}, nil)
	}
	came := 0
	for _, run := range begun {
		if again.send("GET", "/agent/runs/"+run, nil).status == http.StatusOK {
			came++
			again.follow(run) // each must end
		}
	}
	if len(list.Documents) <= len(books) || came == 0 {
		t.Errorf("backup has %d documents, %d of %d runs; want more than %d documents and at least 1 run",
			len(list.Documents), came, len(begun), len(books))
	}
	if log := again.run("What is the rent?"); log.done.Status != chat.RunCompleted ||
		!strings.Contains(log.answer.Markdown, "900 pounds") {
		t.Errorf("a new question ended as %+v, want Status %v", log.done, chat.RunCompleted)
	}
}

// heavy creates a data directory whose backup takes a moment: its files are rejected as documents, but their
// originals stay.
func heavy(t *testing.T) *server {
	t.Helper()
	s := serve(t, newDir(t))
	s.add(books...)
	for i := range 3 {
		r := s.upload(file{
			fmt.Sprintf("scan-%d.pdf", i), "%PDF-1.7\n" + strings.Repeat(fmt.Sprintf("nothing %d ", i), 1<<20),
		})
		if r.status != http.StatusAccepted {
			t.Fatalf("upload: %d %s, want %d", r.status, r.body, http.StatusAccepted)
		}
		s.settled(decode[uploadAnswer](t, r.body).Documents[0].ID)
	}
	return s
}

func TestKilledBackupLeavesNoFile(t *testing.T) {
	t.Parallel()
	s := heavy(t)
	dir := t.TempDir()
	name := filepath.Join(dir, "backup.tar")
	for _, sign := range []string{name + ".partial", name + ".snapshot", "half"} {
		cmd := exec.Command(binary, "backup", name, "--data="+s.dir, "--force")
		cmd.Env = environment(nil)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		over := false
		eventually(t, "the backup is under way", func() bool {
			select {
			case <-ended:
				over = true
			default:
			}
			if sign == "half" {
				info, err := os.Stat(name + ".partial")
				return over || err == nil && info.Size() > 10<<20
			}
			_, err := os.Stat(sign)
			return over || err == nil
		})
		_ = cmd.Process.Kill() // it may have ended
		if !over {
			<-ended
		}
		if _, err := os.Stat(name); err == nil {
			restores(t, name) // it was complete before the kill
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := command(t, "", nil, "backup", name, "--data="+s.dir); got.code != 0 {
		t.Fatalf("after the kills: %d %s, want 0", got.code, got.stderr)
	}
	restores(t, name)
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("files after the killed backups = %v %v, want 1 name", names, err)
	}
}

// restores fails unless a backup can be restored.
func restores(t *testing.T, backup string) {
	t.Helper()
	if got := command(t, "", nil, "restore", backup, "--data="+newDir(t)); got.code != 0 {
		t.Errorf("restore: %d %s, want 0", got.code, got.stderr)
	}
}

func TestDamagedBackupIsRejected(t *testing.T) {
	t.Parallel()
	s := heavy(t)
	dir := t.TempDir()
	good := filepath.Join(dir, "good.tar")
	if got := command(t, "", nil, "backup", good, "--data="+s.dir); got.code != 0 {
		t.Fatal(got.stderr)
	}
	raw, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	flip := func(at int) []byte {
		bad := bytes.Clone(raw)
		bad[at] ^= 0x10
		return bad
	}
	n := len(raw)
	for _, row := range []struct {
		name, says string
		bytes      []byte
	}{
		{"empty", "is not a backup", nil},
		{"no tar", "is not a backup", []byte(strings.Repeat("hello ", 1000))},
		{"cut in the database", "is incomplete", raw[:8000]},
		{"cut in the middle", "is incomplete", raw[:n/2]},
		{"cut at the border of a block", "is incomplete", raw[:n/2/512*512]},
		{"cut before its list", "is incomplete", raw[:bytes.Index(raw, []byte("contents.json"))]},
		{"cut in its list", "is incomplete", raw[:bytes.Index(raw, []byte("contents.json"))+600]},
		{"a bit of the database", "is damaged", flip(9000)},
		{"a bit of an original", "is damaged", flip(n / 2)},
		{"a bit of a name", "is damaged", flip(1024 + 3)},
		{"a file of another name", "unexpected file",
			bytes.Replace(raw, []byte("footnote.db"), []byte("../../evil."), 1)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if row.name == "a file of another name" {
				checksum(row.bytes[1024:1536])
			}
			bad, data := filepath.Join(t.TempDir(), "bad.tar"), newDir(t)
			if err := os.WriteFile(bad, row.bytes, 0o600); err != nil {
				t.Fatal(err)
			}
			got := command(t, "", nil, "restore", bad, "--data="+data)
			if got.code != 1 || !strings.Contains(got.stderr, row.says) ||
				strings.Count(strings.TrimSpace(lastLine(got.stderr)), "\n") > 0 {
				t.Errorf("restore: %d\n%s", got.code, got.stderr)
			}
			entries, err := os.ReadDir(data)
			if err != nil ||
				slices.ContainsFunc(entries, func(e os.DirEntry) bool {
					return e.Name() != "lock" && e.Name() != "cache"
				}) {
				t.Errorf("restore left %v, %v, want nothing", entries, err)
			}
		})
	}
}

// checksum recomputes a tar header's checksum.
func checksum(block []byte) {
	copy(block[148:156], "        ")
	sum := 0
	for _, b := range block {
		sum += int(b)
	}
	copy(block[148:156], fmt.Sprintf("%06o\x00 ", sum))
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

func TestBackupOnFullDiskFailsCleanly(t *testing.T) {
	t.Parallel()
	s := heavy(t)
	// Of 512 bytes: empty, in the database, in the originals.
	for _, blocks := range []string{"0", "64", "4096"} {
		dir := t.TempDir()
		cmd := exec.Command("/bin/sh", "-c", `ulimit -f "$1"; shift; exec "$@"`, "sh", blocks, binary, "backup",
			filepath.Join(dir, "backup.tar"), "--data="+s.dir)
		cmd.Env = environment(nil)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "the disk is full") {
			t.Errorf("with room for %s blocks: got %v %s, want a full disk", blocks, err, out)
		}
		if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
			t.Errorf("with room for %s blocks it left %v, %v; want no names", blocks, names, err)
		}
	}
	if s.search("slates").TotalResults == 0 {
		t.Error("server does not respond")
	}
}

// bucket returns the settings that store originals in a bucket.
func bucket(storage *s3test.Storage) []string {
	return append(s3test.Env(), "FOOTNOTE_BLOBS="+storage.URL)
}

// filesBelow counts the files below a directory.
func filesBelow(t *testing.T, dir string) (n int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

func TestBackupIncludesOriginalsOfBucket(t *testing.T) {
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
		t.Fatalf("restore to files: got %d, %d files\n%s", got.code, filesBelow(t, filepath.Join(plain, "blobs")),
			got.stderr)
	}
	serve(t, plain).mustHave(before)

	other, there := s3test.New(t), newDir(t)
	if got := command(t, "", bucket(other), "restore", backup, "--data="+there); got.code != 0 ||
		!strings.Contains(got.stdout, "s3://originals/footnote") || filesBelow(t, filepath.Join(there, "blobs")) != 0 {
		t.Fatalf("restore to a bucket: got %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	serve(t, there, bucket(other)...).mustHave(before)

	shared, third := filepath.Join(t.TempDir(), "shared"), newDir(t)
	if got := command(t, "", []string{"FOOTNOTE_BLOBS=file://" + shared}, "restore", backup,
		"--data="+third); got.code != 0 || filesBelow(t, shared) != 4 {
		t.Fatalf("restore to a shared directory: got %d\n%s", got.code, got.stderr)
	}
	serve(t, third, "FOOTNOTE_BLOBS=file://"+shared).mustHave(before)
}

func TestUnreachableBucketLeavesNoPartialBackupOrRestore(t *testing.T) {
	t.Parallel()
	storage := s3test.New(t)
	s := serve(t, newDir(t), bucket(storage)...)
	s.add(books...)
	s.kill()
	dir := t.TempDir()
	backup := filepath.Join(dir, "backup.tar")
	storage.Fail(s3test.HangUp)
	if got := command(t, "", bucket(storage), "backup", backup, "--data="+s.dir); got.code != 1 ||
		!strings.Contains(lastLine(got.stderr), "The storage for original files is not responding") {
		t.Errorf("backup without the bucket: got %d, want 1\n%s%s", got.code, got.stdout, got.stderr)
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
		!strings.Contains(lastLine(got.stderr), "The storage for original files is not responding") {
		t.Errorf("restore without the bucket: got %d, want 1\n%s%s", got.code, got.stdout, got.stderr)
	}
	if _, err := os.Stat(filepath.Join(there, "footnote.db")); err == nil {
		t.Error("database exists without its originals")
	}
	storage.Heal()
	if got := command(t, "", bucket(storage), "restore", backup, "--data="+there); got.code != 0 {
		t.Errorf("restore after the outage: got %d\n%s", got.code, got.stderr)
	}
}

func TestHealthAndDoctorReportOriginals(t *testing.T) {
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
	if n := storage.Calls() - calls; n >= 20 { // each result is cached for ten seconds
		t.Errorf("20 looks at /health asked the storage %d times, want less than 20", n)
	}
	storage.Fail(s3test.HangUp)
	eventually(t, "/health says that the originals are away", func() bool {
		status, r := health(s)
		return status == http.StatusOK && r.Status == "degraded" && r.Checks["originals"].Status == "failed" &&
			strings.Contains(r.Checks["originals"].Detail, "is not responding")
	})
	if got := command(t, "", bucket(storage), "doctor", "--data="+newDir(t)); got.code != 1 ||
		!strings.Contains(got.stdout, "✕ originals") {
		t.Errorf("doctor during the outage: got %d, want 1\n%s%s", got.code, got.stdout, got.stderr)
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
			strings.Contains(r.Checks["originals"].Detail, "directory for original files was not found")
	})
}

func TestDoctorComparesDatabaseWithOriginals(t *testing.T) {
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
	doctor(0, "✓ originals       2 originals, none missing")

	stray := filepath.Join(data, "blobs", "aa", strings.Repeat("b", 62))
	for _, err := range []error{os.MkdirAll(filepath.Dir(stray), 0o700), os.WriteFile(stray, []byte("x"), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	doctor(0, "1 unreferenced file")

	// The database of a new library, with all its tables.
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
	doctor(1, "the database has no documents, but "+filepath.Join(data, "blobs")+" contains 3 originals")

	if err := os.Rename(full+"-full", full); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(data, "blobs")); err != nil {
		t.Fatal(err)
	}
	doctor(1, "2 of 2 originals are missing")
}

func TestRestoreRequiresConfirmation(t *testing.T) {
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
		t.Error("document added after the backup is still found")
	}
	if aside, err := filepath.Glob(filepath.Join(s.dir, "before-restore-*", "footnote.db")); err != nil ||
		len(aside) != 1 {
		t.Errorf("previous data = %v %v, want 1 copy put aside", aside, err)
	}
	if got := command(t, "", nil, "backup", filepath.Join(t.TempDir(), "x.tar"),
		"--data="+t.TempDir()); got.code != 1 || !strings.Contains(got.stderr, "No database found at") {
		t.Errorf("a backup of nothing: %d %s; want 1 and %q in it", got.code, got.stderr, "No database found at")
	}
}
