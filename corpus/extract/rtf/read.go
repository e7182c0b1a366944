// Package rtf reads Rich Text Format (RTF 1.9.1) as doctext: paragraphs, lists, tables, notes and links in whatever
// encodings the file's fonts and pages have. Pictures and objects are left out.
//
// read.go goes through the bytes and keeps the state of groups, control.go acts on control words, write.go makes
// blocks. An RTF file is text in groups of braces, with control words such as \par, control symbols such as \~, and
// bytes in the encoding that the font at work has. A group inherits the state of the one around it and gives it back at
// its end, so that formatting and destinations need no closing words.
//
// Control words that are not known change nothing, as the specification asks; a broken file is read as far as it makes
// sense. Names of control words here are those of the specification.
package rtf

import (
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
	// The file is in memory as a whole, since pictures in hexadecimal make files large whose text is short.
	maxFile   = 128 << 20 // bytes
	maxDepth  = 1000      // groups in each other
	symbolSet = 2         // character set of fonts whose letters are signs
	maxSkip   = 255       // characters behind \u for other readers
)

// Read reads an RTF file. It fails with a *corpus.Failure for one that is too large or nested too deep. A file that
// ends inside a group is read as if the groups ended with it.
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
			Detail: "This file is longer than can be read. Split it and add the parts."}
	}
	r := reader{data: data, fonts: map[int]int{}, styles: map[int]int{}}
	r.state = state{skip: 1, page: "windows-1252"}
	if err := r.run(ctx); err != nil {
		return corpus.Extracted{}, err
	}
	r.endParagraph()
	r.endTable()
	r.writeNotes()
	x := r.w.Result()
	x.Title = doctext.Title(doctext.Line(r.title.String()), doctext.FirstHeading(x), x.Text)
	if author := doctext.Line(r.author.String()); author != "" {
		x.Meta["author"] = author
	}
	return x, nil
}

// destination says where the text of a group goes. Of a group whose destination is toNowhere, all groups inside it are
// too, as they inherit it.
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

// state holds the properties that a group inherits and restores at its end. outline is 0 for text. page is a name from
// the WHATWG's Encoding Standard.
type state struct {
	to      destination
	skip    int    // characters behind \u that stand for readers without Unicode
	page    string // encoding of bytes
	font    int
	hidden  bool
	raised  bool
	outline int // level of a heading, from 1
	link    string
}

// reader reads one file. bytes collects bytes until something ends the encoding that they are in, so that a character
// of two bytes is decoded in one piece. pending counts what is left of the text that stands for a \u. It is used once,
// from one goroutine.
type reader struct {
	data   []byte
	at     int
	state  state
	groups []state
	fonts  map[int]int // character sets of fonts
	styles map[int]int // outline levels of styles, from 1
	style  int         // that is being read

	bytes   []byte // of the encoding at work, not decoded yet
	pending int    // characters still to be skipped
	high    rune   // the first half of a character beyond U+FFFF

	line   strings.Builder // the paragraph at work
	level  int             // its heading level
	mark   string          // of its list
	links  []link
	row    []string // cells of the table row at work
	rows   [][]string
	inside bool // the paragraph is one of a table

	instruction   strings.Builder
	title, author strings.Builder
	note          strings.Builder
	notes         []string
	marked        int // notes so far
	w             doctext.Writer
}

// link is a range of bytes in the paragraph at work that leads somewhere. Links of neighbouring runs to one address are
// one.
type link struct {
	start, end int
	address    string
}

// run reads the whole file. Braces that are too many at the end of the file are passed over. Line ends mean nothing by
// themselves.
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
					Detail: "This file is nested too deep to be read. Save it as PDF and add that."}
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

// endGroup gives back the state of the group around. A note is whole now. A field's instruction is whole too, and the
// result that follows leads to its address: that is why the link is put into the state of the group around both.
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
		r.keepNote()
	case now.to == toInstruction && before.to != toInstruction:
		r.state.link = cmp.Or(
			hyperlink(r.instruction.String()),
			before.link,
		) // the result stands beside it in the field
		r.instruction.Reset()
	}
}

// hyperlink is the address of the instruction HYPERLINK "address". Switches and other instructions give "".
func hyperlink(instruction string) string {
	instruction = strings.TrimSpace(instruction)
	if !strings.HasPrefix(strings.ToUpper(instruction), "HYPERLINK") {
		return ""
	}
	_, rest, _ := strings.Cut(instruction, `"`)
	address, _, _ := strings.Cut(rest, `"`)
	return address
}

// addByte adds a byte of the encoding at work.
func (r *reader) addByte(c byte) {
	if r.pending > 0 {
		r.pending--
		return
	}
	r.bytes = append(r.bytes, c)
}

// flush decodes the bytes that were read. Every control word flushes, as it may change the encoding. Bytes that can't
// be decoded stay as they are.
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

// encoding is that of the font at work, or else of the file. Names of fonts are in the file's own encoding.
func (r *reader) encoding() encoding.Encoding {
	name := r.state.page
	if byFont := charsetName(r.fonts[r.state.font]); byFont != "" && r.state.to != toFonts {
		name = byFont
	}
	enc, _ := charset.Lookup(name)
	return enc
}

// add adds text to where the group's text belongs.
func (r *reader) add(text string) {
	if r.state.hidden {
		return
	}
	switch r.state.to {
	case toBody:
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
