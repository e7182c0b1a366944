// Package ssetest collects server-sent events as browsers do, for tests.
package ssetest

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/footnote/footnote/text/sse"
)

// Event is an event. ID is the last one of the stream, as browsers send it back.
type Event struct{ ID, Name, Data string }

// Reader reads events.
type Reader struct {
	*sse.Reader
	begin  *bufio.Reader
	lastID string
}

// NewReader returns a reader of a stream.
func NewReader(r io.Reader) *Reader {
	begin := bufio.NewReader(r)
	return &Reader{Reader: sse.NewReader(begin, 16<<20), begin: begin}
}

// Line returns the next line before the first call of Next, so that a comment can be awaited.
func (s *Reader) Line() (string, error) {
	line, err := s.begin.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err
}

// Next returns the next event, or io.EOF.
func (s *Reader) Next() (Event, error) {
	e, err := s.Reader.Next()
	s.lastID = cmp.Or(e.ID, s.lastID)
	return Event{s.lastID, e.Name, string(e.Data)}, err
}

// All returns all events to the end of the stream.
func (s *Reader) All(t testing.TB) []Event {
	t.Helper()
	var events []Event
	for {
		ev, err := s.Next()
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			t.Fatalf("after %d events: %v", len(events), err)
		}
		events = append(events, ev)
	}
}
