package main

import "footnote/corpus/extract"

type workerCommand struct{}

// Run reads files for the server that started this process, until its input ends.
func (workerCommand) Run(p *program) error { return extract.Serve(p.ctx, p.stdin, p.stdout) }
