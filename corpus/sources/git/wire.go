package git

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Lines of Git's protocol begin with their length in four hexadecimal digits. The first lengths are marks. They are
// pkt-lines (gitprotocol-common, “pkt-line Format”).
const (
	flushMark = "0000" // ends a message
	delimMark = "0001" // parts the sections of one
	endMark   = "0002" // ends a reply
)

// errWire is something that is no line of the protocol.
var errWire = errors.New("this is not Git's protocol")

// refusal is what a server says instead of an answer. Its text is shown to nobody. It is logged with its text. It may
// hold anything, as somebody else's program wrote it.
type refusal struct{ text string }

// Error implements error.
func (r *refusal) Error() string { return "the server refuses: " + strconv.Quote(r.text) }

// lines reads lines.
type lines struct{ in *bufio.Reader }

// next reads a line, or one of the marks: then the line is nil. The length counts its own four digits. A line that
// begins with ERR is the server's refusal of the whole request.
func (l lines) next() (line []byte, mark string, err error) {
	var head [4]byte
	if _, err := io.ReadFull(l.in, head[:]); err != nil {
		return nil, "", err
	}
	size, err := strconv.ParseUint(string(head[:]), 16, 16)
	switch {
	case err != nil || size == 3:
		return nil, "", errWire
	case size < 3:
		return nil, string(head[:]), nil
	}
	line = make([]byte, size-4)
	if _, err := io.ReadFull(l.in, line); err != nil {
		return nil, "", brokenOff(err)
	}
	if text, refused := bytes.CutPrefix(line, []byte("ERR ")); refused {
		return nil, "", &refusal{string(text)}
	}
	return line, "", nil
}

// brokenOff is the error for an end in the middle of something.
func brokenOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// text reads a line of text; ok is false at a mark.
func (l lines) text() (text string, ok bool, err error) {
	line, mark, err := l.next()
	return strings.TrimSuffix(string(line), "\n"), mark == "", err
}

// command is a message that asks for something. What it can do and its arguments are lines. Five bytes are the length
// and the line feed.
func command(name string, abilities, arguments []string) []byte {
	var b bytes.Buffer
	put := func(line string) { _, _ = fmt.Fprintf(&b, "%04x%s\n", len(line)+5, line) }
	put("command=" + name)
	for _, line := range abilities {
		put(line)
	}
	b.WriteString(delimMark)
	for _, line := range arguments {
		put(line)
	}
	b.WriteString(flushMark)
	return b.Bytes()
}

// band reads what is sent in the first of the bands that a pack comes in. The second tells of progress, the third of
// what went wrong. They are side-band-64k of gitprotocol-pack.
type band struct {
	lines lines
	left  []byte
	ended bool
}

// Read implements io.Reader.
func (b *band) Read(p []byte) (int, error) {
	for len(b.left) == 0 {
		if b.ended {
			return 0, io.EOF
		}
		line, mark, err := b.lines.next()
		switch {
		case err != nil:
			return 0, brokenOff(err)
		case mark == flushMark || mark == endMark:
			b.ended = true
		case len(line) == 0:
			return 0, errWire
		case line[0] == 1:
			b.left = line[1:]
		case line[0] == 3:
			return 0, &refusal{string(line[1:])}
		}
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}
