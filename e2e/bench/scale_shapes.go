package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// shape is a storage configuration of a library. open starts the dependencies of Footnote; dir is an empty
// directory for all data.
type shape struct {
	name string
	open func(ctx context.Context, b *bench, dir string) (*library, error)
}

// Both use the same fake embedding model.
var shapes = []shape{{"embedded", openEmbeddedLibrary}, {"servers", openServersLibrary}}

// library is a data directory with its servers, if any. env are the settings that make Footnote use them.
type library struct {
	dir     string
	model   *process
	servers *servers // nil in the embedded mode
	env     []string
}

// openEmbeddedLibrary needs only the fake model: all data are in Footnote's own directory.
func openEmbeddedLibrary(ctx context.Context, _ *bench, dir string) (l *library, err error) {
	l = &library{dir: dir, env: []string{"OPENAI_EMBEDDING_MODEL=bench"}}
	l.model, err = startModel(ctx, 0)
	return l, err
}

// openServersLibrary also starts PostgreSQL and Milvus, and stores originals in a folder below dir, so that
// diskUsed counts them with Footnote's own.
func openServersLibrary(ctx context.Context, b *bench, dir string) (*library, error) {
	l, err := openEmbeddedLibrary(ctx, b, dir)
	if err != nil {
		return nil, err
	}
	if l.servers, err = startServers(ctx); err != nil {
		return nil, errors.Join(err, l.model.stop())
	}
	l.env = append(l.env, l.servers.serverSettings(filepath.Join(dir, "originals"))...)
	return l, nil
}

// close stops the model and the servers. Footnote itself must have ended before.
func (l *library) close() error {
	err := l.model.stop()
	if l.servers != nil {
		err = errors.Join(err, l.servers.stop())
	}
	return err
}

// memoryHeld formats the current memory of the server and its dependencies, each and in total. For the servers it
// counts all of their processes; the fake model is not counted.
func (l *library) memoryHeld(server *process) string {
	own := server.memoryField("VmRSS")
	if l.servers == nil {
		return inMiB(own)
	}
	postgres, milvus := treeMemory(l.servers.postgres.Pid()), treeMemory(l.servers.milvus.Pid())
	return fmt.Sprintf(
		"%s, PostgreSQL %s, Milvus %s: %s", inMiB(own), inMiB(postgres), inMiB(milvus), inMiB(own+postgres+milvus),
	)
}

// diskUsed formats the disk usage. PostgreSQL's write-ahead log is separate: it grows to a limit and is reused, so
// it does not depend on the library's size.
func (l *library) diskUsed() (string, error) {
	own, err := diskUse(l.dir)
	if err != nil || l.servers == nil {
		return inMiB(own), err
	}
	database, err := diskUse(l.servers.postgres.Dir())
	if err != nil {
		return "", err
	}
	wal, err := diskUse(filepath.Join(l.servers.postgres.Dir(), "data", "pg_wal"))
	if err != nil {
		return "", err
	}
	vectors, err := diskUse(l.servers.milvus.Dir())
	return fmt.Sprintf(
		"%s, PostgreSQL %s and %s of WAL, Milvus %s: %s", inMiB(own), inMiB(database-wal), inMiB(wal), inMiB(vectors),
		inMiB(own+database+vectors),
	), err
}

// inMiB truncates to whole MiB.
func inMiB(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }
