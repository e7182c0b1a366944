package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"
)

// With 200 tokens, an answer takes 4 seconds.
const (
	tokenTime = 20                                    // ms, of the model in these scenes
	runTime   = tokens * tokenTime * time.Millisecond // duration of a run's answer, nearly all of the run
)

// hundred: a hundred runs in flight, and a hundred requests at the same moment.
//
// It measures the time until the first output on the page under realistic load: the model is slow, and many runs
// wait for it. The limit is 150 ms at p99. A burst of a hundred requests is worse than any real load; it has no
// limit.
func benchHundred(ctx context.Context, b *bench) ([]row, error) {
	return b.onEach(ctx, func(f *field, fleet *fleet) (rows []row, err error) {
		const width = 100
		under, err := b.underWay(ctx, f, fleet, width)
		if err != nil {
			return nil, err
		}
		p99 := quantileOf(under.first, .99)
		rows = append(rows,
			row{fmt.Sprintf(
				"%s: %d runs under way, a token each %d ms, POST → first event, p99 (p50)", fleet.name, width,
				tokenTime,
			), "≤ 150 ms", fmt.Sprintf("%s (%s)", inMilliseconds(p99), inMilliseconds(quantileOf(under.first, .5))),
				p99 <= 150*time.Millisecond},
			row{"the same, events stored a second", "", fmt.Sprintf("%.0f", under.rate), true},
			row{"the same, cores of replicas, PostgreSQL, model, client", "", under.cores.String(), true})
		var burst []time.Duration
		for range 3 {
			ts, _, err := runLoad(ctx, width, width, fleet.replicas...)
			if err != nil {
				return rows, err
			}
			burst = append(burst, firstTimes(ts)...)
		}
		return append(rows, row{
			fmt.Sprintf("%s: %d posted at one moment, three times, POST → first event, p99 (p50)", fleet.name, width),
			"", fmt.Sprintf("%s (%s)", inMilliseconds(quantileOf(burst, .99)),
				inMilliseconds(quantileOf(burst, .5))), true,
		}), nil
	})
}

// crowded: more runs in flight than needed for 2,000 events per second. A hundred runs are below that: each stores
// text every 40 ms at most, plus the time of storing. The limit is that rate: 2,000 events per second are stored.
func benchCrowded(ctx context.Context, b *bench) ([]row, error) {
	return b.onEach(ctx, func(f *field, fleet *fleet) ([]row, error) {
		const width = 200
		under, err := b.underWay(ctx, f, fleet, width)
		if err != nil {
			return nil, err
		}
		return []row{
			{fmt.Sprintf(
				"%s: %d runs under way, events stored a second; in the slowest second", fleet.name, width,
			), "≥ 2,000", fmt.Sprintf("%.0f; %.0f", under.rate, under.slowest), under.rate >= 2000},
			{"the same, cores of replicas, PostgreSQL, model, client", "", under.cores.String(), true},
			{"the same, POST → first event, p99 (p50)", "", fmt.Sprintf(
				"%s (%s)", inMilliseconds(quantileOf(under.first, .99)), inMilliseconds(quantileOf(under.first, .5)),
			), true},
		}, nil
	})
}

