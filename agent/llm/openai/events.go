package openai

import (
	"bytes"
	"io"

	"github.com/footnote/footnote/agent/llm/httpllm"
)

// maxEvent is the maximum size of one event of a stream, in bytes.
const maxEvent = 8 << 20

// eventReader parses a server-sent event stream into the data of its events. It accepts LF, CRLF and lone CR line
// ends, a byte order mark, comments, empty events, and a [DONE] without the blank line after it. The rules are those
// of the HTML standard, “Interpreting an event stream”, with two exceptions. A stream may end after [DONE] without a
// blank line. Several data lines are joined by LF only if the first is not empty.
type eventReader struct {
	r       io.Reader
	buf     []byte // buffer; buf[pos:] is not consumed
	pos     int
	scanned int // buf[pos:scanned] contains no line end
	eof     error
	started bool // the byte order mark was handled
	skipLF  bool // the last line ended with CR: a following LF belongs to it

	data     []byte // of the current event
	hasData  bool
	isError  bool // event: error
	skipped  int  // comments and empty events, for the log
	consumed int64
}

// newEventReader returns a reader of a stream. Its buffer grows with the longest event, up to maxEvent.
func newEventReader(r io.Reader) *eventReader {
	return &eventReader{r: r, buf: make([]byte, 0, 4096)}
}

var (
	byteOrderMark = []byte("\xef\xbb\xbf")
	doneMark      = []byte("[DONE]")
)

// nextEvent returns the data of the next event, valid until the following call. At the end of the stream it returns
// the reader's error, io.EOF for a clean one; an event without its blank line is dropped, as it may be truncated.
// [DONE] is returned at once, since some servers never send its blank line.
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
		// A blank line ends an event; one without data is skipped, as in the standard.
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

// readField parses one line of an event: data, the event's name, or a comment. Other fields are ignored.
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

// readLine returns the next line without its end, valid until the following call. A CR ends a line at once: whether
// an LF belongs to it is only known with the next byte, which may be delayed (skipLF).
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

// startOfStream skips a byte order mark and reports whether enough bytes were read to decide.
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

// lineEnd returns the offset of the first line end, LF or CR, or -1.
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

// fillBuffer reads once. The reader's error is stored in eof, so that the data that came with it is used first. It
// moves the remaining data to the front, so slices that were returned before become invalid. It reads only once, so
// that events are returned as soon as they arrive.
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
