// Package ssetest parses server-sent events as browsers do, for tests.
package ssetest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// Event is a parsed event.
type Event struct{ ID, Name, Data string }

// Reader parses server-sent events as in the HTML standard: lines end with LF, CR or CRLF, and an empty line ends an
// event. Comments are counted and the retry hint is stored separately.
type Reader struct {
	Buffer   *bufio.Reader
	lastID   string
	Comments int
	Retry    string // milliseconds, as sent
}

// NewReader returns a reader of a stream.
func NewReader(r io.Reader) *Reader { return &Reader{Buffer: bufio.NewReader(r)} }

// Line returns the next line without its end.
func (s *Reader) Line() (string, error) {
	var b strings.Builder
	for {
		if _, err := s.Buffer.Peek(1); err != nil {
			return "", err
		}
		buf, err := s.Buffer.Peek(s.Buffer.Buffered())
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
		if _, err := s.Buffer.Discard(max(end+1, len(buf))); err != nil {
			return "", err
		}
		if end < 0 {
			continue
		}
		if cr >= 0 {
			if next, err := s.Buffer.Peek(1); err == nil && next[0] == '\n' {
				_, err = s.Buffer.Discard(1)
				return b.String(), err
			}
		}
		return b.String(), nil
	}
}

// Next returns the next event, or io.EOF.
func (s *Reader) Next() (Event, error) {
	var ev Event
	var data []string
	for {
		line, err := s.Line()
		if err != nil {
			return Event{}, err
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
			s.Comments++
		case "id":
			s.lastID = value
		case "event":
			ev.Name = value
		case "data":
			data = append(data, value)
		case "retry":
			s.Retry = value
		}
	}
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
