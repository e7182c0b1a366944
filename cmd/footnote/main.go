// Command footnote answers questions from a person's own documents and shows its work.
//
// It reads its settings from flags, the environment and a settings file, in that order, and does what the chosen
// command says: commands.go has all of them, and “footnote --help” lists them. Answers go to standard output; what is
// wrong, progress and the log go to standard error. It exits with 0 when the command did what it should, with 1 when
// it failed, and with 2 for wrong arguments or settings.
//
// To add a command, add it to cmd/footnote/commands.go and write its package, cmd/footnote/*/*.go.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/release"
	"github.com/footnote/footnote/cmd/footnote/serve"
	"github.com/footnote/footnote/cmd/footnote/settings"
)

// The build sets these by -ldflags "-X main.version=…" and so on. The date is that of the commit, so that the same
// source makes the same bytes.
var version, commit, date, repository string

// built is the source of the program that runs.
var built = release.Read(
	release.Info{Version: version, Commit: commit, Date: date, Repository: repository}, debug.ReadBuildInfo,
)

func main() {
	datadir.KeepPrivate()
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

// runProgram is main without the globals: it returns the exit code, 2 for a wrong call. It uses nothing of the process
// but signals, so that tests can run the program in theirs. Commands with the method Bare, as help and version, work
// with settings that are wrong.
func runProgram(
	ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer,
) int {
	var cli commands
	parser, err := newParser(&cli, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "footnote:", err)
		return 2
	}
	settingsErr := parser.UseFile(args, getenv)
	chosen, err := parseArguments(parser, args)
	if err == nil && chosen == nil { // --help or --version was printed
		return 0
	}
	if _, bare := chosen.(settings.Bare); !bare && settingsErr != nil {
		fmt.Fprintln(stderr, "footnote:", settingsErr)
		return 2
	} else if err == nil && !bare {
		err = cli.Check()
	}
	if err != nil {
		fmt.Fprintln(stderr, "footnote:", parser.Suggest(args, err))
		fmt.Fprintln(stderr, "Try 'footnote --help'.")
		return 2
	}
	if err := chosen.Run(&command.Program{
		Ctx: ctx, Settings: &cli.Settings, Built: built, Start: serve.Start,
		Stdin: stdin, Stdout: stdout, Stderr: stderr,
	}); err != nil {
		fmt.Fprintln(stderr, "footnote:", command.Message(err))
		return 1
	}
	return 0
}
