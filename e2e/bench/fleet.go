package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// fleet is replicas that share a database of a PostgreSQL, and a fake model.
//
// All replicas keep their originals in one folder, as replicas of one installation must, and each has a data directory
// of its own. A fleet of one is the yardstick for a fleet of three: both are on PostgreSQL, so that the ratio shows
// what sharing costs, and not what PostgreSQL costs.
type fleet struct {
	postgres *postgrestest.Server
	name     string // of the database
	url      string // of the database
	replicas []*process
}

// startPostgres runs a PostgreSQL with its own defaults for what it promises to keep: every commit that asks for it
// waits for fsync.
func startPostgres(ctx context.Context) (*postgrestest.Server, error) {
	// postgrestest.Counting has PostgreSQL count its statements, which spendOn reads. Without fsync and full pages, a
	// commit would cost next to nothing, and rows about storing events would look better than what an operator sees.
	return postgrestest.StartOwn(ctx, "fsync=on", "full_page_writes=on", postgrestest.Counting)
}

// startFleet starts n replicas on a new database, with the small library of a pair. Each has its share of the
// machine's processors, as docs/operation.md advises for replicas on one machine: with all of them it would wake
// threads that find nothing to do.
//
// It returns the fleet even with an error; what was started has ended then. model may be nil: then the offline mode
// answers.
func (b *bench) startFleet(
	ctx context.Context, postgres *postgrestest.Server, dir, name string, n int, model *process,
) (f *fleet, err error) {
	f = &fleet{postgres: postgres, name: name}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.stop())
		}
	}()
	if f.url, err = postgres.Database(ctx, name); err != nil {
		return f, err
	}
	// Go reads GOMAXPROCS of its environment; three replicas on two processors have one each.
	share := max(1, runtime.NumCPU()/n)
	for i := range n {
		own := filepath.Join(dir, fmt.Sprint(name, i))
		replica, err := b.startFootnote(
			ctx, own, model, "DATABASE_URL="+f.url, "FOOTNOTE_BLOBS=file://"+filepath.Join(dir, name+"-originals"),
			fmt.Sprint("GOMAXPROCS=", share),
		)
		if err != nil {
			return f, err
		}
		f.replicas = append(f.replicas, replica)
	}
	return f, nil
}

// stop ends all replicas in order, also when one of them reports an error. The database stays until PostgreSQL ends.
func (f *fleet) stop() error {
	var errs []error
	for _, replica := range f.replicas {
		errs = append(errs, replica.stop())
	}
	return errors.Join(errs...)
}

// cpuTimes returns the processor time of the replicas together, and of PostgreSQL. Both are sums since the start of
// the processes: callers take a difference of two calls.
func (f *fleet) cpuTimes() (replicas, postgres time.Duration, err error) {
	for _, replica := range f.replicas {
		replicas += replica.cpuTime()
	}
	postgres, err = f.postgres.CPU()
	return replicas, postgres, err
}

// field is a PostgreSQL with a model, and a fleet of one beside a fleet of three.
//
// Both fleets are there all the time, and the one that is not measured is idle. So their turns can change quickly, and
// a machine that is slower for a while slows both.
type field struct {
	dir        string
	postgres   *postgrestest.Server
	model      *process
	one, three *fleet
}

// startField starts all, and adds the small library to both fleets. delay is what startModel takes: ms a token, or if
// negative ms a turn. What was started has ended when it returns an error.
func (b *bench) startField(ctx context.Context, delay int) (f *field, err error) {
	f = &field{}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.stop())
		}
	}()
	if f.dir, err = os.MkdirTemp("", "footnote-bench-"); err != nil {
		return f, err
	}
	if f.postgres, err = startPostgres(ctx); err != nil {
		return f, err
	}
	if f.model, err = startModel(ctx, delay); err != nil {
		return f, err
	}
	for _, made := range []struct {
		fleet **fleet
		name  string
		n     int
	}{{&f.one, "one", 1}, {&f.three, "three", 3}} {
		if *made.fleet, err = b.startFleet(ctx, f.postgres, f.dir, made.name, made.n, f.model); err != nil {
			return f, err
		}
		if _, err = uploadFiles(ctx, (*made.fleet).replicas[0], smallLibrary()); err != nil {
			return f, err
		}
	}
	return f, nil
}

// stop ends what there is of a field, replicas before what they depend on, and removes its directory.
func (f *field) stop() error {
	var errs []error
	for _, fleet := range []*fleet{f.one, f.three} {
		if fleet != nil {
			errs = append(errs, fleet.stop())
		}
	}
	if f.model != nil {
		errs = append(errs, f.model.stop())
	}
	if f.postgres != nil {
		errs = append(errs, f.postgres.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(f.dir))...)
}
