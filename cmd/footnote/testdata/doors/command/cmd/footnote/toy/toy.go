// Package toy is the command footnote toy.
package toy

import (
	"fmt"

	"footnote/cmd/footnote/command"
)

// Command says what the toys are called.
type Command struct {
	Name string `arg:"" help:"What they are called."`
}

// Run says it.
func (c *Command) Run(p *command.Program) error {
	_, err := fmt.Fprintln(p.Stdout, "toys called", c.Name)
	return err
}
