// Package command is what all commands of the program have in common: what they may use of the world outside
// ([Program]), the way to a server ([Program.Connect]), and how they show progress and failures to a person.
//
// Each command is a type of its room with a method Run; main names it in the table of commands. Rooms are tested by
// giving them a Program of their own.
package command

import (
	"context"
	"errors"
	"io"
	"log/slog"
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
