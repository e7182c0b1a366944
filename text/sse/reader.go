// Package sse reads and writes server-sent events, as in the HTML standard, “Interpreting an event stream”. It is for
// all clients and servers of this module. Memory is bounded by a maximum size of an event.
package sse

import (
	"bytes"
	"errors"
	"io"
)

// ErrTooLong is the error for an event over the reader's maximum.
var ErrTooLong = errors.New("an event of the stream is too long")

// Event is one event. ID and Name are empty if the event does not have the field.
type Event struct {
	ID   string
	Name string
	Data []byte // lines are joined by LF; valid until the next event is read
}

// Reader reads the events of a stream as soon as they arrive. It accepts LF, CRLF and lone CR line ends, a byte order
// mark and comments.
type Reader struct {
	// Last is the data of an event that ends streams. It is returned without its blank line and line end, since some
	// servers never send them.
	Last    string
	Retry   string // the last reconnection delay in milliseconds, as sent
	Skipped int    // comments and blank lines without data so far
	Size    int64  // bytes so far

	r        io.Reader
	limit    int
	buf      []byte // buf[pos:] is not consumed
	pos      int
	scanned  int // buf[pos:scanned] contains no line end
	eof      error
	started  bool // the byte order mark was handled
	skipLF   bool // the last line ended with CR: a following LF belongs to it
	skipping bool // the rest of an event that was too long comes next
	cut      bool // the beginning of a line was dropped
	data     []byte
}

// NewReader returns a reader of events whose data lines have at most limit bytes in all. Its buffer grows with the
// longest line.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{r: r, limit: limit, buf: make([]byte, 0, 4096)}
}

// Buffered returns the bytes that were read last.
func (r *Reader) Buffered() []byte { return r.buf }

var byteOrderMark = []byte("\xef\xbb\xbf")

// Next returns the next event. At the end of the stream it returns the error of the underlying reader, io.EOF for a
// clean end. An event without its blank line is dropped, as it may be truncated. After ErrTooLong the next call
// continues behind the long event.
func (r *Reader) Next() (Event, error) {
	for r.skipping {
		line, err := r.readLine()
		if err != nil {
			return Event{}, err
		}
		r.skipping, r.cut = len(line) > 0 || r.cut, false
	}
	var e Event
	size, hasData := 0, false
	r.data = r.data[:0]
	for {
		line, err := r.readLine()
		if err != nil {
			name, value := cutField(r.buf[r.pos:])
			if r.eof != nil && string(name) == "data" && r.isLast(bytes.TrimSpace(value)) {
				r.pos = len(r.buf)
				return Event{Data: []byte(r.Last)}, nil
			}
			return Event{}, err
		}
		if len(line) == 0 {
			if hasData {
				e.Data = r.data
				return e, nil
			}
			r.Skipped++
			e = Event{}
			continue
		}
		switch name, value := cutField(line); string(name) {
		case "":
			r.Skipped++
		case "id":
			e.ID = string(value)
		case "event":
			e.Name = string(value)
		case "retry":
			r.Retry = string(value)
		case "data":
			if size += len(line) + 1; size > r.limit {
				r.skipping = true
				return Event{}, ErrTooLong
			}
			if hasData {
				r.data = append(r.data, '\n')
			}
			r.data, hasData = append(r.data, value...), true
			if r.isLast(r.data) {
				e.Data = r.data
				return e, nil
			}
		}
	}
}

func (r *Reader) isLast(data []byte) bool { return r.Last != "" && string(data) == r.Last }

// cutField splits a line at its colon; the name of a comment is empty.
func cutField(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte(":"))
	return name, bytes.TrimPrefix(value, []byte(" "))
}

// readLine returns the next line without its end, valid until the following call. A CR ends a line at once: whether
// an LF belongs to it is only known with the next byte, which may be delayed (skipLF).
func (r *Reader) readLine() ([]byte, error) {
	for {
		if r.skipLF && r.pos < len(r.buf) {
			if r.buf[r.pos] == '\n' {
				r.pos++
			}
			r.skipLF = false
		}
		if r.startOfStream() {
			r.scanned = max(r.scanned, r.pos)
			if end := lineEnd(r.buf[r.scanned:]); end >= 0 {
				end += r.scanned
				line := r.buf[r.pos:end]
				r.skipLF = r.buf[end] == '\r'
				r.pos = end + 1
				return line, nil
			}
			r.scanned = len(r.buf)
		}
		if r.eof != nil {
			return nil, r.eof
		}
		if len(r.buf)-r.pos > r.limit {
			if !r.skipping {
				r.skipping = true
				return nil, ErrTooLong
			}
			r.pos, r.cut = len(r.buf), true
		}
		r.fill()
	}
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

// startOfStream skips a byte order mark and reports whether enough bytes were read to decide.
func (r *Reader) startOfStream() bool {
	if r.started {
		return true
	}
	if len(r.buf) < len(byteOrderMark) && bytes.HasPrefix(byteOrderMark, r.buf) && r.eof == nil {
		return false
	}
	r.started = true
	if bytes.HasPrefix(r.buf, byteOrderMark) {
		r.pos = len(byteOrderMark)
	}
	return true
}

// fill reads once, so that events are returned as soon as they arrive. It moves the remaining data to the front. The
// reader's error is stored in eof, so that the data that came with it is used first.
func (r *Reader) fill() {
	if r.pos > 0 {
		n := copy(r.buf, r.buf[r.pos:])
		r.buf, r.scanned, r.pos = r.buf[:n], r.scanned-r.pos, 0
	}
	if len(r.buf) == cap(r.buf) {
		r.buf = append(make([]byte, 0, 2*cap(r.buf)), r.buf...)
	}
	n, err := r.r.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
	r.Size += int64(n)
	r.eof = err
}
