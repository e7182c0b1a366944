package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// appendForEver is the child process: three runs at once, each stored write acknowledged on standard output as "run
// last".
func appendForEver(path string) {
	ctx := context.Background()
	db, err := Open(ctx, path, slog.New(slog.DiscardHandler))
	if err != nil {
		log.Fatal(err)
	}
	chats := db.Chats()
	var out sync.Mutex
	acknowledge := func(run string, last int64) {
		out.Lock()
		defer out.Unlock()
		fmt.Println(run, last)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				run, _, err := chats.StartRun(ctx, chat.LocalUser, chat.RunRequest{Message: "q"},
					chat.Lease{Owner: "child"})
				if err != nil {
					log.Fatal(err)
				}
				acknowledge(run.ID, 0)
				for i := range 15 {
					payloads := []chat.Payload{
						chat.AnswerDelta{Text: strings.Repeat("x", 300)}, chat.Step{CallID: "c", Message: "m"},
					}
					if i == 14 {
						payloads = []chat.Payload{chat.Answer{Markdown: "a"}, chat.RunDone{Status: chat.RunCompleted}}
					}
					events, err := chats.Append(ctx, "child", run.ID, payloads...)
					if err != nil {
						log.Fatal(err)
					}
					acknowledge(run.ID, events[len(events)-1].Seq)
				}
			}
		})
	}
	wg.Wait()
}

func TestKilledProcessKeepsWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "footnote.db")
	acknowledged := make(map[string]int64) // over all lives of the file
	random := rand.New(rand.NewPCG(4, 2))
	for range 8 {
		killAfter(t, path, 1+random.IntN(400), acknowledged)
		checkLogs(t, path, acknowledged)
	}
}

// killAfter runs the child until it has acknowledged n writes, kills it and notes all that it acknowledged.
func killAfter(t *testing.T, path string, n int, acknowledged map[string]int64) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for seen := 0; lines.Scan(); seen++ {
		if seen == n {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		run, last, _ := strings.Cut(lines.Text(), " ")
		seq, err := strconv.ParseInt(last, 10, 64)
		if err != nil {
			continue // the line was cut by the kill
		}
		acknowledged[run] = max(acknowledged[run], seq)
	}
	if err := child.Wait(); err == nil || child.ProcessState.Success() {
		t.Fatalf("the child ended by itself: %v", err)
	}
}

func checkLogs(t *testing.T, path string, acknowledged map[string]int64) {
	t.Helper()
	db, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("reopen: %v, want no error", err)
	}
	checkIntegrity(t, db)
	chats := db.Chats()
	for run, last := range acknowledged {
		events, err := chats.Events(t.Context(), chat.Local, run, 0, chat.MaxPage)
		if err != nil || int64(len(events)) < last {
			t.Errorf("run %s has %d events, %v; %d were acknowledged", run, len(events), err, last)
			continue
		}
		for i, e := range events {
			if _, err := e.Payload(); err != nil || e.Seq != int64(i)+1 {
				t.Errorf("run %s: event %d where %d belongs, %v; want %d", run, e.Seq, i+1, err, int64(i)+1)
			}
		}
		got, err := chats.Run(t.Context(), chat.Local, run)
		over := len(events) > 0 && events[len(events)-1].Type == chat.KindRunDone
		if err != nil || over != (got.Status == chat.RunCompleted) || over != (got.Answer == "a") {
			t.Errorf("run %s is %s with answer %q, %v; its log is over: %v; want %v and %v",
				run, got.Status, got.Answer, err, over, (got.Status == chat.RunCompleted), (got.Answer == "a"))
		}
	}
	// The next server takes over what was under way, once.
	runs, err := chats.TakeOver(t.Context(), chat.Lease{Owner: "next", Until: time.Now().Add(time.Hour)}, time.Now())
	if err != nil {
		t.Fatalf("TakeOver: %v, want no error", err)
	}
	for _, run := range runs {
		if _, err := chats.Append(t.Context(), "next", run.ID, chat.RunDone{Status: chat.RunInterrupted}); err != nil {
			t.Errorf("end run %s: %v, want no error", run.ID, err)
		}
		delete(acknowledged, run.ID) // its state is no longer the child's
	}
	if err := db.Close(); err != nil {
		t.Errorf("Close: %v, want no error", err)
	}
}

// checkIntegrity asks SQLite whether the file and its references are whole.
func checkIntegrity(t *testing.T, db *DB) {
	t.Helper()
	var verdict string
	if err := db.readers.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&verdict); err != nil ||
		verdict != "ok" {
		t.Errorf("integrity_check: %s, %v; want %q", verdict, err, "ok")
	}
	var broken int
	if err := db.readers.QueryRowContext(t.Context(),
		`SELECT count(*) FROM pragma_foreign_key_check`).Scan(&broken); err != nil || broken != 0 {
		t.Errorf("foreign_key_check: %d rows, %v; want 0", broken, err)
	}
}
