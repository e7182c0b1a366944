package main

import "footnote/corpus/extract/files"

// workerCommand is a process that reads files. Only this program starts it.
type workerCommand struct{}

// Run reads files for the server that started this process, until its input ends.
func (workerCommand) Run(p *program) error { return files.Serve(p.ctx, p.stdin, p.stdout) }
