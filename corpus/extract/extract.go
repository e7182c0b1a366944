// Package extract reads files of every supported format into blocks over one canonical text.
package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"footnote/corpus"
)

const (
	headSize = 4 << 10   // bytes that a format is recognised by
	maxText  = 128 << 20 // bytes of a text file
)

// pageReader reads and draws PDFs; pdf.Reader is one.
type pageReader interface {
	corpus.Extractor
	Render(ctx context.Context, f corpus.File, n, width int) ([]byte, error)
}

// reader reads a text that is UTF-8 with line feeds by now.
type reader func(ctx context.Context, src string, f corpus.File) (corpus.Extracted, error)

// format says which files a reader is for. A new format is one more entry in New.
type format struct {
	mimes      []string
	extensions []string
	read       reader
	plain      reader // reads it without its markup, in little memory; nil: read does
}

// Extractor reads files, in this process, by their MIME type, their name and their first bytes. A server has a
// worker.Pool instead.
type Extractor struct {
	pdf     pageReader
	formats []format
}

// New returns an Extractor that leaves PDFs to pdf.
func New(pdf pageReader) *Extractor {
	return &Extractor{pdf: pdf, formats: []format{
		{[]string{"text/markdown", "text/x-markdown"}, []string{
			".md", ".markdown", ".mdown", ".mkd",
		}, markdown, plainText},
		{[]string{"text/html", "application/xhtml+xml"}, []string{".html", ".htm", ".xhtml"}, page, strippedPage},
		{nil, []string{".txt", ".text", ".log", ".csv", ".tsv"}, plainText, nil},
	}}
}

// Extract implements corpus.Extractor. A format without pages reports 1 of 1 when it is done.
func (e *Extractor) Extract(
	ctx context.Context, f corpus.File, report func(done, total int),
) (corpus.Extracted, error) {
	return e.extract(ctx, f, false, report)
}

// extract is Extract. plain leaves the markup of a text out, whatever that looks like.
func (e *Extractor) extract(
	ctx context.Context, f corpus.File, plain bool, report func(done, total int),
) (corpus.Extracted, error) {
	head, err := readHead(f.Path)
	if err != nil {
		return corpus.Extracted{}, err
	}
	if isPDF(head) {
		return e.pdf.Extract(ctx, f, report)
	}
	if failure := refusal(f, head); failure != nil {
		return corpus.Extracted{}, failure
	}
	format := e.choose(f, head)
	read := format.read
	if plain && format.plain != nil {
		read = format.plain
	}
	src, err := readText(f.Path)
	if err != nil {
		return corpus.Extracted{}, err
	}
	x, err := guarded(ctx, read, src, f)
	if err != nil {
		return corpus.Extracted{}, fmt.Errorf("read %s: %w", f.Filename, err)
	}
	if x.Text == "" {
		return corpus.Extracted{}, &corpus.Failure{
			Code: "no_text", Detail: "This file holds no text. Add one that does.",
		}
	}
	if report != nil {
		report(1, 1)
	}
	return x, ctx.Err()
}

// guarded runs a reader so that a panic in a parser, all of which are other people's code, fails only this file.
func guarded(ctx context.Context, read reader, src string, f corpus.File) (x corpus.Extracted, err error) {
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
	return e.pdf.Render(ctx, f, n, width)
}

// Expect implements corpus.Renderer. There is nothing to start.
func (e *Extractor) Expect() {}

// choose finds the format: a sniffed type that says something counts, "text/plain" leaves it to the name.
func (e *Extractor) choose(f corpus.File, head []byte) format {
	mime, _, _ := strings.Cut(strings.ToLower(f.MIME), ";")
	ext := strings.ToLower(path.Ext(f.Filename))
	for _, format := range e.formats {
		if slices.Contains(format.mimes, mime) || slices.Contains(format.extensions, ext) {
			return format
		}
	}
	lower := bytes.ToLower(head)
	if bytes.Contains(lower, []byte("<!doctype html")) || bytes.Contains(lower, []byte("<html")) {
		return format{read: page, plain: strippedPage}
	}
	return format{read: plainText}
}

func readHead(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the original: %w", err)
	}
	defer file.Close()
	head := make([]byte, headSize)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read the original: %w", err)
	}
	if n == 0 {
		return nil, &corpus.Failure{Code: "no_text", Detail: "This file is empty. Add one that holds text."}
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
	return decode(data, declaredCharset(data))
}

// declaredCharset returns the encoding that an HTML page's meta element or an XML declaration names.
func declaredCharset(data []byte) string {
	head := data[:min(len(data), headSize)]
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
