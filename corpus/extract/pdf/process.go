package pdf

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"footnote/corpus"
)

const (
	startLimit = 90 * time.Second // of a worker's first answer: compiling PDFium takes seconds, on a busy machine many
	exitLimit  = 2 * time.Second  // between a worker's standard input closing and it being killed
)

// process is one running worker. It serves one request at a time.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	enc   *gob.Encoder
	dec   *gob.Decoder
	tail  *tail
	used  bool // has answered before
	idle  *time.Timer
	ended sync.Once
}

// tail keeps the last bytes that a worker wrote to standard error.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - 4096; over > 0 {
		t.buf = t.buf[over:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}

// start runs the command with nothing of our environment but what a process needs to run: no keys.
func start(command []string) (*process, error) {
	p := &process{cmd: exec.Command(command[0], command[1:]...), tail: &tail{}}
	p.cmd.Env = []string{}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "SystemRoot", "TEMP", "TMP", "GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			p.cmd.Env = append(p.cmd.Env, name+"="+value)
		}
	}
	p.cmd.Stderr = p.tail
	p.cmd.WaitDelay = exitLimit
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the PDF worker: %w", err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the PDF worker: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the PDF worker: %w", err)
	}
	p.stdin, p.enc, p.dec = stdin, gob.NewEncoder(stdin), gob.NewDecoder(stdout)
	return p, nil
}

// kill ends the process at once and waits for it. The reason it ended is not an error.
func (p *process) kill() { p.end(0) }

// stop lets the process end by itself, and kills it when it does not.
func (p *process) stop() { p.end(exitLimit) }

func (p *process) end(patience time.Duration) {
	p.ended.Do(func() {
		p.stdin.Close() // it may be gone already, which is as good
		timer := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
		defer timer.Stop()
		p.cmd.Wait() // how it ended was decided above
	})
}

// signalled reports whether the process, which has ended, did not end by itself.
func (p *process) signalled() bool { return p.cmd.ProcessState != nil && !p.cmd.ProcessState.Exited() }

// died is a worker ending without an answer.
type died struct {
	started   bool // it had begun with the file
	timeout   bool // it was we who ended it
	signalled bool // somebody else did, or the system, short of memory
	err       error
}

func (d *died) Error() string { return "the PDF worker ended: " + d.err.Error() }

func (d *died) Unwrap() error { return d.err }

// ask sends a request and returns the last reply. onStart is called when PDFium is loaded. limit is the time for each batch of pages; when it passes, or when
// ctx ends, the process is killed.
func (p *process) ask(ctx context.Context, req request, limit time.Duration, onStart func(), report func(done, total int)) (reply, error) {
	var late atomic.Bool
	watchdog := time.AfterFunc(startLimit, func() {
		late.Store(true)
		p.cmd.Process.Kill()
	})
	defer watchdog.Stop()
	defer context.AfterFunc(ctx, func() { p.cmd.Process.Kill() })()

	failed := func(started bool, err error) (reply, error) {
		p.kill()
		if ctx.Err() != nil {
			return reply{}, ctx.Err()
		}
		return reply{}, &died{started: started, timeout: late.Load(), signalled: p.signalled(), err: fmt.Errorf("%w (%s)", err, p.tail)}
	}
	if err := p.enc.Encode(req); err != nil {
		return failed(false, err)
	}
	var blocks []corpus.Block
	for started, batch := false, 0; ; {
		var r reply
		if err := p.dec.Decode(&r); err != nil {
			return failed(started, err)
		}
		switch {
		case r.final():
			p.used = true
			if r.Extracted != nil {
				r.Extracted.Blocks = blocks
			}
			return r, nil
		case r.Started:
			started = true
			onStart()
			watchdog.Reset(limit)
		case r.Total > 0:
			if b := r.Done / batchPages; b > batch || r.Done == r.Total {
				batch = b
				watchdog.Reset(limit)
			}
			if report != nil {
				report(r.Done, r.Total)
			}
		case len(r.Blocks) > 0:
			watchdog.Reset(limit)
			blocks = append(blocks, r.Blocks...)
		default:
			return failed(started, errors.New("an empty answer"))
		}
	}
}
