//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// readerCells kill the worker processes that parse files. The program parses files in separate processes, so that a
// file that crashes a worker does not crash the server.
func readerCells() []cell {
	return []cell{
		{name: "reader: killed as it starts", act: func(ctx context.Context, s *site, r *result) (string, error) {
			return s.killReaders(ctx, r)
		}},
		{name: "reader: its program is gone", act: func(ctx context.Context, s *site, r *result) (string, error) {
			return s.loseReader(ctx, r)
		}},
	}
}

// makeSmallPage returns a valid PDF of one page.
func makeSmallPage() []byte { return onePage(pdfStream("", pageText), "") }

// killReaders kills each worker of the server after 20 ms, and checks that the file fails after three deaths, and
// that later files are parsed.
//
// A worker's death may be the file's fault or not. After three deaths it is attributed to the file, which ends the
// retries, and a file after it must not be affected.
func (s *site) killReaders(ctx context.Context, r *result) (string, error) {
	killing, stop := context.WithCancel(ctx)
	var killer sync.WaitGroup
	seen := map[int]bool{}
	for _, pid := range childrenOf(s.server.cmd.Process.Pid) { // idle workers
		seen[pid] = true
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	idle := len(seen)
	// It polls every 2 ms, and kills after 20 ms: a worker has started then, and is not done.
	killer.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for killing.Err() == nil {
			for _, pid := range childrenOf(s.server.cmd.Process.Pid) {
				if !seen[pid] {
					seen[pid] = true
					// The process may have ended already.
					time.AfterFunc(20*time.Millisecond, func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
				}
			}
			select {
			case <-tick.C:
			case <-killing.Done():
			}
		}
	})
	d, err := s.uploadFile(ctx, "", "small.pdf", makeSmallPage())
	stop()
	killer.Wait()
	if err != nil {
		return "", err
	}
	kills := len(seen) - idle // Go's first child, which only probes the kernel, may count as one more
	// The text is shown to the user.
	if d.State != "failed" || !strings.Contains(d.describeOutcome(), "Import failed three times") ||
		kills > 4 {
		r.noteProblem("after %d kills the document is %s, want it failed after three", kills, d.describeOutcome())
	}
	next, err := s.uploadFile(ctx, "", "next.pdf", onePage(pdfStream("", pageText+pageText), ""))
	if err != nil || next.State != "ready" {
		r.noteProblem("a file added later is %s, %v; want it ready", next.describeOutcome(), err)
	}
	return fmt.Sprintf("%s after %d kills; the next file: %s", d.describeOutcome(), kills, next.describeOutcome()), err
}

// loseReader removes the program's file for ten seconds, so that no worker can start, and checks that a file added
// meanwhile is parsed afterwards.
//
// The file is valid here: no worker can start because the program is missing, as for a moment during an upgrade. So
// the file must wait and not fail, for the duration of four retries.
func (s *site) loseReader(ctx context.Context, r *result) (string, error) {
	// The name is used only by this cell, a link to the shared copy.
	away := s.binary + ".away"
	if err := os.Rename(s.binary, away); err != nil {
		return "", err
	}
	got, err := s.putFile(ctx, "", "small.pdf", makeSmallPage())
	if err != nil {
		return "", errors.Join(err, os.Rename(away, s.binary))
	}
	var said added
	if err := json.Unmarshal(got.body, &said); err != nil || len(said.Documents) != 1 {
		return "", fmt.Errorf("upload: status %d: %s", got.status, clipBytes(got.body))
	}
	id := said.Documents[0].ID
	attempts := time.NewTimer(16 * time.Second) // four attempts take 14
	defer attempts.Stop()
	select {
	case <-attempts.C:
	case <-ctx.Done():
	}
	meanwhile, err := s.getPath(ctx, "", "/documents/"+id, "application/json")
	if err = errors.Join(err, os.Rename(away, s.binary)); err != nil {
		return "", err
	}
	if strings.Contains(string(meanwhile.body), `"failed"`) {
		r.noteProblem("while no reader could start the document was %s, want it waiting", clipBytes(meanwhile.body))
	}
	d, err := s.waitSettled(ctx, "", id)
	if err != nil || d.State != "ready" {
		r.noteProblem("when the program was back the document was %s, %v; want it ready", d.describeOutcome(), err)
	}
	return "then " + d.describeOutcome(), nil
}
