package office_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/office"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
	"github.com/footnote/footnote/sql/librarytest"
	"github.com/footnote/footnote/sql/sqlite"
)

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	workertest.BeWorker()
	os.Exit(m.Run())
}

// needOffice skips a test where LibreOffice is not installed; in CI it must be.
func needOffice(t testing.TB) {
	t.Helper()
	if _, err := office.Program(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no LibreOffice: make soffice installs it")
	}
}

// newOffice returns a LibreOffice that may be confined here.
func newOffice(t testing.TB) *office.LibreOffice {
	t.Helper()
	o, err := office.New()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// openLibrary opens a library that draws Office files, and has read those that are given by their paths.
func openLibrary(t *testing.T, paths ...string) (*librarytest.Library, []corpus.Document) {
	t.Helper()
	pool := workertest.Open(t, worker.Config{})
	l := librarytest.Open(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) {
		c.Extractor, c.Renderer, c.Office = pool, pool, newOffice(t)
	})
	l.Start(t)
	var added []corpus.Document
	for _, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		added = append(added, l.Put(t, filepath.Base(path), string(body)))
	}
	l.WaitRead(t)
	for i, d := range added {
		read, err := l.Document(t.Context(), chat.Local, d.ID)
		if err != nil || read.State != corpus.StateReady {
			t.Fatalf("%s: %+v, %v", d.Filename, read.Error, err)
		}
		added[i] = read
	}
	return l, added
}

// converted has LibreOffice make files of another, one for each ending.
func converted(t *testing.T, from, filter string, endings ...string) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for _, ending := range endings {
		args := []string{"-env:UserInstallation=file://" + filepath.Join(dir, "profile"), "--headless"}
		if filter != "" {
			args = append(args, "--infilter="+filter)
		}
		args = append(args, "--convert-to", ending, "--outdir", dir, from)
		out, err := exec.CommandContext(t.Context(), "soffice", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("soffice: %v\n%s", err, out)
		}
		name := strings.TrimSuffix(filepath.Base(from), filepath.Ext(from)) + "." + ending
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}
