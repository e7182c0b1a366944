//go:build !unix

package postgrestest

import (
	"fmt"
	"syscall"
)

func unprivileged(string) (*syscall.SysProcAttr, error) {
	return nil, fmt.Errorf("tests start PostgreSQL by themselves on Unix only; set %s", urlEnv)
}
