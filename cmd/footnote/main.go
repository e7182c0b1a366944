// Command footnote answers questions from a user's own documents with checkable citations.
//
// It reads its settings from flags, the environment and a settings file, in that order of precedence, and runs the
// selected command: main.go has all of them, and “footnote --help” lists them. Answers are written to standard
// output; errors, progress and the log to standard error. The exit code is 0 on success, 1 if the command failed,
// and 2 for invalid arguments or settings.
//
// To add a command, add it to cmd/footnote/main.go and write its package, cmd/footnote/*/*.go.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/footnote/footnote/cmd/footnote/ask"
	"github.com/footnote/footnote/cmd/footnote/backup"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/doctor"
	"github.com/footnote/footnote/cmd/footnote/documents"
	"github.com/footnote/footnote/cmd/footnote/eval"
	"github.com/footnote/footnote/cmd/footnote/evidence"
	"github.com/footnote/footnote/cmd/footnote/keys"
	"github.com/footnote/footnote/cmd/footnote/release"
	"github.com/footnote/footnote/cmd/footnote/serve"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/cmd/footnote/stdio"
	"github.com/footnote/footnote/cmd/footnote/watch"
)

// The build sets these with -ldflags "-X main.version=…" and so on. The date is that of the commit, so that the
// build is reproducible.
var version, commit, date, repository string

// built identifies the source of the running program.
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
		signal.Stop(signals) // a second interrupt ends the process at once
		stop()
	}()
	os.Exit(runProgram(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}

// runProgram is main without globals: it returns the exit code, 2 for an invalid call. It uses no process state
// except signals, so that tests can run the program in their process. Commands with the method Bare, such as help
// and version, work with invalid settings.
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

// commands is the command line: the settings, which every command accepts, and the commands. A command's name is
// that of its field unless the tag name is set. Settings are flags and environment variables; the fields of a
// command's own type are its arguments and flags.
type commands struct {
	settings.Settings
	Version kong.VersionFlag `help:"Print the version and exit."`

	Serve   serve.Command    `cmd:"" default:"withargs" help:"Serve the page and the API (the default command)."`
	Up      serve.Up         `cmd:"" help:"Start the server, sync folders with the library, and open the page: the quickest start."`
	Ingest  documents.Ingest `cmd:"" help:"Add files and folders to the library, with a progress bar."`
	Watch   watch.Command    `cmd:"" help:"Sync a folder with the library until stopped: new, changed, renamed and deleted files."`
	Ask     ask.Command      `cmd:"" help:"Ask a question in the terminal and show the steps and the answer with footnotes."`
	MCP     stdio.Command    `cmd:"" name:"mcp" help:"Serve the documents as tools to an MCP client (Model Context Protocol) on standard input and output."`
	Doctor  doctor.Command   `cmd:"" help:"Check the settings, the data directory and the model, and report problems."`
	Backup  backup.Command   `cmd:"" help:"Back up all data to one file, even while the server is running."`
	Restore backup.Restore   `cmd:"" help:"Restore a backup into an empty data directory or PostgreSQL."`
	Export  evidence.Export  `cmd:"" help:"Export an answer with its sources, or the feedback on answers."`
	Verify  evidence.Verify  `cmd:"" help:"Verify an exported answer: hashes, positions and quotes."`
	Eval    eval.Command     `cmd:"" help:"Measure the quality of answers."`
	Key     keys.Command     `cmd:"" help:"Create, list and revoke API keys."`
	Help    helpCommand      `cmd:"" help:"Show the commands, or the help of a command."`
	Told    versionCommand   `cmd:"" name:"version" help:"Print the version, the commit of the build, and its date."`
	Worker  workerCommand    `cmd:"" name:"extract-worker" hidden:"" help:"Parse files in a separate process (started by the server)."`
}

// newParser returns the parser of the program's arguments, which fills cli.
func newParser(cli *commands, stdout, stderr io.Writer) (*settings.Parser, error) {
	return settings.NewParser(cli, built.Version, stdout, stderr)
}

// parseArguments parses the arguments and returns the selected command, or nil if --help or --version was printed
// instead. It returns an error for an unknown command, and for arguments that the command does not accept.
func parseArguments(parser *settings.Parser, args []string) (command.Runner, error) {
	selected, err := parser.Command(args)
	if err != nil || selected == nil {
		return nil, err
	}
	runner, ok := selected.(command.Runner)
	if !ok {
		return nil, fmt.Errorf("%T is not a command", selected)
	}
	return runner, nil
}

// helpCommand prints the help, like --help.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command, such as ask or key new. Default: all commands."`
}

// Bare allows the help with invalid settings.
func (helpCommand) Bare() {}

// Run prints the help of a command.
func (c helpCommand) Run(p *command.Program) error {
	parser, err := newParser(&commands{}, p.Stdout, p.Stderr)
	if err != nil {
		return err
	}
	args := append(c.Command, "--help")
	_, err = parseArguments(parser, args)
	return parser.Suggest(args, err)
}

// versionCommand prints the version, and the commit that it was built from.
type versionCommand struct{}

// Bare allows the version with invalid settings.
func (versionCommand) Bare() {}

// Run prints the version, commit and date.
func (versionCommand) Run(p *command.Program) error { return built.Print(p.Stdout) }
