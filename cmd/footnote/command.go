package main

import (
	"context"
	"errors"
	"footnote/chat"
	"footnote/cmd/footnote/datadir"
	"footnote/cmd/footnote/release"
	"footnote/cmd/footnote/settings"
	"io"
	"log/slog"
	"strings"
)

// program is what a command may use of the world outside.
type program struct {
	ctx      context.Context //nolint:containedctx // one process has one
	settings *settings.Settings
	built    release.Info
	// start has a server of this process answer for one command, on a data directory that is claimed. main sets it, so
	// that the rooms know no server.
	start  func(p *program, dir *datadir.Dir) (*remote, error)
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// errorMessage is what a person at a terminal is told: the sentence, then the cause.
func errorMessage(err error) string {
	if e, ok := errors.AsType[*chat.Error](err); ok && e.Err == nil {
		return e.Advice()
	}
	return err.Error()
}

// runner is a command.
type runner interface{ Run(p *program) error }

// quietLogger logs warnings and errors only: commands print their own progress.
func quietLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// oneLine is a text without line breaks, so that nothing in it can look like a line of the program's own.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
