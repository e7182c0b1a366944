//go:build !linux

package bert

import "errors"

// yieldThread returns an error: low-priority threads are supported only on Linux.
func yieldThread() error { return errors.ErrUnsupported }
