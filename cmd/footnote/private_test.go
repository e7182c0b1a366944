//go:build unix

package main_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// open lists the files at or below a path that group or others can access. Links and their targets are skipped.
func open(t *testing.T, path string) (wide []string) {
	t.Helper()
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && entry.Type()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			wide = append(wide, fmt.Sprintf("%s %v", name, info.Mode()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return wide
}

// loosely runs the program with a umask of 0.
func loosely(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", `umask 000; exec "$0" "$@"`, binary}, args...)...)
	cmd.Env, cmd.Dir = environment(nil), t.TempDir()
	return cmd
}

func TestDataFilesArePrivateWithAnyUmask(t *testing.T) {
	t.Parallel()
	place := t.TempDir()
	data := filepath.Join(place, "data")
	shareCompiled(t, data)
	if out, err := loosely(t, "key", "new", "anna", "--data="+data).CombinedOutput(); err != nil {
		t.Fatalf("key new: %v\n%s", err, out)
	}
	key := newKey(t, data, "bert")
	s := launch(t, loosely(t, "serve", "--addr=127.0.0.1:0", "--data="+data), data)
	s.key = key
	s.add(file{"plan.pdf", pdfOf("The plan of the weir is drawn by Ada Brown.")}, books[1])
	s.finished("Who drew the plan of the weir?")
	backup := filepath.Join(place, "backup.tar")
	if out, err := loosely(t, "backup", backup, "--data="+data).CombinedOutput(); err != nil {
		t.Fatalf("backup: %v\n%s", err, out)
	}
	restored := filepath.Join(place, "restored")
	if out, err := loosely(t, "restore", backup, "--data="+restored).CombinedOutput(); err != nil {
		t.Fatalf("restore: %v\n%s", err, out)
	}
	for _, path := range []string{data, restored, backup} {
		if wide := open(t, path); len(wide) > 0 {
			t.Errorf("files readable by other users:\n%s", strings.Join(wide, "\n"))
		}
	}
	s.end(os.Interrupt)

	err := filepath.WalkDir(data, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || entry.Type()&fs.ModeSymlink != 0:
			return err
		case entry.IsDir():
			return os.Chmod(name, 0o755)
		}
		return os.Chmod(name, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	keyFile := filepath.Join(place, "keys")
	if err := os.Rename(filepath.Join(data, "keys"), keyFile); err != nil {
		t.Fatal(err)
	}
	serve(t, data, "FOOTNOTE_KEYS="+keyFile)
	for _, path := range []string{data, keyFile} {
		if wide := open(t, path); len(wide) > 0 {
			t.Errorf("files readable by other users after a restart:\n%s", strings.Join(wide, "\n"))
		}
	}
}

func TestEmptyDatabaseWithOriginalsIsDamaged(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	s := serve(t, dir)
	s.add(books[1])
	backup := filepath.Join(t.TempDir(), "backup.tar")
	if got := command(t, "", nil, "backup", backup, "--data="+dir); got.code != 0 {
		t.Fatalf("backup: %s", got.stderr)
	}
	if r := s.send("GET", "/health", nil); r.status != 200 ||
		!strings.Contains(r.body, `"database file":{"status":"ok"`) {
		t.Errorf("/health: %d %s; want 200 and %q in it", r.status, r.body, `"database file":{"status":"ok"`)
	}
	database := filepath.Join(dir, "footnote.db")
	if err := os.Truncate(database, 0); err != nil {
		t.Fatal(err)
	}
	if r := s.send("GET", "/health", nil); r.status != 503 || !strings.Contains(r.body, "damaged") ||
		!strings.Contains(r.body, "restore a backup") {
		t.Errorf("/health with an emptied database: %d %s; want 503, %q in it, %q in it",
			r.status, r.body, "damaged", "restore a backup")
	}
	s.kill()
	for how, spoil := range map[string]func() error{
		"emptied": func() error { return os.WriteFile(database, nil, 0o600) },
		"removed": func() error { return os.RemoveAll(database) },
	} {
		for _, name := range []string{database + "-wal", database + "-shm"} {
			if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"serve", "doctor"} {
			got := command(t, "", nil, name, "--data="+dir, "--addr=127.0.0.1:0")
			if text := got.stdout + got.stderr; got.code != 1 || !strings.Contains(text, "damaged") ||
				!strings.Contains(text, "footnote restore FILE --force") ||
				!strings.Contains(text, filepath.Join(dir, "blobs")) {
				t.Errorf("%s with a database that was %s: exit code = %d, want 1\n%s", name, how, got.code, text)
			}
		}
	}
	if got := command(t, "", nil, "restore", backup, "--force", "--data="+dir); got.code != 0 {
		t.Fatalf("restore: %s", got.stderr)
	}
	back := serve(t, dir)
	if r := back.send("GET", "/documents", nil); !strings.Contains(r.body, books[1].name) {
		t.Errorf("after the restore: %s, want %q in it", r.body, books[1].name)
	}
}
