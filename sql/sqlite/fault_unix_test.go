//go:build linux || darwin

package sqlite

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// faultEnv is the environment variable that marks the process with limited file sizes. The limit applies to a whole
// process, so the test starts a separate one.
const faultEnv = "FOOTNOTE_TEST_FILE_LIMIT"

func TestFailedFileWritesRecover(t *testing.T) {
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
	const frame = 4096 + 24 // size of one page in the log
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

// checkpointOften makes SQLite checkpoint the log every few pages, so that writes to the database file fail too.
func checkpointOften(t *testing.T, db *DB) {
	t.Helper()
	if err := db.writeTx(t.Context(), false, func(tx *tx) error {
		_, err := tx.conn.ExecContext(tx.ctx, `PRAGMA wal_autocheckpoint=10`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
