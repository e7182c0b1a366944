package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// pair is Footnote and the relay in front of one fake model, with a small library. Most scenes measure it: both
// sides get the same requests and use the same model.
type pair struct {
	model, relay, footnote *process
	data                   string
}

// startPair starts the three and adds the small library. delay is that of startModel, env is added to Footnote's
// environment. On error all processes are stopped.
func (b *bench) startPair(ctx context.Context, delay int, env ...string) (p *pair, err error) {
	p = &pair{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.stop())
		}
	}()
	if p.data, err = os.MkdirTemp("", "footnote-bench-"); err != nil {
		return p, err
	}
	if p.model, err = startModel(ctx, delay); err != nil {
		return p, err
	}
	if p.relay, err = startRelay(ctx, p.model); err != nil {
		return p, err
	}
	if p.footnote, err = b.startFootnote(ctx, p.data, p.model, env...); err != nil {
		return p, err
	}
	_, err = uploadFiles(ctx, p.footnote, smallLibrary())
	return p, err
}

// smallLibrary contains the document that runs cite, among others.
//
// survey.md contains the sentence that the fake model's answer is about. The twenty notes are distractors for the
// search.
func smallLibrary() map[string][]byte {
	files := map[string][]byte{"survey.md": []byte(
		"# Survey\n\n## Roof\n\nThe roof is in fair condition. The survey found four slipped slates.\n",
	)}
	for i := range 20 {
		files[fmt.Sprintf("note-%d.md", i)] = makeMarkdown(uint64(i), 5)
	}
	return files
}

// stop stops the processes, Footnote before its model, and removes the data directory.
func (p *pair) stop() error {
	var errs []error
	for _, process := range []*process{p.footnote, p.relay, p.model} {
		if process != nil {
			errs = append(errs, process.stop())
		}
	}
	return errors.Join(append(errs, os.RemoveAll(p.data))...)
}

