package blobs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
)

func openNew(t *testing.T, dir string) corpus.Blobs {
	t.Helper()
	bs, err := Open(dir)
	if err != nil {
		t.Fatalf("Open(%q): %v, want no error", dir, err)
	}
	return bs
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	corpustest.TestBlobs(t, func(t *testing.T) corpus.Blobs {
		return openNew(t, filepath.Join(t.TempDir(), "data", "blobs"))
	})
}

// files returns all files below a directory.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestOpenedBlobHasPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bs := openNew(t, dir)
	hash, _, err := bs.Put(t.Context(), strings.NewReader("bytes"), 10)
	if err != nil {
		t.Fatal(err)
	}
	f, err := bs.Open(t.Context(), hash)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	named, ok := f.(interface{ Name() string })
	if !ok {
		t.Fatalf("%T lacks a name", f)
	}
	if got, want := named.Name(), filepath.Join(dir, hash[:2], hash[2:]); got != want {
		t.Errorf("Name = %q, want %q", got, want)
	}
	if body, err := os.ReadFile(named.Name()); err != nil || string(body) != "bytes" {
		t.Errorf("ReadFile = %q, %v; want %q", body, err, "bytes")
	}
}

func TestRejectedBlobLeavesNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bs := openNew(t, dir)
	if _, _, err := bs.Put(t.Context(), bytes.NewReader(make([]byte, 100)), 99); err == nil {
		t.Error("Put of 100 bytes with a limit of 99: got no error, want one")
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("files left: %q, want none", left)
	}
}

func TestOpenRemovesFilesOfCrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	openNew(t, dir)
	old, fresh := filepath.Join(dir, incoming, "old"), filepath.Join(dir, incoming, "fresh")
	for _, name := range []string{old, fresh} {
		if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Now().Add(-2 * abandonedAfter)
	if err := os.Chtimes(old, before, before); err != nil {
		t.Fatal(err)
	}
	openNew(t, dir)
	if left := files(t, dir); len(left) != 1 || left[0] != fresh {
		t.Errorf("files left: %q, want %q", left, fresh)
	}
}

func TestFullDiskIsReported(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if os.IsNotExist(err) {
		t.Log("this system has no /dev/full: nothing to see")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	if _, _, err := Write(t.Context(), full, strings.NewReader("bytes"), 10); err == nil ||
		chat.CodeOf(err) != chat.CodeDiskFull {
		t.Errorf("Write: %v, want code %s", err, chat.CodeDiskFull)
	}
}
