package server

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// sseEvent is an event as a browser takes it from the wire.
type sseEvent struct{ ID, Name, Data string }

// sseReader parses as the HTML standard says: lines end with LF, CR or CRLF, and an empty line ends an event. Its comments
// and retry hints are kept apart.
type sseReader struct {
	r        *bufio.Reader
	lastID   string
	comments int
	retry    string
}

func newSSEReader(r io.Reader) *sseReader { return &sseReader{r: bufio.NewReader(r)} }

func (s *sseReader) line() (string, error) {
	var b strings.Builder
	for {
		if _, err := s.r.Peek(1); err != nil {
			return "", err
		}
		buf, err := s.r.Peek(s.r.Buffered())
		if err != nil {
			return "", err
		}
		end := bytes.IndexByte(buf, '\n')
		if end >= 0 {
			buf = buf[:end]
		}
		cr := bytes.IndexByte(buf, '\r')
		if cr >= 0 {
			buf, end = buf[:cr], cr
		}
		b.Write(buf)
		if _, err := s.r.Discard(max(end+1, len(buf))); err != nil {
			return "", err
		}
		if end < 0 {
			continue
		}
		if cr >= 0 {
			if next, err := s.r.Peek(1); err == nil && next[0] == '\n' {
				_, err = s.r.Discard(1)
				return b.String(), err
			}
		}
		return b.String(), nil
	}
}

// next returns the next event, or io.EOF.
func (s *sseReader) next() (sseEvent, error) {
	var ev sseEvent
	var data []string
	for {
		line, err := s.line()
		if err != nil {
			return sseEvent{}, err
		}
		if line == "" {
			if data == nil {
				ev.Name = ""
				continue
			}
			ev.ID, ev.Data = s.lastID, strings.Join(data, "\n")
			return ev, nil
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "":
			s.comments++
		case "id":
			s.lastID = value
		case "event":
			ev.Name = value
		case "data":
			data = append(data, value)
		case "retry":
			s.retry = value
		}
	}
}

// all returns every event to the end of the stream.
func (s *sseReader) all(t testing.TB) []sseEvent {
	t.Helper()
	var events []sseEvent
	for {
		ev, err := s.next()
		if err == io.EOF {
			return events
		}
		if err != nil {
			t.Fatalf("after %d events: %v", len(events), err)
		}
		events = append(events, ev)
	}
}

func FuzzNothingInDataEndsAnEventOrStartsAField(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "\n", "\r", "\r\n", "a\n\nb", "a\r\rb", "id: 99\nevent: run_done", "\n\nid: 7\ndata: x\n\n", "retry: 1\r\n", ": comment\n",
		"\u2028\u2029", "\x00", "\ufeffdata", "end\n", "data: \r\n\r\n",
	} {
		f.Add(seed)
	}
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n")
	f.Fuzz(func(t *testing.T, data string) {
		if !utf8.ValidString(data) {
			return
		}
		wire := appendFrame(nil, 41, "before", []byte("x"))
		wire = appendFrame(wire, 42, "kind", []byte(data))
		wire = appendFrame(wire, 43, "after", []byte("y"))
		reader := newSSEReader(strings.NewReader(string(wire)))
		events := reader.all(t)
		want := []sseEvent{{"41", "before", "x"}, {"42", "kind", lines.Replace(data)}, {"43", "after", "y"}}
		if len(events) != 3 || events[0] != want[0] || events[1] != want[1] || events[2] != want[2] {
			t.Errorf("%q came through as %q", data, events)
		}
		if reader.comments > 0 || reader.retry != "" {
			t.Errorf("%q made a comment or a retry hint", data)
		}
	})
}

func TestAnUnnumberedEventLeavesThePositionAlone(t *testing.T) {
	wire := appendFrame(nil, 5, "a", []byte("1"))
	wire = appendFrame(wire, 0, "reset", []byte("2"))
	events := newSSEReader(strings.NewReader(string(wire))).all(t)
	if len(events) != 2 || events[1].ID != strconv.Itoa(5) {
		t.Errorf("events = %q", events)
	}
}
