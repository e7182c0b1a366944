//go:build !linux

package bert

import "errors"

// idleThread fails: threads for idle times are made on Linux only.
func idleThread() error { return errors.ErrUnsupported }
