//go:build !linux

package main

import "time"

// dropProgramPages does nothing where the system has no such call.
func dropProgramPages() {}

// processorTime is not asked for where no pages are dropped.
func processorTime() time.Duration { return 0 }
