package main

import "github.com/footnote/footnote/cmd/footnote/command"

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
