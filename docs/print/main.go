// Command print writes the handbook as one HTML page for paper: `make handbook` turns it into the PDF.
//
//	go run ./docs/print > handbook.html
//
// It takes the chapters that are embedded in the program, in the order of their names and in English only, and prints
// to standard output. It reads and writes no file.
package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"log"
	"os"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/footnote/footnote/docs"
)

// head has the styles for paper: each chapter begins on a page of its own, and rows of tables are not broken.
const head = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Footnote handbook</title><style>
@page { size: A4; margin: 24mm 22mm } body { font: 11pt/1.5 "DejaVu Serif", serif } h1 { break-before: page; ` +
	`font-size: 22pt }
h1:first-of-type { break-before: avoid } h2 { font-size: 14pt; break-after: avoid } code, pre { font: 9pt "DejaVu ` +
	`Sans Mono", monospace }
pre { background: #f4f4f0; padding: 3mm; white-space: pre-wrap } pre { overflow-wrap: anywhere } table { ` +
	`border-collapse: collapse; width: 100% } td, th { border: 1px solid #bbb; padding: 1.5mm 2mm;
text-align: left; vertical-align: top; font-size: 9pt } td:first-child { font-size: 7.5pt } tr { break-inside: avoid ` +
	`}</style>`

func main() {
	if err := write(); err != nil {
		log.Fatal(err)
	}
}

// write joins the chapters. Tables need GitHub's form of Markdown.
func write() error {
	chapters, err := fs.Glob(docs.Handbook, "handbook/*.md")
	if err != nil {
		return err
	}
	page := bytes.NewBufferString(head)
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM))
	for _, name := range chapters {
		text, err := docs.Handbook.ReadFile(name)
		if err != nil {
			return err
		}
		if err := markdown.Convert(text, page); err != nil {
			return fmt.Errorf("convert %s: %w", name, err)
		}
	}
	_, err = page.WriteTo(os.Stdout)
	return err
}
