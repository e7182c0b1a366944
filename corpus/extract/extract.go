// Package extract reads files: Formats is the registry of all formats, with their detection and their readers. Text
// formats are parsed here. PDFs are parsed by package pdf in processes of package worker, because parsers are
// third-party code on untrusted input. Each reader returns one canonical text with blocks, written by doctext, whose
// guarantees corpus relies on.
//
// The input is a corpus.File: a path on disk, the user's file name and the MIME type of the upload. The output is a
// corpus.Extracted: the text, its blocks, the file's metadata and the files inside it.
//
// formats.go defines a format, and formats_table.go lists them. sniff.go, containers.go and pdf_magic.go detect the
// format from the first bytes. control.go distinguishes text from binary data, and encoding.go decodes text to
// UTF-8. Each text format has a file (markdown.go, html.go, csv.go, lines.go, cards.go, text.go), and so does each
// container of texts (epub.go, mail.go). Office formats have a package each, below this one.
//
// Two rules apply to every reader. It trusts no size, depth or count in a file: each has a limit here, and input
// beyond it loses structure before it loses text. And it executes and fetches nothing: no macro, no script, no URL
// in a document.
//
// To add a format of files, add its row to corpus/extract/formats_table.go and write its reader,
// corpus/extract/*.go. Uploads, “footnote ingest”, the kinds on the page, filters of tools and the API's description
// then have it. Its names need a line in each file of the catalogue of package locale.
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
	"github.com/footnote/footnote/text/locale"
)

// maxText is the maximum size of a text file. The whole file is read into memory and parsed into something larger,
// so that this limit bounds a text reader's allocations.
const maxText = 128 << 20 // bytes of a text file

// pageReader reads and renders files with pages. pdf.Reader and picture.Reader implement it.
type pageReader interface {
	corpus.Extractor
	Render(ctx context.Context, f corpus.File, n, width int) ([]byte, error)
}

// Extractor reads files in this process. It detects the format by MIME type, name and first bytes. A server uses a
// worker.Pool instead. It is stateless, and safe for concurrent use if its two readers are.
type Extractor struct{ pdf, pictures pageReader }

// New returns an Extractor that delegates PDFs to pdf and pictures to pictures.
func New(pdf, pictures pageReader) *Extractor { return &Extractor{pdf: pdf, pictures: pictures} }

// Extract implements corpus.Extractor. A format without pages reports progress of 1 of 1 when it is done. Errors
// that the file's owner can fix are a corpus.Failure with a message for them. Every other error is internal, such as
// a disk that can't be read. A file without any text fails with corpus.NoText.
func (e *Extractor) Extract(
	ctx context.Context, f corpus.File, report func(done, total int),
) (corpus.Extracted, error) {
	return e.extractFile(ctx, f, false, report)
}

// ExtractPlain is Extract without parsing markup, which stays in the text, and with little memory. It is the
// fallback of package files when parsing the same file's markup has ended a process before.
func (e *Extractor) ExtractPlain(
	ctx context.Context, f corpus.File, report func(done, total int),
) (corpus.Extracted, error) {
	return e.extractFile(ctx, f, true, report)
}

// extractFile detects the format and runs its reader. A reader of a binary format reads the file from disk and
// reports its pages. A text is read into memory, decoded and then parsed.
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
	return readWhole(ctx, f, report, brokenMarkup, func() (corpus.Extracted, error) { return read(ctx, src, f) })
}

// noText is the failure of a file without text. Readers return an empty text instead.
var noText = &corpus.Failure{Code: corpus.NoText, Detail: "No text found in this file. Add one that contains text."}

// brokenMarkup is the failure of a text whose parser panicked.
var brokenMarkup = &corpus.Failure{Code: "broken",
	Detail: "This file's markup can't be parsed. Save it as plain text or PDF and add the new file."}

// readWhole runs a reader without pages. It recovers a panic and fails only this file, with broken. It also fails a
// file without text. Readers may therefore index without bounds checks and return an empty text. The context is
// checked at the end, because a cancelled reader may have returned a partial result.
func readWhole(
	ctx context.Context, f corpus.File, report func(done, total int), broken error,
	read func() (corpus.Extracted, error),
) (x corpus.Extracted, err error) {
	defer func() {
		if r := recover(); r != nil {
			x, err = corpus.Extracted{}, errors.Join(broken, fmt.Errorf("panic: %v", r))
		}
	}()
	if x, err = read(); err != nil {
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

// Render implements corpus.Renderer.
func (e *Extractor) Render(ctx context.Context, f corpus.File, n, width int) ([]byte, error) {
	if Formats.IsPicture(f.MIME) {
		return e.pictures.Render(ctx, f, n, width)
	}
	return e.pdf.Render(ctx, f, n, width)
}

// Expect implements corpus.Renderer. It does nothing.
func (e *Extractor) Expect() {}

// FormatOf detects the format of a file on disk from its first bytes and its name. Among text formats its MIME type
// takes precedence, unless that is "text/plain". It fails with a corpus.Failure for an empty file and an unsupported
// format.
//
// The order matters: magic numbers are reliable, and names often are not. Only for text, which has no magic number,
// is the MIME type better evidence than the bytes. It may only choose a format with markup, because servers send
// "text/plain" for every unknown type.
func FormatOf(f corpus.File) (Format, error) {
	head, err := readHead(f.Path)
	if err != nil {
		return Format{}, err
	}
	format, refused := Formats.recogniseFormat(head, f.Filename)
	if refused != nil {
		return Format{}, &corpus.Failure{Code: refused.Code, Detail: locale.Say("This file {1}", refused.Detail)}
	}
	if typed, ok := Formats.ByMIME(f.MIME); ok && format.text != nil && typed.bare != nil {
		format = typed
	}
	return format, nil
}

// readHead returns the first corpus.SniffBytes of a file, or all of a shorter one. An empty file fails here, before
// any reader runs.
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
		return nil, &corpus.Failure{Code: corpus.NoText, Detail: "This file is empty. Add one that contains text."}
	}
	return head[:n], nil
}

// readText reads a whole file and decodes it. The size is checked first, so that a file above the limit is not read.
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

// declaredCharset returns the encoding that an HTML page's meta element or an XML declaration declares. Only the
// first corpus.SniffBytes are parsed. HTML requires the declaration within the first 1024 bytes (HTML Standard,
// "Specifying the document's character encoding"), but some pages have it later. A declaration after <body> is text
// of the page and ignored. The name is returned unchecked; declaredEncoding validates it.
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

// tooLarge returns the failure of a file above its reader's limit. Both arguments are bytes; the message is in MB.
func tooLarge(bytes, limit int64) error {
	return &corpus.Failure{Code: "too_large", Detail: locale.Say(
		"This file's text ({1} MB) exceeds the limit of {2} MB. Split it and add the parts.",
		bytes>>20,
		limit>>20,
	)}
}
