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

// readerCells end the processes that read files, whatever they read. The program reads files in processes of its own,
// so that a file that crashes a reader does not crash the server.
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

// makeSmallPage makes a healthy PDF of one page.
func makeSmallPage() []byte { return onePage(pdfStream("", pageText), "") }

// killReaders kills each process that the server starts 20 ms later, and wants the file blamed for three of them, and
// files added later read.
//
// A reader that dies may be the file's fault or not. Three deaths are held to be the file's, so that it is not read
// for ever, and a file that comes after it must not suffer for it.
func (s *site) killReaders(ctx context.Context, r *result) (string, error) {
	killing, stop := context.WithCancel(ctx)
	var killer sync.WaitGroup
	seen := map[int]bool{}
	for _, pid := range childrenOf(s.server.cmd.Process.Pid) { // they wait for work
		seen[pid] = true
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	idle := len(seen)
	// It looks every 2 ms, and kills after 20 ms: a reader has begun then, and is not through.
	killer.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for killing.Err() == nil {
			for _, pid := range childrenOf(s.server.cmd.Process.Pid) {
				if !seen[pid] {
					seen[pid] = true
					// or it has ended
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
	kills := len(seen) - idle // one more where Go's first child, which only looks what the kernel can do, was seen
	// The text is what the user reads.
	if d.State != "failed" || !strings.Contains(d.describeOutcome(), "Reading this file failed three times") ||
		kills > 4 {
		r.noteProblem("after %d kills the document is %s, want it failed after three", kills, d.describeOutcome())
	}
	next, err := s.uploadFile(ctx, "", "next.pdf", onePage(pdfStream("", pageText+pageText), ""))
	if err != nil || next.State != "ready" {
		r.noteProblem("a file added later is %s, %v; want it ready", next.describeOutcome(), err)
	}
	return fmt.Sprintf("%s after %d kills; the next file: %s", d.describeOutcome(), kills, next.describeOutcome()), err
}

// loseReader takes the program's file away for ten seconds, so that no reader can start, and wants the file that was
// added meanwhile read when it is back.
//
// Here nothing is wrong with the file: no reader can be started, for the program is not there, as for a moment during
// an upgrade. So it must wait and not be failed, for as long as four attempts take.
func (s *site) loseReader(ctx context.Context, r *result) (string, error) {
	// The name is this cell's alone, a link to the copy that all have.
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
	attempts := time.NewTimer(16 * time.Second) // four attempts are over after 14
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
