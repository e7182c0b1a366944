package office_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestRenderKillsChildren replaces LibreOffice with a program that starts a child process and exits first. The child
// must be killed when the file is rendered. It keeps a pipe open while it runs.
func TestRenderKillsChildren(t *testing.T) {
	dir := t.TempDir()
	alive := filepath.Join(dir, "alive")
	if err := unix.Mkfifo(alive, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(alive, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	script := "#!/bin/sh\nexec 3>" + alive + "\nsleep 300 >/dev/null 2>&1 &\necho %PDF- >file.pdf\n"
	if err := os.WriteFile(filepath.Join(dir, "soffice"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if err := newOffice(t).PDF(t.Context(), wordFile(t, "", ""), filepath.Join(dir, "drawn.pdf")); err != nil {
		t.Fatalf("PDF: %v", err)
	}
	if err := pipe.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if left, err := io.ReadAll(pipe); err != nil || len(left) > 0 {
		t.Errorf("child process still runs: %q, %v", left, err)
	}
}
