package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// shape is one way to keep a library. open starts what the shape needs beside Footnote itself; dir is an empty
// directory for all of it.
type shape struct {
	name string
	open func(ctx context.Context, b *bench, dir string) (*library, error)
}

// Both use the same fake embedding model.
var shapes = []shape{{"embedded", openEmbeddedLibrary}, {"servers", openServersLibrary}}

// library is a data directory, and the servers beside it if there are any. env are the settings that make Footnote use
// them.
type library struct {
	dir     string
	model   *process
	servers *servers // nil in the embedded mode
	env     []string
}

// openEmbeddedLibrary needs the fake model alone: all data are in Footnote's own directory.
func openEmbeddedLibrary(ctx context.Context, _ *bench, dir string) (l *library, err error) {
	l = &library{dir: dir, env: []string{"OPENAI_EMBEDDING_MODEL=bench"}}
	l.model, err = startModel(ctx, 0)
	return l, err
}

// openServersLibrary starts PostgreSQL and Milvus as well, and keeps originals in a folder below dir, so that diskUsed
// counts them with Footnote's own.
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

// close ends the model and the servers. Footnote itself has to have ended before.
func (l *library) close() error {
	err := l.model.stop()
	if l.servers != nil {
		err = errors.Join(err, l.servers.stop())
	}
	return err
}

// memoryHeld says how much the server and what it needs hold now. For the servers it counts all of their processes;
// the fake model is not counted. The text has each part and the sum.
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

// diskUsed says how much lies on the disk. PostgreSQL's write-ahead log is named apart: it grows to a limit and is
// reused, so it is not the library's size.
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

// inMiB cuts to whole MiB.
func inMiB(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }
