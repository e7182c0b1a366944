//go:build !linux

package child

import (
	"errors"
	"os/exec"
)

// Programs returns nil, because this system has no confinement.
func Programs(string) []string { return nil }

// Confine does nothing on this system. Only the command itself ends with its context.
func Confine(*exec.Cmd, Bounds) {}

// Refused returns an error: this system has no confinement.
func Refused() error { return errors.New("programs are sandboxed on Linux only") }
