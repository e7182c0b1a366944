package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/footnote/footnote/corpus/milvus/milvustest"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// servers are a real PostgreSQL with durable commits, and a real Milvus. Both are used only by this bench and start
// empty.
type servers struct {
	postgres *postgrestest.Server
	milvus   *milvustest.Server
}

// startServers starts both. Neither outlives this process. PostgreSQL has 512 MB of shared buffers, four times its
// default; the value is arbitrary. Milvus is the full server, not the small one.
func startServers(ctx context.Context) (s *servers, err error) {
	s = &servers{}
	if s.postgres, err = postgrestest.StartOwn(
		ctx, "fsync=on", "full_page_writes=on", "shared_buffers=512MB",
	); err != nil {
		return nil, err
	}
	if s.milvus, err = milvustest.Start(ctx, milvustest.Standalone); err != nil {
		return nil, errors.Join(err, s.postgres.Stop())
	}
	return s, nil
}

// stop stops both, even if one returns an error. Their data are deleted.
func (s *servers) stop() error { return errors.Join(s.milvus.Close(), s.postgres.Stop()) }

// serverSettings returns the settings of a Footnote on both, with originals in a directory.
func (s *servers) serverSettings(originals string) []string {
	return []string{
		"DATABASE_URL=" + s.postgres.URL, "MILVUS_ADDRESS=" + s.milvus.Address, "FOOTNOTE_BLOBS=file://" + originals,
	}
}

// chatFigures are totals over the life of a database. bytes is the size of the tables of sessions and runs, with
// their indexes.
type chatFigures struct{ transactions, bytes int64 }

// chatCosts returns the totals so far. PostgreSQL updates its transaction counter every second, so it waits a
// second and a half first.
func (s *servers) chatCosts(ctx context.Context) (f chatFigures, err error) {
	select {
	case <-time.After(1500 * time.Millisecond):
	case <-ctx.Done():
		return f, ctx.Err()
	}
	// The tables that a run writes to, without documents and their index.
	rows, err := s.postgres.Rows(ctx, s.postgres.URL,
		`SELECT xact_commit, (SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c WHERE relkind = 'r'
		AND relname IN ('sessions', 'runs', 'run_texts', 'events', 'step_outputs', 'idempotency_keys'))
		FROM pg_stat_database WHERE datname = current_database()`)
	if err != nil {
		return f, err
	}
	f.transactions, f.bytes = rows[0][0].(int64), rows[0][1].(int64)
	return f, nil
}

// treeMemory returns the memory of a process and its descendants in bytes; shared pages are counted once.
//
// PostgreSQL has a process for each connection and Milvus some helpers, and a sum of their resident sizes would
// count shared buffers many times. Processes that end meanwhile are skipped.
func treeMemory(root int) int64 {
	below := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // only fails for an invalid pattern
	for _, name := range stats {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		parent, _ := strconv.Atoi(fields[1])
		below[parent] = append(below[parent], pid)
	}
	var sum int64
	for todo := []int{root}; len(todo) > 0; {
		sum += memoryShare(todo[0])
		todo = append(todo[1:], below[todo[0]]...)
	}
	return sum
}

// memoryShare returns a process's proportional set size in bytes. The kernel calls it Pss: a page that n processes
// share counts as 1/n for each. It is 0 for a process that has ended.
func memoryShare(pid int) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(raw), "\n") {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// diskUse returns the disk usage of the files below a directory in bytes. It counts blocks, not sizes: sparse files
// count with their real usage. Servers may write meanwhile, and files that vanish are ignored.
func diskUse(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // likewise
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			sum += stat.Blocks * 512
		}
		return nil
	})
	return sum, err
}
