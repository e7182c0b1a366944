//go:build linux || darwin

package sqlite

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// cpu returns the processor time that this process has used.
func cpu(b *testing.B) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// measure runs work b.N times in total on the given number of goroutines and reports the processor time per
// operation.
func measure(b *testing.B, parallel int, work func(worker int)) {
	b.Helper()
	b.ReportAllocs()
	before := cpu(b)
	b.ResetTimer()
	var wg sync.WaitGroup
	for worker := range parallel {
		wg.Go(func() {
			for range (b.N + parallel - 1) / parallel {
				work(worker)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/1000/float64(b.N), "cpu-µs/op")
}

func startBench(b *testing.B, chats *Chats) chat.Run {
	run, _, err := chats.StartRun(b.Context(), chat.LocalUser, chat.RunRequest{Message: "How long is the roof?"},
		chat.Lease{Owner: "server", Until: time.Now().Add(time.Hour)})
	if err != nil {
		b.Fatal(err)
	}
	return run
}

// BenchmarkStart starts and ends a run, both for the local user and for a user with limits.
func BenchmarkStart(b *testing.B) {
	for _, user := range []string{chat.LocalUser, "anna"} {
		b.Run("user="+user, func(b *testing.B) {
			chats := openNew(b).Chats()
			chats.SetLimits(chat.Limits{
				chat.RunsAtOnce: 4, chat.QuestionsPerMinute: 1 << 30, chat.QuestionsPerDay: 1 << 30,
			})
			measure(b, 1, func(int) {
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
			db := openNew(b)
			chats := db.Chats()
			ids := make([]string, runs)
			for i := range ids {
				ids[i] = startBench(b, chats).ID
			}
			delta := chat.AnswerDelta{Text: strings.Repeat("word ", 51)}
			measure(b, runs, func(worker int) {
				if _, err := chats.Append(b.Context(), "server", ids[worker], delta); err != nil {
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
			db := openNew(b)
			chats := db.Chats()
			feed := chat.NewFeed(chats)
			measure(b, runs, func(int) { benchRun(b, chats, feed) })
		})
	}
}

func benchRun(b *testing.B, chats *Chats, feed *chat.Feed) {
	run := startBench(b, chats)
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
