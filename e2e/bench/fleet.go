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

// fleet is a group of replicas that share a PostgreSQL database and a fake model.
//
// All replicas store their originals in one folder, as replicas of one installation must, and each has its own data
// directory. A fleet of one is the baseline for a fleet of three: both use PostgreSQL, so the ratio is the cost of
// sharing and not of PostgreSQL.
type fleet struct {
	postgres *postgrestest.Server
	name     string // of the database
	url      string // of the database
	replicas []*process
}

// startPostgres runs a PostgreSQL with its default durability: every commit that requires it waits for fsync.
func startPostgres(ctx context.Context) (*postgrestest.Server, error) {
	// postgrestest.Counting makes PostgreSQL count its statements, which spendOn reads. Without fsync and full
	// pages, a commit would be almost free, and rows about storing events would be better than in production.
	return postgrestest.StartOwn(ctx, "fsync=on", "full_page_writes=on", postgrestest.Counting)
}

// startFleet starts n replicas on a new database, with the small library of a pair. Each has its share of the
// machine's CPUs, as docs/operation.md advises for replicas on one machine: with all CPUs it would wake threads
// without work.
//
// It returns the fleet even with an error; all its processes have ended then. model may be nil: then the offline
// mode answers.
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
	// Go reads GOMAXPROCS from its environment; three replicas on two CPUs have one each.
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

// stop stops all replicas gracefully, even if one of them returns an error. The database stays until PostgreSQL
// ends.
func (f *fleet) stop() error {
	var errs []error
	for _, replica := range f.replicas {
		errs = append(errs, replica.stop())
	}
	return errors.Join(errs...)
}

// cpuTimes returns the CPU time of all replicas, and of PostgreSQL. Both are totals since the start of the
// processes: callers subtract two results.
func (f *fleet) cpuTimes() (replicas, postgres time.Duration, err error) {
	for _, replica := range f.replicas {
		replicas += replica.cpuTime()
	}
	postgres, err = f.postgres.CPU()
	return replicas, postgres, err
}

// field is a PostgreSQL with a model, a fleet of one and a fleet of three.
//
// Both fleets run all the time, and the one that is not measured is idle. So the rounds can alternate quickly, and
// a temporary slowdown of the machine affects both.
type field struct {
	dir        string
	postgres   *postgrestest.Server
	model      *process
	one, three *fleet
}

// startField starts all processes, and adds the small library to both fleets. delay is that of startModel: ms for
// each token, or if negative ms for each turn. On error all processes are stopped.
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

// stop stops the processes, replicas before their dependencies, and removes the directory.
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
