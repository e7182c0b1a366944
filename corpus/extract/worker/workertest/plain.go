// Package workertest builds and starts workers for tests.
package workertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
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
