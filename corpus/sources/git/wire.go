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

// Lines of Git's protocol begin with their length in four hexadecimal digits; the first lengths are markers. They
// are pkt-lines (gitprotocol-common, “pkt-line Format”).
const (
	flushMark = "0000" // ends a message
	delimMark = "0001" // separates the sections of a message
	endMark   = "0002" // ends a response
)

// errWire is returned for data that is not a valid line of the protocol.
var errWire = errors.New("invalid Git protocol response")

// refusal is a server's error message in place of a response. Its text is untrusted: it is logged but never shown.
type refusal struct{ text string }

// Error implements error.
func (r *refusal) Error() string { return "the server refuses: " + strconv.Quote(r.text) }

// lines decodes pkt-lines.
type lines struct{ in *bufio.Reader }

// next decodes a line or a marker; line is nil for a marker. The length includes its own four digits. A line that
// begins with ERR rejects the whole request and is returned as a refusal.
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

// brokenOff converts io.EOF into io.ErrUnexpectedEOF, for a stream that ends early.
func brokenOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// text decodes a line of text; ok is false at a marker.
func (l lines) text() (text string, ok bool, err error) {
	line, mark, err := l.next()
	return strings.TrimSuffix(string(line), "\n"), mark == "", err
}

// command encodes a command and its arguments as lines. Five bytes of each are the length and the newline.
func command(begin, arguments []string) []byte {
	var b bytes.Buffer
	for _, line := range begin {
		_, _ = fmt.Fprintf(&b, "%04x%s\n", len(line)+5, line)
	}
	b.WriteString(delimMark)
	for _, line := range arguments {
		_, _ = fmt.Fprintf(&b, "%04x%s\n", len(line)+5, line)
	}
	b.WriteString(flushMark)
	return b.Bytes()
}

// band reads the first band of a multiplexed stream, which has the pack. The second band has progress messages, the
// third an error message. They are side-band-64k of gitprotocol-pack.
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
