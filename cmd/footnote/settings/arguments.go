package settings

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// Parser reads the arguments of the program, or those that are settings alone.
// It is for one command line: parsing fills the struct that it was made with.
type Parser struct {
	*kong.Kong
	version string // that --version prints
}

// NewParser makes a parser that fills cli, a struct in kong's manner. version is what --version prints. Help goes to
// stdout. It fails only when cli is not what kong can read, which would be a fault of this program.
func NewParser(cli any, version string, stdout, stderr io.Writer) (*Parser, error) {
	parser, err := kong.New(cli,
		kong.Name("footnote"),
		kong.Description("Ask your documents. Every step is shown, every claim can be checked."),
		settingVars(version),
		kong.Writers(stdout, stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	return &Parser{Kong: parser, version: version}, err
}

// Bare is a command that only says something: it needs no settings, and works while they are wrong. Help and the
// version are such: whoever has wrong settings needs them most.
type Bare interface{ Bare() }

// read reads the arguments, or returns nil when --help or --version was printed instead.
//
// It is kong.Kong.Parse and kong.Context.Run in kong's own steps, without its hooks: kong looks for hooks and
// commands among the methods by their names, and the linker keeps every method of every type in a program that does
// so (docs/decisions/build.md).
func (p *Parser) read(args []string) (*kong.Context, error) {
	ctx, err := kong.Trace(p.Kong, args)
	if err != nil {
		return nil, err
	}
	if ctx.Error != nil {
		return nil, ctx.Error
	}
	for _, path := range ctx.Path {
		switch {
		case path.Flag == nil:
		case path.Flag == p.Model.HelpFlag:
			return nil, ctx.PrintUsage(false)
		case path.Flag.Name == "version":
			_, err := fmt.Fprintln(p.Stdout, p.version)
			return nil, err
		}
	}
	_, bare := selectedCommand(ctx).(Bare) // its settings may be wrong
	apply := func() error { _, err := ctx.Apply(); return err }
	for _, step := range []func() error{ctx.Reset, ctx.Resolve, apply, func() error { return validateFlags(ctx) }} {
		if err := step(); err != nil && !bare {
			return nil, err
		}
	}
	return ctx, nil
}

// Command reads the arguments and returns the command they name, a pointer to its part of the struct that is filled;
// nil when --help or --version was printed instead. The settings were filled in before it returns.
func (p *Parser) Command(args []string) (any, error) {
	ctx, err := p.read(args)
	if ctx == nil {
		return nil, err
	}
	return selectedCommand(ctx), nil
}

// selectedCommand is the command that the arguments name; nil if they name none.
// It is a pointer, so that what a command keeps is in the struct that was parsed.
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

// checkEnum reports a value, or one of a list, that is none of those the setting may have. Values may be texts or
// lists of texts.
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

// Suggest adds the nearest command to the error of a word that is none. Because of the default command kong takes such
// a word for an argument of that, which needs no suggestion. err is returned as it is when there is nothing better to
// say.
func (p *Parser) Suggest(args []string, err error) error {
	if err == nil {
		return nil
	}
	usual := p.Model.DefaultCmd
	p.Model.DefaultCmd = nil
	defer func() { p.Model.DefaultCmd = usual }()
	ctx, failed := kong.Trace(p.Kong, args)
	if failed == nil && ctx.Error != nil && strings.HasPrefix(ctx.Error.Error(), err.Error()) {
		return ctx.Error
	}
	return err
}
