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

// Plain builds the test of the package that calls it without the race detector, which takes several times the memory
// and the time, and returns the program's path. It is a worker if that test's binary can be one.
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

// command is what makes a test's binary a worker: see BeWorker.
const command = "extract-worker"

// BeWorker lets the binary of a test be its own worker: if it was started as one, it reads files until its input ends,
// and then ends the program. A TestMain calls it first.
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

// compiled is where all tests find PDFium compiled: outside the test's own directory, so that it is done once. It stays
// on the machine for the next run.
func compiled() string { return filepath.Join(os.TempDir(), "footnote-test-wasm") }

// Command starts a program, the binary of a test that calls BeWorker, as a worker.
func Command(program string) []string { return []string{program, command} }

// Open starts workers that are closed when the test ends: of the test's own binary, and with PDFium in compiled, where
// cfg doesn't say otherwise. It fails the test if a worker can't be ended.
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
