package main

import "testing"

func TestMemoryIsGivenBackOnceACrowdHasLeft(t *testing.T) {
	var c crowdCount
	for i, step := range []struct {
		goroutines int
		left       bool
	}{
		{20, false}, {20_020, false}, {12_000, false}, {4_000, true}, {3_990, false}, {30, true}, {30, false}, // leaving in two waves
		{1_500, false}, {30, false}, // not a crowd
		{2_500, false}, {40, true},
	} {
		if got := c.left(step.goroutines); got != step.left {
			t.Errorf("count %d, %d goroutines: left = %v, want %v", i, step.goroutines, got, step.left)
		}
	}
}

func TestTheCollectorLeavesABusyServerRoomAndAFullOneNone(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		heap, roots uint64
		percent     int
	}{
		{4 * mib, 2 * mib, gcPercent}, {23 * mib, 40 * mib, gcPercent}, // at rest
		{24 * mib, 2 * mib, maxGCPercent}, {40 * mib, 10 * mib, 128}, {60 * mib, 20 * mib, 80}, // busy
		{128 * mib, 20 * mib, minGCPercent}, {4096 * mib, 0, minGCPercent}, // full
	} {
		if got := gcPercentFor(tt.heap, tt.roots); got != tt.percent {
			t.Errorf("GOGC for %d MiB of heap and %d of roots = %d, want %d", tt.heap/mib, tt.roots/mib, got, tt.percent)
		}
	}
}
