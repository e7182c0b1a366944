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
	startLimit = 90 * time.Second // of a worker's first answer: compiling PDFium takes seconds, on a busy machine many
	exitLimit  = 2 * time.Second  // between a worker's standard input closing and it being killed
	batchPages = 100              // the pages that one time limit is for
)

// process is one running worker. It serves one request at a time. A lane owns it: only whoever took it from there may
// ask it. stop and kill may be called from several places; it ends once.
type process struct {
	cmd   *exec.Cmd
	desk  *desk // nil: it is not confined, and reads files where they are
	stdin io.WriteCloser
	enc   *gob.Encoder
	dec   *gob.Decoder
	said  *said
	used  bool // has answered before
	pdf   bool // has loaded PDFium
	last  bool // ends by itself now
	idle  *time.Timer
	ended sync.Once
	oom   int64       // oomKills when it was started
	ours  atomic.Bool // it was we who killed it
}

// said keeps the first and the last bytes that a worker wrote to standard error: what ended it stands before its
// stacks.
type said struct {
	mu          sync.Mutex
	first, tail []byte
}

// Write implements io.Writer; it never fails, and never keeps more than 4 KiB.
func (t *said) Write(p []byte) (int, error) {
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

func (t *said) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.first) + string(t.tail)
}

// outOfMemory reports whether the runtime ended the process for want of memory or of stack. These are the words of Go's
// runtime, which ends with exit status 2 for all of its fatal errors.
func (t *said) outOfMemory() bool {
	s := t.String()
	return strings.Contains(s, "out of memory") || strings.Contains(s, "cannot allocate memory") ||
		strings.Contains(s, "stack overflow")
}

// start runs a command, confined to its program, the directory cache and a desk of its own where the system can confine
// programs. It has nothing of our environment but what a process needs to run: no keys. The program is the server's
// own, started with another argument. An error is a chat.Error of code CodeUnavailable.
func start(ctx context.Context, command []string, cache string) (_ *process, err error) {
	p := &process{said: &said{}, oom: oomKills()}
	defer func() {
		if err != nil {
			err = cannotStart(errors.Join(err, p.desk.remove()))
		}
	}()
	// It outlives the file it is started for; stop ends it.
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...)
	p.cmd.Env = child.Environ("PATH", "HOME", "TMPDIR", "SystemRoot", "TEMP", "TMP", "GOCOVERDIR")
	if refused() == nil {
		if p.desk, err = newDesk(); err != nil {
			return nil, err
		}
		p.desk.confine(p.cmd, cache)
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

// kill ends the process at once and waits for it. The reason it ended is not an error.
func (p *process) kill() { p.end(0) }

// stop lets the process end by itself, and kills it when it does not.
func (p *process) stop() { p.end(exitLimit) }

// end closes the process's input, which tells it to end, and kills it after some patience. It returns when it has
// ended.
func (p *process) end(patience time.Duration) {
	p.ended.Do(func() {
		_ = p.stdin.Close() // it may be gone already, which is as good
		timer := time.AfterFunc(patience, func() {
			p.ours.Store(true)
			p.cmd.Process.Kill()
		})
		defer timer.Stop()
		_ = p.cmd.Wait()    // how it ended was decided above
		_ = p.desk.remove() // what stays goes with the directory for temporary files
	})
}

// died is a worker ending without an answer. What becomes of the file depends on these fields, see failure and
// beforeStart.
type died struct {
	start     *Start // nil: it had not begun with the file
	timeout   bool   // it was we who ended it
	memory    bool   // it came to its limit
	signalled bool   // somebody else ended it, or the system, short of memory
	killed    bool   // by a signal that others send, while the system was not short of memory
	err       error
}

func (d *died) Error() string { return "the worker ended: " + d.err.Error() }

func (d *died) Unwrap() error { return d.err }

// sentByOthers reports whether the signal that ended a process is one that others send to end it: programs that can't
// run on a system end with SIGILL, SIGSEGV and the like.
func sentByOthers(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && slices.Contains(
		[]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT},
		status.Signal(),
	)
}

// cannotStart returns the failure of a start, which passes: no file is to blame for it.
func cannotStart(err error) error {
	return &chat.Error{
		Code:    chat.CodeUnavailable,
		Message: "Files can't be read at the moment: the process that reads them does not start. Try again later.",
		Hint:    "Its program may have been removed, or the computer has too little free memory.",
		Err:     fmt.Errorf("start a worker: %w", err),
	}
}

// hearing says how the answers of a worker to one request are taken. The time limit begins anew with each answer that
// shows progress; a worker that is busy for longer without one is killed.
type hearing struct {
	limit   time.Duration // for each batch of pages, and between other answers
	onStart func()        // called when everything needed is loaded
	report  func(done, total int)
	room    func(ctx context.Context, bytes int64) error // asks for memory for the contents that come; may be nil
}

// ask sends a request and returns the last reply, with the text and the blocks that came before. When the limit passes,
// or when ctx ends, the process is killed. It must be asked by one goroutine at a time. Errors of the connection are
// *died; after any error the process is of no further use.
func (p *process) ask(ctx context.Context, req Request, h hearing) (_ reply, err error) {
	if req.File, err = p.desk.lay(req.File); err != nil {
		return reply{}, err
	}
	var late atomic.Bool
	watchdog := time.AfterFunc(startLimit, func() {
		late.Store(true)
		p.cmd.Process.Kill()
	})
	defer watchdog.Stop()
	defer context.AfterFunc(ctx, func() { p.cmd.Process.Kill() })()

	got := collected{hearing: h, watchdog: watchdog}
	failed := func(err error) (reply, error) {
		// A process that ends by itself has closed its output; give it the time to leave its exit status.
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
			if err := p.desk.take(r.Extracted); err != nil {
				return failed(err)
			}
			p.used, p.last = true, r.Last
			p.pdf = p.pdf || got.start != nil && got.start.PDF
			return r, nil
		}
	}
}

// collected puts the replies to one request together. Nothing is allocated for contents before they were announced,
// found to be within bounds, and given room.
type collected struct {
	hearing
	watchdog *time.Timer
	start    *Start
	batch    int
	contents *Contents
	text     strings.Builder
	blocks   []corpus.Block
	words    int
}

// add takes one reply; the last one is completed. Each kind of reply winds the watchdog up. An error means that the
// worker doesn't keep to the protocol, which a sound one never does.
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
			c.watchdog.Stop() // the worker waits for us
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
