// Package command holds the common parts of all commands: their environment ([Program]), the connection to a server
// ([Program.Connect]), and the output of progress and errors.
//
// Each command is a type in its own package with a method Run; main lists it in the table of commands. Tests of a
// command use their own Program.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/release"
	"github.com/footnote/footnote/cmd/footnote/remote"
	"github.com/footnote/footnote/cmd/footnote/settings"
)

// Program is the environment of a command.
type Program struct {
	Ctx      context.Context //nolint:containedctx // one process has one
	Settings *settings.Settings
	Built    release.Info
	// Start runs a server in this process for one command, on a claimed data directory. main sets it, so that the
	// commands do not depend on the server's package.
	Start  func(p *Program, dir *datadir.Dir) (*remote.Server, error)
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// Message returns the error message for a terminal: the sentence, then the cause.
func Message(err error) string {
	if e, ok := errors.AsType[*chat.Error](err); ok && e.Err == nil {
		return e.Advice()
	}
	return err.Error()
}

// Runner is a command.
type Runner interface{ Run(p *Program) error }

// QuietLogger logs warnings and errors only: commands print their own progress.
func QuietLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// OneLine removes line breaks from untrusted text, so that none of it can look like a line of the program.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Connect returns the server that the settings name or that uses the data directory. Otherwise it starts one in
// this process.
func (p *Program) Connect() (*remote.Server, error) {
	key := string(p.Settings.APIKey)
	if p.Settings.Server != "" {
		return &remote.Server{URL: strings.TrimRight(p.Settings.Server, "/"), Key: key}, nil
	}
	dir, err := datadir.Claim(p.Settings.Data)
	if busy, ok := errors.AsType[*datadir.InUse](err); ok && busy.URL != "" {
		return &remote.Server{URL: busy.URL, Key: key}, nil
	}
	if err != nil {
		return nil, err
	}
	server, err := p.Start(p, dir)
	if err != nil {
		return nil, errors.Join(err, dir.Release())
	}
	return server, nil
}

// Bar is a progress bar. On a terminal it is redrawn in place; elsewhere it prints a line at each tenth, and when
// the operation changes.
type Bar struct {
	out      io.Writer
	total    int
	terminal bool
	tenth    int
	doing    string
}

// NewBar returns a bar for a terminal. For other output it prints a line for every tenth, so that logs stay short.
func NewBar(out io.Writer, total int) *Bar {
	b := &Bar{out: out, total: total, tenth: -1}
	if file, ok := out.(*os.File); ok {
		info, err := file.Stat()
		b.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return b
}

// Draw shows that done items of the total are finished, and the current item.
func (b *Bar) Draw(doing string, done int, what string) {
	const width = 24
	if b.terminal {
		full := width * done / b.total
		fmt.Fprintf(
			b.out, "\r\x1b[K[%s%s] %d/%d %s %s", strings.Repeat("█", full), strings.Repeat("·", width-full), done,
			b.total, doing, shortenLeft(what, 48),
		)
		return
	}
	if tenth := 10 * done / b.total; tenth != b.tenth || doing != b.doing {
		b.tenth, b.doing = tenth, doing
		fmt.Fprintf(b.out, "%d/%d %s\n", done, b.total, doing)
	}
}

// End replaces the bar with a last line.
func (b *Bar) End(line string) {
	if b.terminal {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
	fmt.Fprintln(b.out, line)
}

// shortenLeft keeps the end of a text, where paths differ.
func shortenLeft(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return "…" + string(runes[len(runes)-most+1:])
}
