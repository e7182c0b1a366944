package release

import (
	"os"
	"os/exec"
	"testing"
)

// TestPackages runs the tests of pack.py.
func TestPackages(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("python3 is missing")
		}
		t.Skip("no python3")
	}
	for _, name := range []string{"pack.py", "pack_test.py", "bundle.json"} { // for the cache of go test
		if _, err := os.Stat(name); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := exec.CommandContext(t.Context(), python, "-B", "-m", "unittest", "-b", "pack_test").
		CombinedOutput(); err != nil {
		t.Errorf("pack_test.py: %v\n%s", err, said)
	}
}
