//go:build !linux

package child

import (
	"os/exec"
	"time"
)

// LimitMemory can't be done here.
func LimitMemory(int, uint64) {}

// LimitFiles can't be done here.
func LimitFiles(int, uint64) {}

// LimitTime can't be done here.
func LimitTime(int, time.Duration) {}

// Apart can't be done here: the command alone ends with its context.
func Apart(*exec.Cmd, bool) {}

// EndGroup can't be done here.
func EndGroup(int) {}

// Offline reports that a command can't be kept from the network here.
func Offline() bool { return false }