// single: one client with sequential runs, alternating between the relay and Footnote, so that both use the machine
// in the same state.
//
// The limit for a run's median is twice the relay's. A run has two commits that wait for the disk, while the relay
// writes no data, so the row is only fair if an fsync is quick: the second row is the duration of one.
func benchSingle(ctx context.Context, b *bench) (rows []row, err error) {
	p, err := b.startPair(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	var ours, relays []timing
	for round := range b.scaleTimes(400) + 20 {
		for _, side := range []struct {
			server *process
			into   *[]timing
		}{{p.relay, &relays}, {p.footnote, &ours}} {
			t, err := askQuestion(ctx, side.server)
			if err != nil {
				return nil, err
			}
			if round >= 20 { // the first ones are a warm-up
				*side.into = append(*side.into, t)
			}
		}
	}
	our, relay := quantileOf(totalTimes(ours), .5), quantileOf(totalTimes(relays), .5)
	ratio := float64(our) / float64(relay)
	return []row{{"one client, p50 of a run, ÷ relay", "≤ 2.0", fmt.Sprintf(
		"%.2f (%s, %s)", ratio, inMilliseconds(our), inMilliseconds(relay),
	), ratio <= 2},
		{"fsync on this disk, p50", "≤ 0.5 ms for the row above", inMilliseconds(fsyncTime(p.data)), true}}, nil
}

// fsyncTime measures a small write with fsync in the data directory. It is the median of 100 writes of 4 KiB, a
// page of most file systems and of SQLite, and 0 if the directory is not writable.
func fsyncTime(dir string) time.Duration {
	file, err := os.CreateTemp(dir, "fsync-")
	if err != nil {
		return 0
	}
	defer func() { _ = os.Remove(file.Name()) }()
	defer file.Close()
	var took []time.Duration
	for range 100 {
		began := time.Now()
		if _, err := file.Write(make([]byte, 4096)); err != nil || file.Sync() != nil {
			return 0
		}
		took = append(took, time.Since(began))
	}
	return quantileOf(took, .5)
}

// many: 32 clients without a pause.
//
// They measure a run's CPU time and the runs per second. The model has no delay, so the machine is saturated, and
// runs/s is the inverse of the CPU time of all processes together. The limits are 2.2 times the relay's CPU time,
// half its rate, and 100 ms to the first event at p99.
//
// Each side is measured three times alternately, and the median of the three ratios is used.
func benchMany(ctx context.Context, b *bench) (rows []row, err error) {
	p, err := b.startPair(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	type figures struct {
		cpu   time.Duration
		rate  float64
		first time.Duration
	}
	measure := func(server *process) (f figures, err error) {
		n := b.scaleTimes(1000)
		// A tenth of the runs is a warm-up.
		if _, _, err = runLoad(ctx, max(32, n/10), 32, server); err != nil {
			return f, err
		}
		before := server.cpuTime()
		ts, took, err := runLoad(ctx, n, 32, server)
		if err != nil {
			return f, err
		}
		return figures{
			(server.cpuTime() - before) / time.Duration(n), float64(n) / took.Seconds(),
			quantileOf(firstTimes(ts), .99),
		}, nil
	}
	var cpu, rate []float64
	var our, relay figures
	for range 3 {
		if relay, err = measure(p.relay); err != nil {
			return nil, err
		}
		if our, err = measure(p.footnote); err != nil {
			return nil, err
		}
		cpu = append(cpu, float64(our.cpu)/float64(relay.cpu))
		rate = append(rate, our.rate/relay.rate)
	}
	return []row{
		{"32 clients, CPU a run ÷ relay", "≤ 2.2", fmt.Sprintf(
			"%.2f (%s, %s)", medianOf(cpu), inMilliseconds(our.cpu), inMilliseconds(relay.cpu),
		), medianOf(cpu) <= 2.2},
		{"32 clients, runs/s ÷ relay", "≥ 0.5", fmt.Sprintf(
			"%.2f (%.0f, %.0f)", medianOf(rate), our.rate, relay.rate,
		), medianOf(rate) >= .5},
		{"32 clients, POST → first event, p99", "≤ 100 ms", inMilliseconds(our.first),
			our.first <= 100*time.Millisecond},
	}, nil
}

// paced: a token every 20 ms, like a real model.
//
// A run waits for its model nearly all the time, so Footnote's overhead should be invisible. With 300 concurrent
// runs it may take 1.1 times as long as the relay, with 1,000 concurrent runs 1.5 times (the machine is saturated
// then). The limit of the server's peak memory is 300 MiB.
func benchPaced(ctx context.Context, b *bench) (rows []row, err error) {
	p, err := b.startPair(ctx, 20)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	for _, scene := range []struct {
		width, rounds int
		most          float64
	}{{300, 3, 1.1}, {1000, 1, 1.5}} {
		n := b.scaleTimes(scene.width)
		var ratios []float64
		var our, relay time.Duration
		for range scene.rounds { // alternating, so that both use the same machine state
			relays, _, err := runLoad(ctx, n, n, p.relay)
			if err != nil {
				return rows, fmt.Errorf("relay, %d at once: %w", n, err)
			}
			ours, _, err := runLoad(ctx, n, n, p.footnote)
			if err != nil {
				return rows, fmt.Errorf("Footnote, %d at once: %w", n, err)
			}
			our, relay = quantileOf(totalTimes(ours), .95), quantileOf(totalTimes(relays), .95)
			ratios = append(ratios, float64(our)/float64(relay))
		}
		ratio := medianOf(ratios)
		rows = append(rows, row{
			fmt.Sprintf("%d at once, a token each 20 ms, p95 ÷ relay", n), fmt.Sprintf("≤ %.1f", scene.most),
			fmt.Sprintf("%.2f (%s, %s)", ratio, inMilliseconds(our), inMilliseconds(relay)), ratio <= scene.most,
		})
	}
	peak := float64(p.footnote.memoryField("VmHWM")) / (1 << 20)
	return append(rows, row{"peak memory of the above", "≤ 300 MiB", fmt.Sprintf("%.0f MiB", peak), peak <= 300}), nil
}

// medianOf returns the median of ratios with quantileOf, to six decimals. xs is not modified.
func medianOf(xs []float64) float64 {
	ds := make([]time.Duration, len(xs))
	for i, x := range xs {
		ds[i] = time.Duration(x * 1e6)
	}
	return float64(quantileOf(ds, .5)) / 1e6
}
