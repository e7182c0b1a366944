package httpio

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
)

// EventStream writes server-sent events: as many frames as there are, then one flush. An idle stream holds no buffer.
// A write that fails ends the stream: the reader has left, or did not read for Limits.WriteTimeout.
type EventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewEventStream sends the headers and a first comment, so that the reader and every proxy know at once that it is
// open.
func NewEventStream(w http.ResponseWriter) (*EventStream, error) {
	SetStreamHeaders(w.Header())
	w.WriteHeader(http.StatusOK)
	out := &EventStream{w: w, control: http.NewResponseController(w)}
	return out, out.Comment("open")
}

// SetStreamHeaders sets the headers of an event stream, so that no proxy stores, packs or buffers it.
//
// no-transform keeps proxies from compressing (RFC 9111, section 5.2.2.6), and X-Accel-Buffering is nginx's own header.
func SetStreamHeaders(h http.Header) {
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
}

// Send writes frames made by AppendFrame and flushes.
func (out *EventStream) Send(frames []byte) error {
	if _, err := out.w.Write(frames); err != nil {
		return err
	}
	return out.control.Flush()
}

// Comment sends a line that readers ignore. It keeps the connection alive and finds out whether it still is.
func (out *EventStream) Comment(text string) error {
	return out.Send([]byte(": " + text + "\n\n"))
}

// Retry tells the reader to come back after that many milliseconds.
func (out *EventStream) Retry(milliseconds int) error {
	return out.Send([]byte("retry: " + strconv.Itoa(milliseconds) + "\n\n"))
}

// AppendFrame appends one event. An id of 0 means none. Each line of data gets its own "data:", whatever ends it, so
// that nothing inside data can start a field or end the event. event must not contain a line break.
func AppendFrame(dst []byte, id int64, event string, data []byte) []byte {
	if id > 0 {
		dst = append(dst, "id: "...)
		dst = strconv.AppendInt(dst, id, 10)
		dst = append(dst, '\n')
	}
	if event != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, event...)
		dst = append(dst, '\n')
	}
	for more := true; more; {
		var line []byte
		line, data, more = cutLine(data)
		dst = append(dst, "data: "...)
		dst = append(dst, line...)
		dst = append(dst, '\n')
	}
	return append(dst, '\n')
}

// cutLine cuts at the first LF, CR or CRLF: the three line ends of the format.
func cutLine(data []byte) (line, rest []byte, more bool) {
	i := bytes.IndexAny(data, "\r\n")
	if i < 0 {
		return data, nil, false
	}
	end := i + 1
	if data[i] == '\r' && end < len(data) && data[end] == '\n' {
		end++
	}
	return data[:i], data[end:], true
}

// FrameFlush is how many bytes of frames are gathered before they are written. A stream holds no buffer while it waits.
// It is a choice.
const FrameFlush = 32 << 10

// frameBuffer is borrowed while frames are made. Big ones are left to the collector, so that one large event does not
// stay in memory.
type frameBuffer struct{ B []byte }

// FramePool lends out buffers for frames. Its methods may be called at the same time.
type FramePool struct{ pool sync.Pool }

// Get returns an empty buffer.
func (p *FramePool) Get() *frameBuffer {
	if f, ok := p.pool.Get().(*frameBuffer); ok {
		f.B = f.B[:0]
		return f
	}
	return &frameBuffer{B: make([]byte, 0, 4<<10)}
}

// Put takes a buffer back, unless it has grown so large that it would waste memory.
func (p *FramePool) Put(f *frameBuffer) {
	if cap(f.B) <= 2*FrameFlush {
		p.pool.Put(f)
	}
}
