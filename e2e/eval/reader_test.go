package eval_test

import (
	"os"
	"os/exec"
	"testing"
)

// TestLabelsAreRebuilt runs the tests of the programs that collect and read labels.
func TestLabelsAreRebuilt(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no python3")
		}
		t.Skip("no python3")
	}
	tests := exec.CommandContext(t.Context(), python, "-B", "-m", "unittest", "-b", "reader_test")
	tests.Dir = "reader"
	if said, err := tests.CombinedOutput(); err != nil {
		t.Errorf("the tests of e2e/eval/reader: %v\n%s", err, said)
	}
}
