package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// replicated compares three replicas with one, on one machine and one PostgreSQL.
//
// It runs its four parts in order, each on its own servers, and returns the rows so far if one fails.
func benchReplicas(ctx context.Context, b *bench) (rows []row, err error) {
	for _, part := range []func(context.Context, *bench) ([]row, error){
		benchUnpaced, benchHundred, benchCrowded, benchFollowed,
	} {
		more, err := part(ctx, b)
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// spent is the cost of a run, an average over all runs of one load.
type spent struct {
	replicas, postgres time.Duration // CPU time
	statements         float64       // without those that store events
	appends            float64       // statements that store events
	rate               float64       // runs/s
}

// unpaced: 32 clients without a pause, with the replicas in rotation.
//
// The limit is for CPU time: three replicas may use a quarter more for a run than one. Durations would be
// meaningless here, since all share the machine.
//
// Statements are counted as well, since each is a round trip to a remote database: a run may execute four besides
// those that store its events.
func benchUnpaced(ctx context.Context, b *bench) (rows []row, err error) {
	f, err := b.startField(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.stop()) }()
	var cpu, all []float64
	var one, three spent
	// The median of an odd number of rounds is a measured value.
	for range 9 { // alternating, since the machine's speed changes over time
		if one, err = b.spendOn(ctx, f.one); err != nil {
			return nil, err
		}
		if three, err = b.spendOn(ctx, f.three); err != nil {
			return nil, err
		}
		cpu = append(cpu, float64(three.replicas)/float64(one.replicas))
		all = append(all, float64(three.replicas+three.postgres)/float64(one.replicas+one.postgres))
	}
	ratio := medianOf(cpu)
	return []row{
		{"three replicas, CPU a run ÷ one replica", "≤ 1.25", fmt.Sprintf(
			"%.2f (%s, %s)", ratio, inMilliseconds(three.replicas), inMilliseconds(one.replicas),
		), ratio <= 1.25},
		{"the same with PostgreSQL's own", "", fmt.Sprintf(
			"%.2f (PostgreSQL %s, %s)", medianOf(all), inMilliseconds(three.postgres), inMilliseconds(one.postgres),
		), true},
		{"runs/s, three replicas; one", "", fmt.Sprintf("%.0f; %.0f", three.rate, one.rate), true},
		{"statements a run that store no events, three; one", "≤ 4", fmt.Sprintf(
			"%.2f; %.2f", three.statements, one.statements,
		), three.statements <= 4},
		{"statements a run that store events, three; one", "", fmt.Sprintf(
			"%.2f; %.2f", three.appends, one.appends,
		), true},
	}, nil
}

// spendOn runs questions on a fleet and returns the cost of one.
//
// It first runs a warm-up, so that connections are open and query plans cached, and resets PostgreSQL's counters.
// With BENCH_STATEMENTS in the environment it also prints each statement to standard error, with its count and time
// for each run.
func (b *bench) spendOn(ctx context.Context, f *fleet) (s spent, err error) {
	n := b.scaleTimes(300)
	if _, _, err = runLoad(ctx, max(32, n/6), 32, f.replicas...); err != nil {
		return s, err
	}
	if err = f.postgres.Forget(ctx); err != nil {
		return s, err
	}
	replicas, postgres, err := f.cpuTimes()
	if err != nil {
		return s, err
	}
	_, took, err := runLoad(ctx, n, 32, f.replicas...)
	if err != nil {
		return s, err
	}
	replicasAfter, postgresAfter, err := f.cpuTimes()
	if err != nil {
		return s, err
	}
	list, err := f.postgres.Statements(ctx, f.name)
	if err != nil {
		return s, err
	}
	for _, statement := range list {
		each := float64(statement.Calls) / float64(n)
		if strings.Contains(statement.Text, "INSERT INTO events") {
			s.appends += each
		} else {
			s.statements += each
		}
		if os.Getenv("BENCH_STATEMENTS") != "" {
			fmt.Fprintf(
				os.Stderr, "%6.2f a run, %8v each: %.150s\n", each,
				(statement.Time / time.Duration(statement.Calls)).Round(time.Microsecond),
				strings.Join(strings.Fields(statement.Text), " "),
			)
		}
	}
	s.replicas, s.postgres = (replicasAfter-replicas)/time.Duration(n), (postgresAfter-postgres)/time.Duration(n)
	s.rate = float64(n) / took.Seconds()
	return s, nil
}
