// Package rtf reads Rich Text Format (RTF 1.9.1) as doctext: paragraphs, lists, tables, notes and links in any
// encoding of the file's fonts and code pages. Pictures and objects are dropped.
//
// read.go parses the bytes and keeps the state of groups, control.go handles control words, write.go writes blocks.
// An RTF file is text in groups of braces, with control words such as \par and control symbols such as \~. Bytes are
// in the encoding of the current font. A group inherits the state of its parent and restores it at its end, so that
// formatting and destinations need no closing words.
//
// Unknown control words are ignored, as the specification requires. A damaged file is read as far as possible. Names
// of control words here are those of the specification.
package rtf

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

const (
	// The whole file is in memory, since pictures in hexadecimal make files large whose text is short.
	maxFile   = 128 << 20 // bytes
	maxDepth  = 1000      // nesting depth of groups
	symbolSet = 2         // character set of symbol fonts
	maxSkip   = 255       // characters of fallback text after \u
)

// Read reads an RTF file. It fails with a *corpus.Failure for one that is too large or nested too deep. Groups that
// are still open at the end of the file end with it.
func Read(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return corpus.Extracted{}, fmt.Errorf("open the original: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return corpus.Extracted{}, fmt.Errorf("read the original: %w", err)
	}
	if len(data) > maxFile {
		return corpus.Extracted{}, &corpus.Failure{Code: "too_large",
			Detail: "This file exceeds the size limit. Split it and add the parts."}
	}
	return ReadBytes(ctx, data)
}

// ReadBytes is Read for the content of a file.
func ReadBytes(ctx context.Context, data []byte) (corpus.Extracted, error) {
	var w doctext.Writer
	r := newReader(&w, data)
	if err := r.write(ctx); err != nil {
		return corpus.Extracted{}, err
	}
	x := w.Result()
	x.Title = doctext.Title(doctext.Line(r.title.String()), doctext.FirstHeading(x), x.Text)
	if author := doctext.Line(r.author.String()); author != "" {
		x.Meta["author"] = author
	}
	return x, nil
}

// Write writes RTF that is part of another file, such as a mail. It fails as Read does.
func Write(ctx context.Context, w *doctext.Writer, data []byte) error {
	return newReader(w, data).write(ctx)
}

// HTML returns the HTML that Outlook converted to RTF ([MS-OXRTFEX]), "" if the RTF is no such one.
func HTML(ctx context.Context, data []byte) string {
	if !bytes.Contains(data[:min(len(data), 1<<10)], []byte(`\fromhtml1`)) {
		return ""
	}
	r := newReader(nil, data)
	r.html = &strings.Builder{}
	if r.run(ctx) != nil {
		return ""
	}
	return r.html.String()
}

func newReader(w *doctext.Writer, data []byte) *reader {
	return &reader{
		data: data, fonts: map[int]int{}, styles: map[int]int{}, state: state{skip: 1, page: "windows-1252"}, w: w,
	}
}

// write writes the whole file.
func (r *reader) write(ctx context.Context) error {
	if err := r.run(ctx); err != nil {
		return err
	}
	r.endParagraph()
	r.endTable()
	r.writeNotes()
	return nil
}

// destination is the target of a group's text. Groups inside one with toNowhere inherit it.
type destination int

const (
	toBody destination = iota
	toNowhere
	toFonts
	toStyles
	toTitle
	toAuthor
	toNote
	toInstruction // of a field
	toListText
)

// state holds the properties that a group inherits and restores at its end. outline is 0 for text. page is an
// encoding name of the WHATWG's Encoding Standard.
type state struct {
	to      destination
	skip    int    // characters of fallback text after \u, for readers without Unicode
	page    string // encoding of bytes
	font    int
	hidden  bool
	raised  bool
	outline int // level of a heading, from 1
	link    string
}

// reader parses one file. bytes buffers bytes until their encoding may change, so that a character of two bytes is
// decoded as a whole. pending is the number of remaining characters of a \u's fallback text. It is single-use and
// not safe for concurrent use.
type reader struct {
	data   []byte
	at     int
	state  state
	groups []state
	fonts  map[int]int // character sets of fonts
	styles map[int]int // outline levels of styles, from 1
	style  int         // the current one

	bytes   []byte // in the current encoding, not decoded yet
	pending int    // characters still to be skipped
	high    rune   // the pending high surrogate of a character beyond U+FFFF

	line   strings.Builder // the current paragraph
	level  int             // its heading level
	mark   string          // of its list
	links  []link
	row    []string // cells of the current table row
	rows   [][]string
	inside bool // the paragraph is in a table

	instruction   strings.Builder
	title, author strings.Builder
	note          strings.Builder
	notes         []string
	marked        int // notes so far
	w             *doctext.Writer
	html          *strings.Builder // collects the original HTML instead, see HTML
}

