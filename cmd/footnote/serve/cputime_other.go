//go:build !unix

package serve

import "time"

// processorTime is unsupported here: memory is returned only once, after the start.
func processorTime() time.Duration { return 0 }
