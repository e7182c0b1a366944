//go:build linux || darwin

package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/footnote/footnote/chat"
)

// tally is a query tracer that counts statements.
type tally struct{ n atomic.Int64 }

func (c *tally) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}

func (c *tally) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// cpu returns the processor time that this process has used.
func cpu(b *testing.B) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// serverCPU returns the processor time that the server's processes have used, in steps of 10 ms. It returns 0 if
// that time cannot be read.
func serverCPU(b *testing.B, db *DB) (sum time.Duration) {
	var postmaster string
	if err := db.queryRow(b.Context(), longTime, `SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)`, nil,
		&postmaster); err != nil {
		b.Fatal(err)
	}
	entries, _ := os.ReadDir("/proc") // only Linux has /proc
	for _, entry := range entries {
		raw, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		_, after, ok := strings.Cut(string(raw), ") ")
		if fields := strings.Fields(after); err == nil && ok && len(fields) > 12 && fields[1] == postmaster {
			for _, ticks := range fields[11:13] {
				n, _ := time.ParseDuration(ticks + "0ms")
				sum += n
			}
		}
	}
	return sum
}

// measure runs work b.N times in total on the given number of goroutines. It reports the processor time and the
// number of statements per operation.
func measure(b *testing.B, parallel int, work func(db *DB, worker int)) {
	b.Helper()
	count := &tally{}
	db, err := openTraced(b.Context(), server.Schema(b), slog.New(slog.DiscardHandler), count)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	work(db, 0) // prepares the statements
	before, beforeServer := cpu(b), serverCPU(b, db)
	count.n.Store(0)
	b.ResetTimer()
	var wg sync.WaitGroup
	for worker := range parallel {
		wg.Go(func() {
			for range (b.N + parallel - 1) / parallel {
				work(db, worker)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	n := float64((b.N + parallel - 1) / parallel * parallel)
	b.ReportMetric(float64(count.n.Load())/n, "statements/op")
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/n, "cpu-µs/op")
	b.ReportMetric(float64((serverCPU(b, db)-beforeServer).Microseconds())/n, "server-cpu-µs/op")
}

// BenchmarkStart starts and ends a run, both for the local user and for a user with limits.
func BenchmarkStart(b *testing.B) {
	for _, user := range []string{chat.LocalUser, "anna"} {
		b.Run("user="+user, func(b *testing.B) {
			measure(b, 1, func(db *DB, _ int) {
				chats := db.Chats()
				chats.SetLimits(chat.Limits{
					chat.RunsAtOnce: 4, chat.QuestionsPerMinute: 1 << 30, chat.QuestionsPerDay: 1 << 30,
				})
				run, _, err := chats.StartRun(b.Context(), user, chat.RunRequest{Message: "How long is the roof?"},
					chat.Lease{Owner: "server", Until: time.Now().Add(time.Hour)})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := chats.Append(b.Context(), "server", run.ID,
					chat.RunDone{Status: chat.RunCompleted}); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkAppend appends one delta of 256 bytes per operation.
func BenchmarkAppend(b *testing.B) {
	for _, runs := range []int{1, 64} {
		b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) {
			var mu sync.Mutex
			ids := make(map[int]string)
			delta := chat.AnswerDelta{Text: strings.Repeat("word ", 51)}
			measure(b, runs, func(db *DB, worker int) {
				mu.Lock()
				id := ids[worker]
				mu.Unlock()
				if id == "" {
					id = startRunOn(b, db).ID
					mu.Lock()
					ids[worker] = id
					mu.Unlock()
				}
				if _, err := db.Chats().Append(b.Context(), "server", id, delta); err != nil {
					b.Error(err)
				}
			})
		})
	}
}

// BenchmarkRun stores a complete run in 12 appends through the feed, while one reader follows it.
func BenchmarkRun(b *testing.B) {
	for _, runs := range []int{1, 32} {
		b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) {
			measure(b, runs, func(db *DB, _ int) { benchRun(b, db, chat.NewFeed(db.Chats())) })
		})
	}
}

func benchRun(b *testing.B, db *DB, feed *chat.Feed) {
	run := startRunOn(b, db)
	wake, stop := feed.Watch(run.ID)
	defer stop()
	at := int64(0)
	say := func(payloads ...chat.Payload) {
		news := wake()
		if err := feed.Append(b.Context(), "server", run.ID, payloads...); err != nil {
			b.Error(err)
		}
		<-news
		page, err := feed.Read(b.Context(), chat.Local, run.ID, at)
		if err != nil {
			b.Error(err)
		}
		at = page.Last
	}
	step := chat.Step{
		CallID: "c1", Step: "search_documents", ActionType: chat.ActionSearching, Message: "Searching for: roof",
		ToolName: "search_documents", ToolInput: json.RawMessage(`{"query":"roof"}`), Status: chat.StatusRunning,
		ToolStatus: chat.StatusRunning,
	}
	done := step
	done.ToolOutput = json.RawMessage(`{"results":"` + strings.Repeat("passage ", 250) + `"}`)
	say(chat.RunStarted{SessionID: run.SessionID, Question: "How long is the roof?"}, step)
	for range 2 {
		say(step)
		say(done)
	}
	for range 5 {
		say(chat.AnswerDelta{Text: strings.Repeat("word ", 50)})
	}
	say(chat.Citation{Number: 1, Quote: "The roof is long."}, chat.AnswerDelta{Text: "[1]."})
	say(chat.Answer{Markdown: strings.Repeat("word ", 250)}, chat.RunDone{Status: chat.RunCompleted})
}
