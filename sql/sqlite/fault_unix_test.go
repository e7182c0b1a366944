//go:build linux || darwin

package sqlite

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// faultEnv marks the process whose files may not grow: the limit holds for a whole process, so it gets one of its own.
const faultEnv = "FOOTNOTE_TEST_FILE_LIMIT"

func TestEveryFailedWriteOfAFileIsCleanAndHeals(t *testing.T) {
	t.Parallel()
	if os.Getenv(faultEnv) == "" {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
		child.Env = append(os.Environ(), faultEnv+"=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ) // a write beyond the limit then fails with EFBIG
	var unlimited syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &unlimited); err != nil {
		t.Fatal(err)
	}
	limit := func(bytes uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{
			Cur: min(bytes, unlimited.Max), Max: unlimited.Max,
		}); err != nil {
			t.Fatal(err)
		}
	}
	const frame = 4096 + 24 // what one page takes in the log
	n := 0
	for failAt(t, func(db *DB) { checkpointOften(t, db); limit(uint64(n) * frame) },
		func(*DB) { limit(unlimited.Cur) }) {
		n++
	}
	if n < 10 {
		t.Errorf("only %d limits made a write fail, want at least 10", n)
	}
	t.Logf("%d limits made a write fail", n)
}

// checkpointOften empties the log every few pages, so that writes to the database file fail too.
func checkpointOften(t *testing.T, db *DB) {
	t.Helper()
	if err := db.writeTx(t.Context(), false, func(tx *tx) error {
		_, err := tx.conn.ExecContext(tx.ctx, `PRAGMA wal_autocheckpoint=10`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
