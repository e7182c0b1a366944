package main

import "footnote/corpus/extract/pdf"

type workerCommand struct{}

// Run reads PDFs for the server that started this process, until its input ends.
func (workerCommand) Run(p *program) error { return pdf.Worker(p.ctx, p.stdin, p.stdout) }
