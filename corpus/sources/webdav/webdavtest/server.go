// Package webdavtest serves folders to tests with a real WebDAV server, wsgidav, which "make webdav" installs.
//
// A server in this repository would share the client's misunderstandings of the protocol.
package webdavtest

import (
	"bufio"
	"context"
	_ "embed"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// serve.py prints its port as a line and exits when its input ends.
//
//go:embed serve.py
var serve string

// Serve serves a folder and returns its URL and the server's address. Without wsgidav the test is skipped; in CI it
// fails. The server stops with the test. Tests may call it in parallel; each gets its own server, on loopback and a
// free port.
func Serve(t *testing.T, folder string) (string, net.Addr) {
	t.Helper()
	python := find()
	switch {
	case python == "" && os.Getenv("CI") != "":
		t.Fatal("wsgidav is missing: run make webdav, which needs python3 with venv")
	case python == "":
		t.Skip("no wsgidav: run make webdav, which needs python3 with venv")
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), python, "-c", serve, folder)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // stops the server
		_ = cmd.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("wsgidav did not start: %v", err)
	}
	host := net.JoinHostPort("127.0.0.1", strings.TrimSpace(port))
	at, err := net.ResolveTCPAddr("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + host + "/dav", at
}

// find returns the Python interpreter with wsgidav, in .cache of this repository; empty if not installed. It
// searches the test's directory and its parents.
func find() string {
	dir, err := os.Getwd()
	for err == nil {
		python := filepath.Join(dir, ".cache", "wsgidav", "venv", "bin", "python")
		if _, err := os.Stat(filepath.Join(dir, ".cache", "wsgidav", "ready")); err == nil {
			return python
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	return ""
}
