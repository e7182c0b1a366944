package worker

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/child"
)

const (
	// timeout of a worker's first reply: compiling PDFium takes seconds, on a busy machine many
	startLimit = 90 * time.Second
	exitLimit  = 2 * time.Second // timeout between closing a worker's standard input and killing it
	batchPages = 100             // pages per batch; the timeout is for one batch
)

// process is one running worker. It serves one request at a time. A lane owns it: only the caller of lane.take may
// ask it. stop and kill are idempotent and safe for concurrent use.
type process struct {
	cmd   *exec.Cmd
	dirs  *sharedDirs // nil: it is not confined, and reads files in place
	stdin io.WriteCloser
	enc   *gob.Encoder
	dec   *gob.Decoder
	said  *stderrExcerpt
	used  bool // has answered a request
	pdf   bool // has loaded PDFium
	last  bool // exits after this reply
	idle  *time.Timer
	ended sync.Once
	oom   int64       // oomKills at its start
	ours  atomic.Bool // this process killed it
}

// stderrExcerpt keeps the first and the last bytes of a worker's standard error, because the reason of a crash precedes
// its stack traces.
type stderrExcerpt struct {
	mu          sync.Mutex
	first, tail []byte
}

// Write implements io.Writer. It never fails, and keeps at most 4 KiB.
func (t *stderrExcerpt) Write(p []byte) (int, error) {
	const most = 2048
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(len(p), most-len(t.first))
	t.first = append(t.first, p[:n]...)
	t.tail = append(t.tail, p[n:]...)
	if over := len(t.tail) - most; over > 0 {
		t.tail = t.tail[over:]
	}
	return len(p), nil
}

func (t *stderrExcerpt) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.first) + string(t.tail)
}

// outOfMemory reports whether the Go runtime ended the process for lack of memory or of stack. It matches the
// runtime's messages, since exit status 2 is that of all its fatal errors.
func (t *stderrExcerpt) outOfMemory() bool {
	s := t.String()
	return strings.Contains(s, "out of memory") || strings.Contains(s, "cannot allocate memory") ||
		strings.Contains(s, "stack overflow")
}

// start starts a worker's command. Where the system supports confinement, it is confined to its program, the cache
// directory and sharedDirs. The environment contains only what a process needs to run, and no keys. The program is the
// server's executable with another argument. An error is a chat.Error of code CodeUnavailable.
func start(ctx context.Context, command []string, cache string) (_ *process, err error) {
	p := &process{said: &stderrExcerpt{}, oom: oomKills()}
	defer func() {
		if err != nil {
			err = cannotStart(errors.Join(err, p.dirs.remove()))
		}
	}()
	// The worker outlives the request; stop ends it.
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...)
	p.cmd.Env = child.Environ("PATH", "HOME", "TMPDIR", "SystemRoot", "TEMP", "TMP", "GOCOVERDIR")
	if refused() == nil {
		if p.dirs, err = newSharedDirs(); err != nil {
			return nil, err
		}
		p.dirs.confine(p.cmd, cache)
	}
	p.cmd.Stderr = p.said
	p.cmd.WaitDelay = exitLimit
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.stdin, p.enc, p.dec = stdin, gob.NewEncoder(stdin), gob.NewDecoder(stdout)
	return p, nil
}

// kill ends the process at once and waits for it. It ignores the exit status.
func (p *process) kill() { p.end(0) }

// stop lets the process exit by itself, and kills it after a timeout.
func (p *process) stop() { p.end(exitLimit) }

// end closes the process's input as a request to exit, and kills it after patience. It returns when the process has
// ended.
func (p *process) end(patience time.Duration) {
	p.ended.Do(func() {
		_ = p.stdin.Close() // may be closed already
		timer := time.AfterFunc(patience, func() {
			p.ours.Store(true)
			p.cmd.Process.Kill()
		})
		defer timer.Stop()
		_ = p.cmd.Wait()    // the exit status is in ProcessState
		_ = p.dirs.remove() // leftovers are in the directory for temporary files
	})
}

// died is the error of a worker that ended without a reply. Its fields decide what happens to the file, see failure
// and beforeStart.
type died struct {
	start     *Start // nil: it had not begun with the file
	timeout   bool   // the watchdog ended it
	memory    bool   // it exceeded its memory limit
	signalled bool   // ended by a signal, such as by a person or the out-of-memory killer
	killed    bool   // ended by a typical signal of others, while the out-of-memory killer was not active
	err       error
}

func (d *died) Error() string { return "the worker ended: " + d.err.Error() }

func (d *died) Unwrap() error { return d.err }

// sentByOthers reports whether the signal that ended a process is typically sent from outside. Programs that can't
// run on a system end with SIGILL, SIGSEGV and the like.
func sentByOthers(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && slices.Contains(
		[]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT},
		status.Signal(),
	)
}

// cannotStart returns the error for a worker that can't start. The cause is temporary and not the file.
func cannotStart(err error) error {
	return &chat.Error{
		Code:    chat.CodeUnavailable,
		Message: "Files can't be processed right now because the worker process failed to start. Try again later.",
		Hint:    "Its program may have been removed, or the computer has too little free memory.",
		Err:     fmt.Errorf("start a worker: %w", err),
	}
}

