package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// newParser makes the parser of the program's arguments, which fills cli.
func newParser(cli *commands, stdout, stderr io.Writer) (*kong.Kong, error) {
	return kong.New(cli,
		kong.Name("footnote"),
		kong.Description("Ask your documents. Every step is shown, every claim can be checked."),
		settingVars(),
		kong.Writers(stdout, stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
}

// runner is a command.
type runner interface{ Run(p *program) error }

// parseArguments reads the arguments and returns the command they name, or nil when --help or --version was printed
// instead.
//
// It is kong.Kong.Parse and kong.Context.Run in kong's own steps, without its hooks: kong looks for hooks and
// commands among the methods by their names, and the linker keeps every method of every type in a program that does
// so (docs/decisions.md).
func parseArguments(parser *kong.Kong, args []string) (runner, error) {
	ctx, err := kong.Trace(parser, args)
	if err != nil {
		return nil, err
	}
	if ctx.Error != nil {
		return nil, ctx.Error
	}
	for _, path := range ctx.Path {
		switch {
		case path.Flag == nil:
		case path.Flag == parser.Model.HelpFlag:
			return nil, ctx.PrintUsage(false)
		case path.Flag.Name == "version":
			_, err := fmt.Fprintln(parser.Stdout, built.Version)
			return nil, err
		}
	}
	_, bare := selectedCommand(ctx).(bareRunner) // which needs no settings, so that they may be wrong
	apply := func() error { _, err := ctx.Apply(); return err }
	for _, step := range []func() error{ctx.Reset, ctx.Resolve, apply, func() error { return validateFlags(ctx) }} {
		if err := step(); err != nil && !bare {
			return nil, err
		}
	}
	command, ok := selectedCommand(ctx).(runner)
	if !ok {
		return nil, fmt.Errorf("%s does nothing by itself", ctx.Command())
	}
	return command, nil
}

// selectedCommand is the command that the arguments name; nil if they name none.
func selectedCommand(ctx *kong.Context) any {
	if node := ctx.Selected(); node != nil {
		return node.Target.Addr().Interface()
	}
	return nil
}

// validateFlags is kong.Context.Validate as far as our commands need it: required flags, groups of flags and validators
// are not among them.
func validateFlags(ctx *kong.Context) error {
	given := 0 // positional arguments
	for _, path := range ctx.Path {
		if path.Positional != nil {
			given = path.Positional.Position + 1
		}
		node := path.Node()
		if node == nil {
			continue
		}
		for _, value := range node.Values() {
			if err := checkEnum(value); err != nil {
				return err
			}
		}
	}
	command := ctx.Selected()
	if command == nil {
		command = ctx.Model.Node
	}
	var missing []string
	for _, argument := range command.Positional[min(given, len(command.Positional)):] {
		if argument.Required {
			missing = append(missing, argument.Summary())
		}
	}
	if len(missing) > 0 {
		missing = []string{strings.Join(missing, " ")}
	}
	for _, child := range command.Children {
		if !child.Hidden {
			missing = append(missing, child.Name)
		}
	}
	for i, name := range missing {
		missing[i] = strconv.Quote(name)
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return errors.New("expected " + missing[0])
	default:
		return errors.New("expected one of " + strings.Join(missing, ", "))
	}
}

// checkEnum reports a value, or one of a list, that is none of those the setting may have.
func checkEnum(value *kong.Value) error {
	if value.Enum == "" {
		return nil
	}
	chosen := []any{value.Target.Interface()}
	if list, ok := chosen[0].([]string); ok {
		chosen = nil
		for _, one := range list {
			chosen = append(chosen, one)
		}
	}
	for _, one := range chosen {
		allowed := value.EnumSlice()
		if slices.Contains(allowed, fmt.Sprint(one)) {
			continue
		}
		for i, name := range allowed {
			allowed[i] = strconv.Quote(name)
		}
		return fmt.Errorf(
			"%s must be one of %s but got %q", value.ShortSummary(), strings.Join(allowed, ","), fmt.Sprint(one),
		)
	}
	return nil
}