// link is a byte range of the current paragraph with a URL. Adjacent runs with the same URL are merged.
type link struct {
	start, end int
	address    string
}

// run parses the whole file. Surplus closing braces are ignored. Line ends have no meaning.
func (r *reader) run(ctx context.Context) error {
	for n := 0; r.at < len(r.data); n++ {
		if n%100_000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch c := r.data[r.at]; c {
		case '{':
			r.flush()
			if len(r.groups) >= maxDepth {
				return &corpus.Failure{Code: "broken",
					Detail: "This file is nested too deeply. Save it as PDF and add the PDF."}
			}
			r.groups = append(r.groups, r.state)
			r.pending = 0
			r.at++
		case '}':
			r.flush()
			r.endGroup()
			r.at++
		case '\\':
			r.control()
		case '\r', '\n', 0:
			r.at++
		default:
			r.addByte(c)
			r.at++
		}
	}
	r.flush()
	return nil
}

// endGroup restores the state of the enclosing group. The end of a note or of a field's instruction completes it.
// The field's result follows in the same enclosing group, so that its state gets the link.
func (r *reader) endGroup() {
	r.pending = 0
	n := len(r.groups)
	if n == 0 {
		return
	}
	before, now := r.groups[n-1], r.state
	r.groups = r.groups[:n-1]
	r.state = before
	switch {
	case now.to == toNote && before.to != toNote:
		r.storeNote()
	case now.to == toInstruction && before.to != toInstruction:
		r.state.link = cmp.Or(
			hyperlink(r.instruction.String()),
			before.link,
		) // the result is a sibling group of the field
		r.instruction.Reset()
	}
}

// hyperlink returns the URL of the instruction HYPERLINK "address". For switches and other instructions it returns
// "".
func hyperlink(instruction string) string {
	instruction = strings.TrimSpace(instruction)
	if !strings.HasPrefix(strings.ToUpper(instruction), "HYPERLINK") {
		return ""
	}
	_, rest, _ := strings.Cut(instruction, `"`)
	address, _, _ := strings.Cut(rest, `"`)
	return address
}

// addByte buffers a byte in the current encoding.
func (r *reader) addByte(c byte) {
	if r.pending > 0 {
		r.pending--
		return
	}
	r.bytes = append(r.bytes, c)
}

// flush decodes the buffered bytes. Every control word flushes, as it may change the encoding. Undecodable bytes are
// kept.
func (r *reader) flush() {
	if len(r.bytes) == 0 {
		return
	}
	text := string(r.bytes)
	if enc := r.encoding(); enc != nil {
		if decoded, err := enc.NewDecoder().Bytes(r.bytes); err == nil {
			text = string(decoded)
		}
	}
	r.bytes = r.bytes[:0]
	r.add(text)
}

// encoding returns the encoding of the current font, else that of the file. Font names are in the file's encoding.
func (r *reader) encoding() encoding.Encoding {
	name := r.state.page
	if byFont := charsets[r.fonts[r.state.font]]; byFont != "" && r.state.to != toFonts {
		name = byFont
	}
	enc, _ := charset.Lookup(name)
	return enc
}

// add appends text to the group's destination.
func (r *reader) add(text string) {
	if r.state.hidden {
		return
	}
	switch r.state.to {
	case toBody:
		if r.html != nil {
			r.html.WriteString(text)
			return
		}
		r.addBody(text)
	case toTitle:
		r.title.WriteString(text)
	case toAuthor:
		r.author.WriteString(text)
	case toNote:
		r.note.WriteString(text)
	case toInstruction:
		if r.instruction.Len() < 4000 {
			r.instruction.WriteString(text)
		}
	case toListText:
		if r.fonts[r.state.font] == symbolSet {
			text = "•"
		}
		r.mark += text
	case toNowhere, toFonts, toStyles:
	}
}
