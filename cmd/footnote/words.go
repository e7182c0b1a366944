package main

// helpCommand shows the help, as --help does.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command, such as ask or key new; without one all are listed."`
}

func (helpCommand) Bare() {}

// Run shows the help of a command.
func (c helpCommand) Run(p *program) error {
	parser, err := newParser(&commands{}, p.stdout, p.stderr)
	if err != nil {
		return err
	}
	args := append(c.Command, "--help")
	_, err = parseArguments(parser, args)
	return parser.Suggest(args, err)
}

// versionCommand prints the version, and which commit it was built from.
type versionCommand struct{}

func (versionCommand) Bare() {}

// Run prints them.
func (versionCommand) Run(p *program) error { return built.Tell(p.stdout) }
