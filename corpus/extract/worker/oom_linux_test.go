package worker_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/footnote/footnote/corpus/extract/worker"
)

func TestWorkerOutOfMemoryIsNotFileError(t *testing.T) {
	stat := filepath.Join(t.TempDir(), "vmstat")
	if err := os.WriteFile(stat, []byte("nr_free_pages 1\noom_kill 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	worker.ReadVMStat(t, stat)
	reader := scripted(t, "echo oom_kill 8 > "+stat+"; kill -KILL $$")
	_, err := reader.Extract(t.Context(), file(t, "a.md", "# One"), nil)
	wantNotStarted(t, err)
}
