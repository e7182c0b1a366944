package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// bareRunner is a command that only says something: it needs no settings, and works while they are wrong.
type bareRunner interface {
	runner
	bare()
}

// helpCommand shows the help, as --help does.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command, such as ask or key new; without one all are listed."`
}

func (helpCommand) bare() {}

// Run shows the help of a command.
func (c helpCommand) Run(p *program) error {
	parser, err := newParser(&commands{}, p.stdout, p.stderr)
	if err != nil {
		return err
	}
	args := append(c.Command, "--help")
	_, err = parseArguments(parser, args)
	return withSuggestion(parser, args, err)
}

// withSuggestion adds the nearest command to the error of a word that is none. Because of the default command kong
// takes such a word for an argument of that, which needs no suggestion.
func withSuggestion(parser *kong.Kong, args []string, err error) error {
	if err == nil {
		return nil
	}
	usual := parser.Model.DefaultCmd
	parser.Model.DefaultCmd = nil
	defer func() { parser.Model.DefaultCmd = usual }()
	ctx, failed := kong.Trace(parser, args)
	if failed == nil && ctx.Error != nil && strings.HasPrefix(ctx.Error.Error(), err.Error()) {
		return ctx.Error
	}
	return err
}
