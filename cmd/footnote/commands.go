package main

import (
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"github.com/footnote/footnote/cmd/footnote/ask"
	"github.com/footnote/footnote/cmd/footnote/backup"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/doctor"
	"github.com/footnote/footnote/cmd/footnote/documents"
	"github.com/footnote/footnote/cmd/footnote/eval"
	"github.com/footnote/footnote/cmd/footnote/evidence"
	"github.com/footnote/footnote/cmd/footnote/keys"
	"github.com/footnote/footnote/cmd/footnote/migrate"
	"github.com/footnote/footnote/cmd/footnote/serve"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/cmd/footnote/stdio"
	"github.com/footnote/footnote/cmd/footnote/upgrade"
	"github.com/footnote/footnote/cmd/footnote/watch"
)

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
	Upgrade upgrade.Command  `cmd:"" help:"Say whether there is a newer version."`
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
