// Package extract reads files: Formats is the table of all formats, with how to recognise one and which reader takes
// it. Text formats are read here; PDFs by package pdf, inside processes of package worker, because parsers are other
// people's code on other people's files. Whatever is read becomes one canonical text with blocks by doctext, whose
// promises corpus relies on.
//
// What comes in is a corpus.File: a path on disk, the name that its owner gave it and the MIME type it was sent with.
// What goes out is a corpus.Extracted: the text, its blocks, what the file says about itself, and the files inside it.
//
// formats.go says what a format is and formats_table.go lists them. sniff.go, containers.go and pdf_magic.go decide
// what a file is by its bytes, and control.go whether it is text at all; encoding.go turns its bytes into UTF-8. Then
// there is a file for each format that is text (markdown.go, html.go, csv.go, lines.go, cards.go, text.go) and for the
// containers made of texts (epub.go, mail.go). Office formats have a package each, below this one.
//
// Two rules hold for every reader. It trusts nothing that a file says of itself: sizes, depths and counts have a limit
// here, and what is beyond it costs structure before it costs text. And it runs nothing and fetches nothing: no macro,
// no script, no address that a document names.
//
// To add a format of files, add its row to corpus/extract/formats_table.go and write its reader, corpus/extract/*.go.
// Uploads, “footnote ingest”, the kinds on the page, filters of tools and the API's description then have it. Its names
// need a line in each file of the catalogue of package locale.
package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/corpus"
)

// maxText is the most that a file of text may have. It is read as a whole, and then parsed into something larger, so
// that this bounds what a reader of text allocates.
const maxText = 128 << 20 // bytes of a text file

// pageReader reads and draws files with pages; pdf.Reader is one, picture.Reader another.
type pageReader interface {
	corpus.Extractor
	Render(ctx context.Context, f corpus.File, n, width int) ([]byte, error)
}

// Extractor reads files, in this process, by their MIME type, their name and their first bytes. A server has a
// worker.Pool instead. It holds no state of its own, and is safe for concurrent use if its two readers are.
type Extractor struct{ pdf, pictures pageReader }

// New returns an Extractor that leaves PDFs to pdf, and pictures to pictures.
func New(pdf, pictures pageReader) *Extractor { return &Extractor{pdf: pdf, pictures: pictures} }

// Extract implements corpus.Extractor. A format without pages reports 1 of 1 when it is done. The errors that its owner
// can do something about are a corpus.Failure with a sentence for them; every other error is the machine's, such as a
// disk that can't be read. A file without any text fails with corpus.NoText.
func (e *Extractor) Extract(
	ctx context.Context, f corpus.File, report func(done, total int),
) (corpus.Extracted, error) {
	return e.extractFile(ctx, f, false, report)
}

// ExtractPlain is Extract without the markup of a text, whatever that looks like then: it takes little memory. Package
// files calls it when a process has died of the same file's markup before.
func (e *Extractor) ExtractPlain(
	ctx context.Context, f corpus.File, report func(done, total int),
) (corpus.Extracted, error) {
	return e.extractFile(ctx, f, true, report)
}

// extractFile finds the format and runs its reader. A format that is not text reads its file from disk by itself and
// reports its pages; a text is read into memory, decoded and then parsed. The context is looked at once more at the
// end: a reader that was told to stop may have returned the part that it had.
func (e *Extractor) extractFile(
	ctx context.Context, f corpus.File, plain bool, report func(done, total int),
) (corpus.Extracted, error) {
	format, err := FormatOf(f)
	if err != nil {
		return corpus.Extracted{}, err
	}
	if format.file != nil {
		return format.file(ctx, e, f, report)
	}
	read := format.text
	if plain && format.bare != nil {
		read = format.bare
	}
	src, err := readText(f.Path)
	if err != nil {
		return corpus.Extracted{}, err
	}
	x, err := runGuarded(ctx, read, src, f)
	if err != nil {
		return corpus.Extracted{}, fmt.Errorf("read %s: %w", f.Filename, err)
	}
	if x.Text == "" {
		return corpus.Extracted{}, noText
	}
	if report != nil {
		report(1, 1)
	}
	return x, ctx.Err()
}

// Every reader returns an empty text where it found none, so that this is said in one place.
var noText = &corpus.Failure{Code: corpus.NoText, Detail: "This file holds no text. Add one that does."}

