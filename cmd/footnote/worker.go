package main

import (
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/corpus/extract/files"
)

// workerCommand is a process that reads files. Only this program starts it.
type workerCommand struct{}

// Run reads files for the server that started this process, until its input ends.
func (workerCommand) Run(p *command.Program) error { return files.Serve(p.Ctx, p.Stdin, p.Stdout) }
