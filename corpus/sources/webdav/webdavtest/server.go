// Package webdavtest serves folders to tests by a real WebDAV server: wsgidav, which "make webdav" installs.
//
// A server of our own would understand the protocol as our client does, and agree with its mistakes.
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

// serve.py answers with its port in a line, and ends when its input does.
//
//go:embed serve.py
var serve string

// Serve serves a folder and returns its address and that of the server. Without wsgidav the test is skipped; in CI it
// fails. The server ends with the test. It may be called by tests side by side; each has a server of its own, on
// loopback and a free port.
func Serve(t *testing.T, folder string) (string, net.Addr) {
	t.Helper()
	python := find()
	switch {
	case python == "" && os.Getenv("CI") != "":
		t.Fatal("no wsgidav: run make webdav, which needs python3 with venv")
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
		_ = in.Close() // ends it
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

// find is the Python that has wsgidav, in .cache of this repository; empty if there is none. It looks in the folder of
// the test and in each above it.
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
