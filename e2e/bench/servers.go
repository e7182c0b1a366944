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

// servers are a real PostgreSQL, which keeps every commit on the disk, and a real Milvus. Both are of this bench alone
// and are empty at first.
type servers struct {
	postgres *postgrestest.Server
	milvus   *milvustest.Server
}

// startServers starts both. Neither outlives this process. PostgreSQL has 512 MB for its buffers, four times its own
// default; that is a choice. Milvus is the whole server, not the small one.
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

// stop ends both, also when one reports an error. Their data are gone then.
func (s *servers) stop() error { return errors.Join(s.milvus.Close(), s.postgres.Stop()) }

// serverSettings are the settings of a Footnote on both, with originals in a directory.
func (s *servers) serverSettings(originals string) []string {
	return []string{
		"DATABASE_URL=" + s.postgres.URL, "MILVUS_ADDRESS=" + s.milvus.Address, "FOOTNOTE_BLOBS=file://" + originals,
	}
}

// chatFigures are sums over the life of a database. bytes are those of the tables of conversations and runs, with
// their indexes.
type chatFigures struct{ transactions, bytes int64 }

// chatCosts says what runs have cost so far. PostgreSQL brings its count of transactions up to date every second. That
// is why it waits a second and a half first.
func (s *servers) chatCosts(ctx context.Context) (f chatFigures, err error) {
	select {
	case <-time.After(1500 * time.Millisecond):
	case <-ctx.Done():
		return f, ctx.Err()
	}
	// The tables are those that a run writes to. Documents and their index are not among them.
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

// treeMemory returns the resident bytes of a process and all below it; what they share is counted once.
//
// PostgreSQL has a process for each connection and Milvus some helpers, and a sum of what each has resident would
// count shared buffers many times. Processes that end meanwhile are left out.
func treeMemory(root int) int64 {
	below := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // only fails for a bad pattern
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

// memoryShare is a process's part of the memory that it uses, in bytes. The kernel calls it Pss: a page that n
// processes share counts as 1/n for each. It is 0 for a process that has ended.
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

// diskUse returns the bytes that files below a directory take on the disk. They are blocks, not sizes: files with
// holes count with what they really take. Servers may write meanwhile, and files that vanish are no error.
func diskUse(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a file that came and went
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
