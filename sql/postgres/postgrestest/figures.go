package postgrestest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Counting is a setting of an own server that loads pg_stat_statements.
const Counting = "shared_preload_libraries=pg_stat_statements"

// Database creates a database on an own server and returns its URL. It fails for a server that the environment
// configures. The database is deleted with the server.
func (s *Server) Database(ctx context.Context, name string) (string, error) {
	if s.dir == "" {
		return "", errors.New("the server is not an own one")
	}
	if _, err := s.Rows(ctx, s.URL, `CREATE DATABASE `+pgx.Identifier{name}.Sanitize()); err != nil {
		return "", err
	}
	return strings.Replace(s.URL, "/postgres?", "/"+name+"?", 1), nil
}

// Rows runs one statement in the database at url and returns its rows. It opens a separate connection, so it is safe
// for concurrent use. Values have pgx's default types.
func (s *Server) Rows(ctx context.Context, url, statement string, args ...any) ([][]any, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
}

// A Statement is an entry of pg_stat_statements, on an own server with the setting Counting.
type Statement struct {
	Text  string // without its values
	Calls int64
	Time  time.Duration // of all calls, without their commits
}

// Statements returns the statements of a database since Forget, most called first, without those inside functions.
func (s *Server) Statements(ctx context.Context, name string) (list []Statement, err error) {
	rows, err := s.Rows(ctx, s.URL, `SELECT query, calls, total_exec_time FROM pg_stat_statements JOIN pg_database d
		ON d.oid = dbid
		WHERE toplevel AND datname = $1 ORDER BY calls DESC`, name)
	for _, row := range rows {
		list = append(list, Statement{
			row[0].(string), row[1].(int64), time.Duration(row[2].(float64) * float64(time.Millisecond)),
		})
	}
	return list, err
}

// Forget resets the counters of an own server with Counting.
func (s *Server) Forget(ctx context.Context) error {
	if _, err := s.Rows(ctx, s.URL, `CREATE EXTENSION IF NOT EXISTS pg_stat_statements`); err != nil {
		return err
	}
	_, err := s.Rows(ctx, s.URL, `SELECT pg_stat_statements_reset()`)
	return err
}

// CPU returns the CPU time of an own server's processes, including ended ones, with a resolution of 10 ms. It reads
// /proc, so it works on Linux only.
func (s *Server) CPU() (sum time.Duration, err error) {
	pid, err := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	postmaster, _, _ := strings.Cut(string(pid), "\n")
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	for _, entry := range entries {
		raw, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "stat"))
		end := bytes.LastIndexByte(raw, ')')
		if err != nil || end < 0 {
			// Fields 14 and 15 of /proc/PID/stat are the process's own CPU time, 16 and 17 that of its ended
			// children.
			continue // not a process, or an ended one
		}
		fields, last := strings.Fields(string(raw[end+2:])), 0
		switch postmaster {
		case fields[1]: // a child
			last = 13
		case entry.Name():
			last = 15
		default:
			continue
		}
		for _, ticks := range fields[11:last] {
			n, err := strconv.ParseInt(ticks, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read the processor time of process %s: %w", entry.Name(), err)
			}
			sum += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return sum, nil
}
