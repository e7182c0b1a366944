//go:build !linux

package child

import (
	"errors"
	"os/exec"
)

// Programs returns nothing here, as nothing is confined.
func Programs(string) []string { return nil }

// Confine can't be done here: the command alone ends with its context.
func Confine(*exec.Cmd, Bounds) {}

// Refused returns an error: no program can be confined on this system.
func Refused() error { return errors.New("programs are confined on Linux only") }
