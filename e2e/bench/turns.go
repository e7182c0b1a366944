package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// turnTime is the fake model's delay for each turn in this scene, in ms.
const turnTime = 800

// turns: questions to a model with 800 ms per turn, three turns per run, sequential and ten concurrent ones.
//
// Three turns take 2.4 s at least. The limits at p95 are 4 s for sequential questions and 6 s for ten concurrent
// ones: an acceptable latency with a model of this speed. Concurrent questions must not wait for each other.
func benchTurns(ctx context.Context, b *bench) (rows []row, err error) {
	p, err := b.startPair(ctx, -turnTime)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	for _, at := range []struct {
		width, n int
		bound    time.Duration
	}{{1, 20, 4 * time.Second}, {10, 50, 6 * time.Second}} {
		ts, _, err := runLoad(ctx, max(at.width, b.scaleTimes(at.n)), at.width, p.footnote)
		if err != nil {
			return rows, err
		}
		p95, p50 := quantileOf(totalTimes(ts), 0.95), quantileOf(totalTimes(ts), 0.5)
		rows = append(rows, row{
			fmt.Sprintf("%d at once, a model of %d ms a turn, p95 (p50) of a run with three turns", at.width, turnTime),
			fmt.Sprintf("≤ %.0f s", at.bound.Seconds()), fmt.Sprintf("%.2f s (%.2f s)", p95.Seconds(), p50.Seconds()),
			p95 <= at.bound,
		})
	}
	return rows, nil
}
