// Package workertest builds and starts workers for tests.
package workertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/footnote/footnote/corpus/extract/files"
	"github.com/footnote/footnote/corpus/extract/worker"
)

// PlainName is the name of the program that Plain builds.
const PlainName = "plainworker"

// Plain builds the test binary of the calling package without the race detector, which takes several times the
// memory and the time. It returns the path of the program, which can serve as a worker if the test calls BeWorker.
func Plain(t testing.TB) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), PlainName)
	build := exec.CommandContext(t.Context(), "go", "test", "-buildvcs=false", "-vet=off", "-c", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	return binary
}

// command is the argument that starts a test binary as a worker: see BeWorker.
const command = "extract-worker"

// BeWorker lets a test binary be its own worker. If it was started as one, it reads files until its input ends, and
// then exits. A TestMain calls it first.
func BeWorker() {
	if len(os.Args) < 2 || os.Args[1] != command {
		return
	}
	if err := files.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// compiled returns the shared cache directory of compiled PDFium code. It is outside the test's directory and stays
// for the next run, so that PDFium is compiled once.
func compiled() string { return filepath.Join(os.TempDir(), "footnote-test-wasm") }

// Command returns the command that starts a program, the test binary of a package that calls BeWorker, as a worker.
func Command(program string) []string { return []string{program, command} }

// Open returns a Pool that is closed when the test ends. The defaults are the test's own binary as worker and the
// shared cache directory. It fails the test if a worker can't be ended.
func Open(t testing.TB, cfg worker.Config) *worker.Pool {
	t.Helper()
	if cfg.Command == nil {
		cfg.Command = Command(os.Args[0])
	}
	if cfg.CacheDir == "" {
		cfg.CacheDir = compiled()
	}
	pool, err := worker.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return pool
}
