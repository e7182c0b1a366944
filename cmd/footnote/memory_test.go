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
