package main

import (
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/corpus/extract/files"
)

// workerCommand is a worker process that parses files. Only this program starts it.
type workerCommand struct{}

// Run parses files for the parent process until its input ends.
func (workerCommand) Run(p *command.Program) error { return files.Serve(p.Ctx, p.Stdin, p.Stdout) }
