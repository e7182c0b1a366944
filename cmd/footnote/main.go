// Command footnote answers questions from a person's own documents and shows its work.
//
// It reads its settings from flags, the environment and a settings file, in that order, and does what the chosen
// command says: main.go has all of them, and “footnote --help” lists them. Answers go to standard output; what is
// wrong, progress and the log go to standard error. It exits with 0 when the command did what it should, with 1 when
// it failed, and with 2 for wrong arguments or settings.
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
	"github.com/footnote/footnote/cmd/footnote/migrate"
	"github.com/footnote/footnote/cmd/footnote/release"
	"github.com/footnote/footnote/cmd/footnote/serve"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/cmd/footnote/stdio"
	"github.com/footnote/footnote/cmd/footnote/watch"
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

// commands is the whole command line: the settings, which every command takes, and the commands. Names of commands are
// those of the fields unless name says otherwise. Settings come as flags and from the environment; what is in a
// command's own type is an argument or a flag of that command.
type commands struct {
	settings.Settings
	Version kong.VersionFlag `help:"Print the version and exit."`

	Serve   serve.Command    `cmd:"" default:"withargs" help:"Serve the page and the API (the default command)."`
	Up      serve.Up         `cmd:"" help:"Serve, keep the library like folders, and open the page: all that the first minute needs."`
	Ingest  documents.Ingest `cmd:"" help:"Add files and folders to the library, with a progress bar."`
	Watch   watch.Command    `cmd:"" help:"Keep the library like a folder, until it is stopped: new, changed, renamed and deleted files."`
	Ask     ask.Command      `cmd:"" help:"Ask a question in the terminal: live steps, then the answer with its footnotes."`
	MCP     stdio.Command    `cmd:"" name:"mcp" help:"Give a chat program the documents as tools: the Model Context Protocol on standard input and output."`
	Doctor  doctor.Command   `cmd:"" help:"Check the settings, the data directory and the model, and say what is wrong."`
	Backup  backup.Command   `cmd:"" help:"Write the data directory to one file, also while a server uses it."`
	Restore backup.Restore   `cmd:"" help:"Bring a backup back into an empty data directory."`
	Migrate migrate.Command  `cmd:"" help:"Copy everything from a data directory into an empty PostgreSQL."`
	Export  evidence.Export  `cmd:"" help:"Write an answer with all it rests on to a file, or what readers said of answers."`
	Verify  evidence.Verify  `cmd:"" help:"Check an exported answer again: hashes, places and words."`
	Eval    eval.Command     `cmd:"" help:"Measure how well questions are answered."`
	Key     keys.Command     `cmd:"" help:"Make, list and revoke the keys of users."`
	Help    helpCommand      `cmd:"" help:"Show what there is, or what a command takes."`
	Told    versionCommand   `cmd:"" name:"version" help:"Print the version, the commit it was built from, and its date."`
	Worker  workerCommand    `cmd:"" name:"extract-worker" hidden:"" help:"Read files apart from the server (started by it)."`
}

// newParser makes the parser of the program's arguments, which fills cli.
func newParser(cli *commands, stdout, stderr io.Writer) (*settings.Parser, error) {
	return settings.NewParser(cli, built.Version, stdout, stderr)
}

// parseArguments reads the arguments and returns the command they name, or nil when --help or --version was printed
// instead. It returns an error for what no command is called, and for arguments that the chosen one does not take.
func parseArguments(parser *settings.Parser, args []string) (command.Runner, error) {
	selected, err := parser.Command(args)
	if err != nil || selected == nil {
		return nil, err
	}
	runner, ok := selected.(command.Runner)
	if !ok {
		return nil, fmt.Errorf("%T does nothing by itself", selected)
	}
	return runner, nil
}

// helpCommand shows the help, as --help does.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command, such as ask or key new; without one all are listed."`
}

// Bare lets help be shown while the settings are wrong.
func (helpCommand) Bare() {}

// Run shows the help of a command.
func (c helpCommand) Run(p *command.Program) error {
	parser, err := newParser(&commands{}, p.Stdout, p.Stderr)
	if err != nil {
		return err
	}
	args := append(c.Command, "--help")
	_, err = parseArguments(parser, args)
	return parser.Suggest(args, err)
}

// versionCommand prints the version, and which commit it was built from.
type versionCommand struct{}

// Bare lets the version be told while the settings are wrong.
func (versionCommand) Bare() {}

// Run prints them.
func (versionCommand) Run(p *command.Program) error { return built.Tell(p.Stdout) }
