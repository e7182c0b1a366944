package sqlite

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childEnv holds the database's path in a process that TestKilledProcessKeepsWhatItAcknowledged started.
const childEnv = "FOOTNOTE_TEST_APPEND_TO"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		appendForEver(path)
	}
	goleak.VerifyTestMain(m)
}
