// Package command is what all commands of the program have in common: what they may use of the world outside
// ([Program]), the way to a server ([Program.Connect]), and how they show progress and failures to a person.
//
// Each command is a type of its room with a method Run; main names it in the table of commands. Rooms are tested by
// giving them a Program of their own.
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

// Program is what a command may use of the world outside.
type Program struct {
	Ctx      context.Context //nolint:containedctx // one process has one
	Settings *settings.Settings
	Built    release.Info
	// Start has a server of this process answer for one command, on a data directory that is claimed. main sets it, so
	// that the rooms know no server.
	Start  func(p *Program, dir *datadir.Dir) (*remote.Server, error)
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// Message is what a person at a terminal is told: the sentence, then the cause.
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

// OneLine is a text without line breaks, so that nothing in it can look like a line of the program's own.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Connect finds the server that the settings name or that has the data directory, or starts one in this process.
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
// another thing is being done.
type Bar struct {
	out      io.Writer
	total    int
	terminal bool
	tenth    int
	doing    string
}

// NewBar draws on a terminal; elsewhere it prints a line for every tenth, so that logs stay short.
func NewBar(out io.Writer, total int) *Bar {
	b := &Bar{out: out, total: total, tenth: -1}
	if file, ok := out.(*os.File); ok {
		info, err := file.Stat()
		b.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return b
}

// Draw shows that done of the total are done and what is at work.
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

// End replaces the bar by a last line.
func (b *Bar) End(line string) {
	if b.terminal {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
	fmt.Fprintln(b.out, line)
}

// shortenLeft keeps the end of a text, which tells paths apart.
func shortenLeft(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return "…" + string(runes[len(runes)-most+1:])
}

// OnTerminal reports whether the bar is redrawn in place.
func (b *Bar) OnTerminal() bool { return b.terminal }
