package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// replicated: three replicas beside one, on one machine and one PostgreSQL.
func replicated(ctx context.Context, b *bench) (rows []row, err error) {
	for _, part := range []func(context.Context, *bench) ([]row, error){unpaced, hundred, followed} {
		more, err := part(ctx, b)
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// spent is what a run costs.
type spent struct {
	replicas, postgres time.Duration // processor time
	statements         float64       // beside those that store events
	appends            float64       // statements that store events
	rate               float64       // runs/s
}

// unpaced: 32 clients without a pause, the replicas by turns.
func unpaced(ctx context.Context, b *bench) (rows []row, err error) {
	f, err := b.startField(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.stop()) }()
	var cpu, all []float64
	var one, three spent
	for range 3 { // by turns, so that both see the same machine
		if one, err = b.spend(ctx, f.one); err != nil {
			return nil, err
		}
		if three, err = b.spend(ctx, f.three); err != nil {
			return nil, err
		}
		cpu = append(cpu, float64(three.replicas)/float64(one.replicas))
		all = append(all, float64(three.replicas+three.postgres)/float64(one.replicas+one.postgres))
	}
	ratio := median(cpu)
	return []row{
		{"three replicas, CPU a run ÷ one replica", "≤ 1.25", fmt.Sprintf("%.2f (%s, %s)", ratio, ms(three.replicas), ms(one.replicas)), ratio <= 1.25},
		{"the same with PostgreSQL's own", "", fmt.Sprintf("%.2f (PostgreSQL %s, %s)", median(all), ms(three.postgres), ms(one.postgres)), true},
		{"runs/s, three replicas; one", "", fmt.Sprintf("%.0f; %.0f", three.rate, one.rate), true},
		{"statements a run that store no events, three; one", "≤ 4", fmt.Sprintf("%.2f; %.2f", three.statements, one.statements), three.statements <= 4},
		{"statements a run that store events, three; one", "", fmt.Sprintf("%.2f; %.2f", three.appends, one.appends), true},
	}, nil
}

// spend runs questions on a fleet and returns what one costs.
func (b *bench) spend(ctx context.Context, f *fleet) (s spent, err error) {
	n := b.times(600)
	if _, _, err = load(ctx, max(32, n/6), 32, f.replicas...); err != nil {
		return s, err
	}
	if err = f.postgres.Forget(ctx); err != nil {
		return s, err
	}
	replicas, postgres, err := f.cpu()
	if err != nil {
		return s, err
	}
	_, took, err := load(ctx, n, 32, f.replicas...)
	if err != nil {
		return s, err
	}
	replicasAfter, postgresAfter, err := f.cpu()
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
			fmt.Fprintf(os.Stderr, "%6.2f a run, %8v each: %.150s\n", each, (statement.Time / time.Duration(statement.Calls)).Round(time.Microsecond), strings.Join(strings.Fields(statement.Text), " "))
		}
	}
	s.replicas, s.postgres = (replicasAfter-replicas)/time.Duration(n), (postgresAfter-postgres)/time.Duration(n)
	s.rate = float64(n) / took.Seconds()
	return s, nil
}

// hundred: a hundred runs at once, a token every 20 ms.
func hundred(ctx context.Context, b *bench) (rows []row, err error) {
	f, err := b.startField(ctx, 20)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.stop()) }()
	for _, fleet := range []*fleet{f.three, f.one} {
		const width = 100
		n := max(width, b.times(700))
		before := time.Now()
		ts, took, err := load(ctx, n, width, fleet.replicas...)
		if err != nil {
			return rows, err
		}
		first := quantile(firsts(ts), .99)
		at, err := fleet.stored(ctx, before)
		if err != nil {
			return rows, err
		}
		rate, slowest := sustained(at)
		rows = append(rows,
			row{fmt.Sprintf("%d runs at once, a token each 20 ms, POST → first event, p99 (p50): %s", width, fleet.name), "≤ 150 ms", fmt.Sprintf("%s (%s)", ms(first), ms(quantile(firsts(ts), .5))), first <= 150*time.Millisecond},
			row{fmt.Sprintf("the same, events stored a second; the slowest of its %.0f seconds", took.Seconds()), "≥ 2,000", fmt.Sprintf("%.0f; %.0f", rate, slowest), rate >= 2000})
	}
	return rows, nil
}

// stored returns when each event since a time was stored.
func (f *fleet) stored(ctx context.Context, since time.Time) ([]time.Time, error) {
	rows, err := f.postgres.Rows(ctx, f.url, `SELECT at FROM events WHERE at >= $1 ORDER BY at`, since.UnixMicro())
	at := make([]time.Time, len(rows))
	for i, row := range rows {
		at[i] = time.UnixMicro(row[0].(int64))
	}
	return at, err
}

// sustained returns how many of the times, in order, lie in a second: of all, and of the second with the fewest but for the
// first two and the last two, when not all runs are under way.
func sustained(at []time.Time) (rate, slowest float64) {
	if len(at) == 0 {
		return 0, 0
	}
	whole := at[len(at)-1].Sub(at[0])
	counts := make([]int, int(whole.Seconds())+1)
	for _, t := range at {
		counts[int(t.Sub(at[0]).Seconds())]++
	}
	least := len(at)
	for i, n := range counts {
		if i >= 2 && i < len(counts)-2 {
			least = min(least, n)
		}
	}
	return float64(len(at)) / whole.Seconds(), float64(least)
}
