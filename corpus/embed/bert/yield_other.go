//go:build !linux

package bert

import "errors"

// yieldThread fails: threads that give way are made on Linux only.
func yieldThread() error { return errors.ErrUnsupported }
