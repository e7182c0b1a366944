package serve

import (
	"testing"
	"time"
)

func TestMemoryIsReleasedAfterLoad(t *testing.T) {
	var c peakDetector
	for i, step := range []struct {
		goroutines int
		left       bool
	}{
		// Leaving in two waves.
		{20, false}, {20_020, false}, {12_000, false}, {4_000, true}, {3_990, false}, {30, true}, {30, false},
		{1_500, false}, {30, false}, // not a crowd
		{2_500, false}, {40, true},
	} {
		if got := c.hasDropped(step.goroutines); got != step.left {
			t.Errorf("count %d, %d goroutines: left = %v, want %v", i, step.goroutines, got, step.left)
		}
	}
}

func TestMemoryIsReleasedWhenIdle(t *testing.T) {
	r, used := idleDetector{worked: true}, time.Duration(0)
	for i, step := range []struct {
		work  time.Duration // since the last count
		begun bool
	}{
		{0, false}, {time.Millisecond, false}, {0, true}, // the start is work
		{0, false}, {workShare - 1, false}, {0, false}, {0, false}, // still idle
		// One page, and another.
		{workShare, false}, {0, false}, {0, false}, {time.Second, false}, {0, false}, {0, false}, {0, true}, {0, false},
	} {
		used += step.work
		if got := r.becameIdle(used); got != step.begun {
			t.Errorf("count %d, %s of work: begun = %v, want %v", i, step.work, got, step.begun)
		}
	}
}

func TestCollectorAdaptsToMemoryPressure(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		heap, roots, scanned uint64
		goroutines           int
		percent              int
	}{
		{4 * mib, 2 * mib, 3 * mib, 30, gcPercent}, {23 * mib, 40 * mib, 20 * mib, 249, gcPercent}, // idle
		{12 * mib, 2 * mib, 8 * mib, 250, maxGCPercent}, {16 * mib, 4 * mib, 12 * mib, 900, 320}, // much has just begun
		// busy
		{24 * mib, 8 * mib, 20 * mib, 30, 200}, {40 * mib, 10 * mib, 30 * mib, 2000, 128},
		{60 * mib, 20 * mib, 50 * mib, 2000, 80},
		{128 * mib, 20 * mib, 128 * mib, 4000, minScanPercent}, {4096 * mib, 0, 4096 * mib, 30, minScanPercent}, // full
		{200 * mib, 0, 30 * mib, 30, 32}, {8192 * mib, 0, 10 * mib, 30, 1}, // full of texts and embeddings
	} {
		if got := gcPercentFor(tt.heap, tt.roots, tt.scanned, tt.goroutines); got != tt.percent {
			t.Errorf("GOGC for %d MiB of heap, %d of roots, %d scanned and %d goroutines = %d, want %d", tt.heap/mib,
				tt.roots/mib, tt.scanned/mib, tt.goroutines, got, tt.percent)
		}
	}
}
