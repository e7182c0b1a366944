// Command footnote answers questions from a person's own documents and shows its work.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"footnote/chat"
)

func main() {
	keepPrivate()
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // ends with the process
		<-signals
		signal.Stop(signals) // a second Ctrl-C ends the process at once, from before anybody learns of the first
		stop()
	}()
	os.Exit(runProgram(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}

// program is what a command may use of the world outside.
type program struct {
	ctx      context.Context //nolint:containedctx // one process has one
	settings *settings
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
}

// runProgram is main without the globals: it returns the exit code, 2 for a wrong call.
func runProgram(
	ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer,
) int {
	var cli commands
	parser, err := newParser(&cli, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "footnote:", err)
		return 2
	}
	settingsErr := useSettingsFile(parser, args, getenv)
	command, err := parseArguments(parser, args)
	if err == nil && command == nil { // --help or --version was printed
		return 0
	}
	if _, bare := command.(bareRunner); !bare && settingsErr != nil {
		fmt.Fprintln(stderr, "footnote:", settingsErr)
		return 2
	} else if err == nil && !bare {
		err = cli.checkSettings()
	}
	if err != nil {
		fmt.Fprintln(stderr, "footnote:", withSuggestion(parser, args, err))
		fmt.Fprintln(stderr, "Try 'footnote --help'.")
		return 2
	}
	if err := command.Run(
		&program{ctx: ctx, settings: &cli.settings, stdin: stdin, stdout: stdout, stderr: stderr},
	); err != nil {
		fmt.Fprintln(stderr, "footnote:", errorMessage(err))
		return 1
	}
	return 0
}

// errorMessage is what a person at a terminal is told: the sentence, then the cause.
func errorMessage(err error) string {
	if e, ok := errors.AsType[*chat.Error](err); ok && e.Err == nil {
		return e.Advice()
	}
	return err.Error()
}
