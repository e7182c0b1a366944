package worker

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/footnote/footnote/corpus/extract/child"
)

// ServeByItself is Serve without the kernel's memory limit.
func ServeByItself(ctx context.Context, in io.Reader, out io.Writer, h Handler) error {
	limitMemory()
	return serve(ctx, in, out, h)
}

// KillBusy kills the busy reading processes.
func (p *Pool) KillBusy() {
	p.reading.mu.Lock()
	defer p.reading.mu.Unlock()
	for w := range p.reading.busy {
		w.cmd.Process.Kill()
	}
}

// KillDrawing kills the process that renders.
func (p *Pool) KillDrawing() {
	p.drawing.mu.Lock()
	defer p.drawing.mu.Unlock()
	for w := range p.drawing.busy {
		w.cmd.Process.Kill()
	}
}

// KillIdle kills the idle reading process.
func (p *Pool) KillIdle() { p.idle().cmd.Process.Kill() }

func (p *Pool) idle() *process {
	p.reading.mu.Lock()
	defer p.reading.mu.Unlock()
	return p.reading.waiting[0]
}

// RetireIdle ends the idle reading process as after its idle timeout, and returns its exit state.
func (p *Pool) RetireIdle() *os.ProcessState {
	w := p.idle()
	p.reading.retire(w)
	p.reading.ending.Wait()
	return w.cmd.ProcessState
}

// Pids returns the process ids of the idle reading processes.
func (p *Pool) Pids() (pids []int) {
	p.reading.mu.Lock()
	defer p.reading.mu.Unlock()
	for _, w := range p.reading.waiting {
		pids = append(pids, w.cmd.Process.Pid)
	}
	return pids
}

// AwaitExpected waits until the process that Expect started is ready.
func (p *Pool) AwaitExpected() { p.drawing.ending.Wait() }

// HasOneReady reports whether exactly one rendering process is idle, with PDFium loaded.
func (p *Pool) HasOneReady() bool {
	p.drawing.mu.Lock()
	defer p.drawing.mu.Unlock()
	return len(p.drawing.waiting) == 1 && p.drawing.waiting[0].used && p.drawing.waiting[0].pdf
}

// Loaded reports whether PDFium was loaded, and the number of tokens for the first load.
func (p *Pool) Loaded() (bool, int) { return p.loaded.Load(), len(p.first) }

// Environment returns the environment of a started process.
func Environment(ctx context.Context, command []string) ([]string, error) {
	p, err := start(ctx, command, "")
	if err != nil {
		return nil, err
	}
	p.kill()
	return p.cmd.Environ(), nil
}

// Lanes is workersFor.
func Lanes(memory int64) (reading, drawing int) { return workersFor(memory) }

// Unconfined disables confinement until the test ends.
func Unconfined(t *testing.T) {
	refused = func() error { return errors.New("a test runs it unconfined") }
	t.Cleanup(func() { refused = child.Refused })
}
