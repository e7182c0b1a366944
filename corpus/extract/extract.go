// Package extract reads files: Formats is the table of all formats, with how to recognise one and which reader takes
// it. Text formats are read here; PDFs by package pdf, inside processes of package worker, because parsers are other
// people's code on other people's files. Whatever is read becomes one canonical text with blocks by doctext, whose
// promises corpus relies on.
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

	"footnote/corpus"
)

const maxText = 128 << 20 // bytes of a text file

// pageReader reads and draws files with pages; pdf.Reader is one, picture.Reader another.
type pageReader interface {
	corpus.Extractor
	Render(ctx context.Context, f corpus.File, n, width int) ([]byte, error)
}

// Extractor reads files, in this process, by their MIME type, their name and their first bytes. A server has a
// worker.Pool instead.
type Extractor struct{ pdf, pictures pageReader }

// New returns an Extractor that leaves PDFs to pdf, and pictures to pictures.
func New(pdf, pictures pageReader) *Extractor { return &Extractor{pdf: pdf, pictures: pictures} }

// Extract implements corpus.Extractor. A format without pages reports 1 of 1 when it is done.
func (e *Extractor) Extract(
	ctx context.Context, f corpus.File, report func(done, total int),
) (corpus.Extracted, error) {
	return e.extractFile(ctx, f, false, report)
}

// ExtractPlain is Extract without the markup of a text, whatever that looks like then: it takes little memory.
func (e *Extractor) ExtractPlain(
	ctx context.Context, f corpus.File, report func(done, total int),
) (corpus.Extracted, error) {
	return e.extractFile(ctx, f, true, report)
}

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
// type counts more, unless that is "text/plain".
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

// declaredCharset returns the encoding that an HTML page's meta element or an XML declaration names.
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

func tooLarge(bytes, limit int64) error {
	return &corpus.Failure{Code: "too_large", Detail: fmt.Sprintf(
		"This file's text is %d MB long, more than the %d MB that can be read. Split it and add the parts.", bytes>>20,
		limit>>20)}
}
