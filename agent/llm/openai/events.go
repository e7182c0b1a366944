package openai

import (
	"bytes"
	"io"

	"github.com/footnote/footnote/agent/llm/httpllm"
)

// maxEvent is the most bytes one event of a stream may have.
const maxEvent = 8 << 20

// eventReader splits a server-sent event stream into the data of its events. It accepts what servers send: LF, CRLF and
// lone CR line ends, a byte order mark, comments, empty events, and a [DONE] without the blank line after it. The rules
// are those of the HTML standard, “Interpreting an event stream”, with two liberties: a stream may end behind [DONE]
// without a blank line, and several data lines are joined by LF only where the first has something.
type eventReader struct {
	r       io.Reader
	buf     []byte // what was read; buf[pos:] is not consumed
	pos     int
	scanned int // buf[pos:scanned] holds no line end
	eof     error
	started bool // the place for a byte order mark is behind us
	skipLF  bool // the last line ended with CR: an LF now belongs to it

	data     []byte // of the event that is being read
	hasData  bool
	isError  bool // event: error
	skipped  int  // comments and empty events, for the log
	consumed int64
}

// newEventReader reads a stream from its beginning. Its buffer grows with the longest event, up to maxEvent.
func newEventReader(r io.Reader) *eventReader {
	return &eventReader{r: r, buf: make([]byte, 0, 4096)}
}

var (
	byteOrderMark = []byte("\xef\xbb\xbf")
	doneMark      = []byte("[DONE]")
)

// nextEvent returns the data of the next event, valid until the following call. At the end of the stream it returns the
// reader's error, io.EOF for a clean one; an event without its blank line is dropped, as it may be cut. [DONE] is taken
// at once, without waiting for its blank line, which some servers never send before they close.
func (e *eventReader) nextEvent() ([]byte, error) {
	e.data, e.hasData, e.isError = e.data[:0], false, false
	for {
		line, err := e.readLine()
		if err != nil {
			if bytes.Equal(bytes.TrimSpace(dataOf(e.buf[e.pos:])), doneMark) {
				e.pos = len(e.buf)
				return doneMark, nil
			}
			return nil, err
		}
		// A blank line ends an event; one without data is skipped, as the standard has it.
		if len(line) == 0 {
			if e.hasData && len(e.data) > 0 {
				return e.data, nil
			}
			e.skipped++
			e.data, e.hasData, e.isError = e.data[:0], false, false
			continue
		}
		if err := e.readField(line); err != nil {
			return nil, err
		}
		if len(e.data) == len(doneMark) && bytes.Equal(e.data, doneMark) {
			return e.data, nil
		}
	}
}

// readField takes one line of an event: data, the event's name, or a comment. Other fields are left out.
func (e *eventReader) readField(line []byte) error {
	switch {
	case line[0] == ':':
		e.skipped++
	case bytes.HasPrefix(line, []byte("data:")):
		value := dataOf(line)
		if len(e.data)+len(value) > maxEvent {
			return httpllm.ErrEventTooLong
		}
		if e.hasData && len(e.data) > 0 {
			e.data = append(e.data, '\n')
		}
		e.data, e.hasData = append(e.data, value...), true
	case bytes.HasPrefix(line, []byte("event:")):
		e.isError = string(bytes.TrimSpace(line[len("event:"):])) == "error"
	}
	return nil
}

// dataOf returns the value of a data line, nil for another line.
func dataOf(line []byte) []byte {
	value, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return nil
	}
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	return value
}

// readLine returns the next whole line without its end, valid until the following call. A CR ends a line at once:
// whether an LF belongs to it is only known with the next byte, for which a server may let us wait (skipLF).
func (e *eventReader) readLine() ([]byte, error) {
	for {
		if e.skipLF && e.pos < len(e.buf) {
			if e.buf[e.pos] == '\n' {
				e.pos++
			}
			e.skipLF = false
		}
		if e.startOfStream() {
			e.scanned = max(e.scanned, e.pos)
			if end := lineEnd(e.buf[e.scanned:]); end >= 0 {
				end += e.scanned
				line := e.buf[e.pos:end]
				e.skipLF = e.buf[end] == '\r'
				e.pos = end + 1
				return line, nil
			}
			e.scanned = len(e.buf)
		}
		if e.eof != nil {
			return nil, e.eof
		}
		if err := e.fillBuffer(); err != nil {
			return nil, err
		}
	}
}

// startOfStream drops a byte order mark and reports whether enough was read to know.
func (e *eventReader) startOfStream() bool {
	if e.started {
		return true
	}
	if len(e.buf) < len(byteOrderMark) && bytes.HasPrefix(byteOrderMark, e.buf) && e.eof == nil {
		return false
	}
	e.started = true
	if bytes.HasPrefix(e.buf, byteOrderMark) {
		e.pos = len(byteOrderMark)
	}
	return true
}

// lineEnd is where the first line ends, by LF or CR; -1 if it does not.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf < 0 {
		return bytes.IndexByte(b, '\r')
	}
	if cr := bytes.IndexByte(b[:lf], '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// fillBuffer reads once more. The end of the reader is kept in eof, so that what came with it is used first. Slices
// that were returned before are not valid any more: what is left moves to the front. One read at most, so that events
// reach the reader as soon as they come.
func (e *eventReader) fillBuffer() error {
	if e.pos > 0 {
		n := copy(e.buf, e.buf[e.pos:])
		e.buf, e.scanned, e.pos = e.buf[:n], e.scanned-e.pos, 0
	}
	if len(e.buf) > maxEvent {
		return httpllm.ErrEventTooLong
	}
	if len(e.buf) == cap(e.buf) {
		e.buf = append(make([]byte, 0, 2*cap(e.buf)), e.buf...)
	}
	n, err := e.r.Read(e.buf[len(e.buf):cap(e.buf)])
	e.buf = e.buf[:len(e.buf)+n]
	e.consumed += int64(n)
	if err != nil {
		e.eof = err
	}
	return nil
}