// runGuarded runs a reader so that a panic in a parser, all of which are other people's code, fails only this file.
func runGuarded(ctx context.Context, read textReader, src string, f corpus.File) (x corpus.Extracted, err error) {
	defer func() {
		if r := recover(); r != nil {
			x, err = corpus.Extracted{}, errors.Join(&corpus.Failure{Code: "broken",
				Detail: "This file's markup can't be understood. Save it as plain text or PDF and add that."},
				fmt.Errorf("panic: %v", r))
		}
	}()
	return read(ctx, src, f)
}

// Render implements corpus.Renderer.
func (e *Extractor) Render(ctx context.Context, f corpus.File, n, width int) ([]byte, error) {
	if Formats.IsPicture(f.MIME) {
		return e.pictures.Render(ctx, f, n, width)
	}
	return e.pdf.Render(ctx, f, n, width)
}

// Expect implements corpus.Renderer. There is nothing to start.
func (e *Extractor) Expect() {}

// FormatOf returns the format of a file on disk: what its first bytes and its name say. Among kinds of text its MIME
// type counts more, unless that is "text/plain". It fails with a corpus.Failure for a file that is empty or of a format
// that no reader takes.
//
// The order matters: magic numbers can't be wrong, a name often is. Only among texts, which have no magic number, does
// the MIME type tell more than the bytes. It may then only choose a format with markup, because servers send
// "text/plain" for everything that they have no better word for.
func FormatOf(f corpus.File) (Format, error) {
	head, err := readHead(f.Path)
	if err != nil {
		return Format{}, err
	}
	format, refused := Formats.recogniseFormat(head, f.Filename)
	if refused != nil {
		return Format{}, &corpus.Failure{Code: refused.Code, Detail: "This file " + refused.Detail}
	}
	if typed, ok := Formats.ByMIME(f.MIME); ok && format.text != nil && typed.bare != nil {
		format = typed
	}
	return format, nil
}

// readHead returns the first corpus.SniffBytes of a file, or all of a shorter one. An empty file fails here, before any
// reader sees it.
func readHead(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the original: %w", err)
	}
	defer file.Close()
	head := make([]byte, corpus.SniffBytes)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read the original: %w", err)
	}
	if n == 0 {
		return nil, &corpus.Failure{Code: corpus.NoText, Detail: "This file is empty. Add one that holds text."}
	}
	return head[:n], nil
}

// readText reads a whole file and decodes it. The size is asked first, so that a file that is too large costs nothing.
func readText(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("open the original: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("look at the original: %w", err)
	}
	if info.Size() > maxText {
		return "", tooLarge(info.Size(), maxText)
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return "", fmt.Errorf("read the original: %w", err)
	}
	return decodeText(data, declaredCharset(data))
}

// declaredCharset returns the encoding that an HTML page's meta element or an XML declaration names. Only the beginning
// is looked at: HTML asks for the declaration within the first 1024 bytes (HTML Standard, "Specifying the document's
// character encoding"), and pages that put it later exist. A declaration behind <body> is text of the page. The name is
// returned as it is written; declaredEncoding decides whether it can be true.
func declaredCharset(data []byte) string {
	head := data[:min(len(data), corpus.SniffBytes)]
	if bytes.HasPrefix(head, []byte("<?xml")) {
		if _, after, ok := bytes.Cut(head[:min(len(head), 200)], []byte(`encoding="`)); ok {
			name, _, _ := bytes.Cut(after, []byte(`"`))
			return string(name)
		}
	}
	z := html.NewTokenizer(bytes.NewReader(head))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			if token.Data == "body" {
				return ""
			}
			if token.Data != "meta" {
				continue
			}
			for _, a := range token.Attr {
				if a.Key == "charset" {
					return a.Val
				}
				if _, name, ok := strings.Cut(strings.ToLower(a.Val), "charset="); ok && a.Key == "content" {
					return strings.Trim(name, `"' `)
				}
			}
		}
	}
}

// tooLarge is the failure of a file whose text is longer than its reader takes. Both numbers are bytes; people read MB.
func tooLarge(bytes, limit int64) error {
	return &corpus.Failure{Code: "too_large", Detail: fmt.Sprintf(
		"This file's text is %d MB long, more than the %d MB that can be read. Split it and add the parts.", bytes>>20,
		limit>>20)}
}