// onEach runs a measurement on three replicas and on one, with a model that has a delay for each token.
//
// Three replicas are first. Rows before an error are returned with it.
func (b *bench) onEach(ctx context.Context, measure func(*field, *fleet) ([]row, error)) (rows []row, err error) {
	f, err := b.startField(ctx, tokenTime)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.stop()) }()
	for _, fleet := range []*fleet{f.three, f.one} {
		more, err := measure(f, fleet)
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// underWay is the result of a measurement with a constant number of runs in flight.
type underWay struct {
	first         []time.Duration // POST → first event
	rate, slowest float64         // events stored per second, in total and in the slowest whole second
	cores         cores
}

// underWay keeps width runs in flight on a fleet: each worker sends its next question when its run ends. The
// workers' starts are spread over the duration of a run, so that questions arrive evenly. The first run of each
// worker is a warm-up.
//
// The measurement starts when each worker has started and ends before any can finish its rounds.
func (b *bench) underWay(ctx context.Context, f *field, fleet *fleet, width int) (u underWay, err error) {
	// Five rounds at full size, with the first as a warm-up; two if quick.
	rounds := 1 + max(1, b.scaleTimes(4*20)/20)
	timings := make([][]timing, width)
	errs := make([]error, width)
	var wg sync.WaitGroup
	began := time.Now()
	for w := range width {
		wg.Go(func() {
			select {
			case <-time.After(runTime * time.Duration(w) / time.Duration(width)):
			case <-ctx.Done():
				errs[w] = ctx.Err()
				return
			}
			for round := range rounds {
				t, err := askQuestion(ctx, fleet.replicas[(w+round)%len(fleet.replicas)])
				if err != nil {
					errs[w] = err
					return
				}
				timings[w] = append(timings[w], t)
			}
		})
	}
	full, over := began.Add(runTime+runTime/4), began.Add(runTime*time.Duration(rounds)) // no worker ends before
	before, errBefore := f.usedAt(ctx, fleet, full)
	after, errAfter := f.usedAt(ctx, fleet, over)
	wg.Wait()
	if err := errors.Join(append(errs, errBefore, errAfter)...); err != nil {
		return u, err
	}
	for _, ts := range timings {
		u.first = append(u.first, firstTimes(ts[1:])...)
	}
	u.cores = after.sinceUse(before)
	// at is in microseconds, so the quotient is the whole second since the start.
	rows, err := fleet.postgres.Rows(
		ctx, fleet.url, `SELECT (at - $1) / 1000000 FROM events WHERE at >= $1 AND at < $2`, before.at.UnixMicro(),
		after.at.UnixMicro(),
	)
	if err != nil {
		return u, err
	}
	counts := make([]int64, int(after.at.Sub(before.at).Seconds())+1)
	for _, row := range rows {
		counts[row[0].(int64)]++
	}
	u.rate = float64(len(rows)) / after.at.Sub(before.at).Seconds()
	u.slowest = float64(slices.Min(counts[:max(1, len(counts)-1)])) // the last second is incomplete
	return u, nil
}

// use is the CPU time so far. It is read twice, and the difference is each part's load. client is this process,
// which reads all streams.
type use struct {
	at                                time.Time
	replicas, postgres, model, client time.Duration
}

// usedAt waits for a time and returns the CPU time used until then. It returns at once if the time has passed.
func (f *field) usedAt(ctx context.Context, fleet *fleet, at time.Time) (u use, err error) {
	select {
	case <-time.After(time.Until(at)):
	case <-ctx.Done():
		return u, ctx.Err()
	}
	u = use{at: time.Now(), model: f.model.cpuTime()}
	if u.replicas, u.postgres, err = fleet.cpuTimes(); err != nil {
		return u, err
	}
	var own syscall.Rusage
	err = syscall.Getrusage(syscall.RUSAGE_SELF, &own)
	u.client = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	return u, err
}

// cores is CPU time per second. 1 is one fully used CPU.
type cores struct{ replicas, postgres, model, client float64 }

// sinceUse returns the CPU time per second between two readings, before being the earlier one.
func (u use) sinceUse(before use) cores {
	took := u.at.Sub(before.at).Seconds()
	return cores{(u.replicas - before.replicas).Seconds() / took, (u.postgres - before.postgres).Seconds() / took,
		(u.model - before.model).Seconds() / took, (u.client - before.client).Seconds() / took}
}

// String formats the four in the order of the rows' names: replicas, PostgreSQL, model, client.
func (c cores) String() string {
	return fmt.Sprintf("%.2f, %.2f, %.2f, %.2f", c.replicas, c.postgres, c.model, c.client)
}