// replyOptions configures how the replies to one request are handled. Each reply that shows progress resets the
// timeout. A worker without progress for longer is killed.
type replyOptions struct {
	limit   time.Duration // timeout for each batch of pages, and between other replies
	onStart func()        // called when everything needed is loaded
	report  func(done, total int)
	room    func(ctx context.Context, bytes int64) error // reserves memory for the announced contents; may be nil
}

// ask sends a request and returns the last reply, completed with the text and blocks of earlier replies. It kills
// the process after the timeout, or when ctx ends. It must be called by one goroutine at a time. Errors of the
// connection are *died; after any error the process must not be used again.
func (p *process) ask(ctx context.Context, req Request, h replyOptions) (_ reply, err error) {
	if req.File, err = p.dirs.putFile(req.File); err != nil {
		return reply{}, err
	}
	var late atomic.Bool
	watchdog := time.AfterFunc(startLimit, func() {
		late.Store(true)
		p.cmd.Process.Kill()
	})
	defer watchdog.Stop()
	defer context.AfterFunc(ctx, func() { p.cmd.Process.Kill() })()

	got := collected{replyOptions: h, watchdog: watchdog}
	failed := func(err error) (reply, error) {
		// A process that exits by itself has closed its output; wait for its exit status.
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) {
			p.stop()
		} else {
			p.kill()
		}
		if ctx.Err() != nil {
			return reply{}, ctx.Err()
		}
		d := &died{start: got.start, timeout: late.Load(), err: fmt.Errorf("%w (%s)", err, p.said)}
		if state := p.cmd.ProcessState; state != nil {
			d.memory = !d.timeout && (state.ExitCode() == memoryExit || state.ExitCode() > 0 && p.said.outOfMemory())
			d.signalled = !d.timeout && !state.Exited()
			d.killed = d.signalled && !p.ours.Load() && sentByOthers(state) && oomKills() == p.oom
		}
		return reply{}, d
	}
	if err := p.enc.Encode(req); err != nil {
		return failed(err)
	}
	for {
		var r reply
		if err := p.dec.Decode(&r); err != nil {
			return failed(err)
		}
		done, err := got.add(ctx, &r)
		if err != nil {
			return failed(err)
		}
		if done {
			if err := p.dirs.moveMembers(r.Extracted); err != nil {
				return failed(err)
			}
			p.used, p.last = true, r.Last
			p.pdf = p.pdf || got.start != nil && got.start.PDF
			return r, nil
		}
	}
}

// collected assembles the replies to one request. It allocates memory for contents only after they were announced,
// validated against the bounds, and reserved.
type collected struct {
	replyOptions
	watchdog *time.Timer
	start    *Start
	batch    int
	contents *Contents
	text     strings.Builder
	blocks   []corpus.Block
	words    int
}

// add handles one reply, and completes the last one. Each kind of reply resets the watchdog. An error means a
// violation of the protocol, which a sound worker never causes.
func (c *collected) add(ctx context.Context, r *reply) (done bool, err error) {
	switch {
	case r.final():
		r.began = c.start != nil
		if r.Extracted == nil {
			return true, nil
		}
		if c.contents == nil || c.text.Len() != c.contents.Text || len(c.blocks) != c.contents.Blocks {
			return false, errors.New("an answer without the contents that were announced")
		}
		r.Extracted.Text, r.Extracted.Blocks = c.text.String(), c.blocks
		return true, nil
	case r.Started != nil:
		c.start = r.Started
		c.onStart()
		c.watchdog.Reset(c.limit)
	case r.Total > 0:
		if b := r.Done / batchPages; b > c.batch || r.Done == r.Total {
			c.batch = b
			c.watchdog.Reset(c.limit)
		}
		if c.report != nil {
			c.report(r.Done, r.Total)
		}
	case r.Contents != nil:
		if c.contents != nil || !r.Contents.fits() {
			return false, errors.New("an answer larger than any can be")
		}
		c.contents = r.Contents
		if c.room != nil {
			c.watchdog.Stop() // the worker waits for the reservation
			if err := c.room(ctx, r.Contents.bytes()); err != nil {
				return false, err
			}
		}
		c.text.Grow(r.Contents.Text)
		c.blocks = make([]corpus.Block, 0, r.Contents.Blocks)
		c.watchdog.Reset(c.limit)
	case r.Text != "" || len(r.Blocks) > 0:
		c.watchdog.Reset(c.limit)
		c.text.WriteString(r.Text)
		for _, b := range r.withHeadings() {
			c.words += len(b.Words)
			c.blocks = append(c.blocks, b)
		}
		if c.contents == nil || c.text.Len() > c.contents.Text || len(c.blocks) > c.contents.Blocks ||
			c.words > c.contents.Words {
			return false, errors.New("more contents than were announced")
		}
	default:
		return false, errors.New("an empty answer")
	}
	return false, nil
}
