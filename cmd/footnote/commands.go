package main

import (
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"footnote/cmd/footnote/settings"
)

// commands is the whole command line: the settings, which every command takes, and the commands.
type commands struct {
	settings.Settings
	Version kong.VersionFlag `help:"Print the version and exit."`

	Serve   serveCommand   `cmd:"" default:"withargs" help:"Serve the page and the API (the default command)."`
	Up      upCommand      `cmd:"" help:"Serve, keep the library like folders, and open the page: all that the first minute needs."`
	Ingest  ingestCommand  `cmd:"" help:"Add files and folders to the library, with a progress bar."`
	Watch   watchCommand   `cmd:"" help:"Keep the library like a folder, until it is stopped: new, changed, renamed and deleted files."`
	Ask     askCommand     `cmd:"" help:"Ask a question in the terminal: live steps, then the answer with its footnotes."`
	MCP     mcpCommand     `cmd:"" name:"mcp" help:"Give a chat program the documents as tools: the Model Context Protocol on standard input and output."`
	Doctor  doctorCommand  `cmd:"" help:"Check the settings, the data directory and the model, and say what is wrong."`
	Backup  backupCommand  `cmd:"" help:"Write the data directory to one file, also while a server uses it."`
	Restore restoreCommand `cmd:"" help:"Bring a backup back into an empty data directory."`
	Migrate migrateCommand `cmd:"" help:"Copy everything from a data directory into an empty PostgreSQL."`
	Export  exportCommand  `cmd:"" help:"Write an answer with all it rests on to a file, or what readers said of answers."`
	Verify  verifyCommand  `cmd:"" help:"Check an exported answer again: hashes, places and words."`
	Eval    evalCommand    `cmd:"" help:"Measure how well questions are answered."`
	Key     keyCommand     `cmd:"" help:"Make, list and revoke the keys of users."`
	Help    helpCommand    `cmd:"" help:"Show what there is, or what a command takes."`
	Told    versionCommand `cmd:"" name:"version" help:"Print the version, the commit it was built from, and its date."`
	Upgrade upgradeCommand `cmd:"" help:"Say whether there is a newer version."`
	Worker  workerCommand  `cmd:"" name:"extract-worker" hidden:"" help:"Read files apart from the server (started by it)."`
}

// newParser makes the parser of the program's arguments, which fills cli.
func newParser(cli *commands, stdout, stderr io.Writer) (*settings.Parser, error) {
	return settings.NewParser(cli, built.Version, stdout, stderr)
}

// parseArguments reads the arguments and returns the command they name, or nil when --help or --version was printed
// instead.
func parseArguments(parser *settings.Parser, args []string) (runner, error) {
	selected, err := parser.Command(args)
	if err != nil || selected == nil {
		return nil, err
	}
	command, ok := selected.(runner)
	if !ok {
		return nil, fmt.Errorf("%T does nothing by itself", selected)
	}
	return command, nil
}
