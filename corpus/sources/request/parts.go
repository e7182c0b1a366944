package request

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
)

// MaxPart is the maximum size in bytes of one part of a list, such as an entry with all its attributes. A parser
// that buffers one part at a time needs some 40 times that in the worst case.
const MaxPart = 1 << 20

// maxParts is the maximum number of parts of a stream. Parsers take a constant time for each part, however small.
const maxParts = 10 * sources.MaxItems

// Parts limits the parts of a stream. Reads return sources.ErrTooLarge when more bytes than the size of a part were
// read since Next, or after the millionth part. It is used by one goroutine.
type Parts struct {
	from       io.Reader
	size, left int
	count      int
}

// NewParts limits a stream to parts of so many bytes. The first part starts at once.
func NewParts(r io.Reader, size int) *Parts { return &Parts{from: r, size: size, left: size} }

// Next starts another part. Bytes that a parser has buffered count to the previous part.
func (p *Parts) Next() {
	if p.count++; p.count < maxParts {
		p.left = p.size
	} else {
		p.left = 0
	}
}

// Read implements io.Reader.
func (p *Parts) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, sources.ErrTooLarge
	}
	n, err := p.from.Read(b[:min(len(b), p.left)])
	p.left -= n
	return n, err
}

// Stream decodes JSON as a stream. Each element of an array and each member of an object is a part.
type Stream struct {
	parts *Parts
	in    *json.Decoder
	begun bool
}

// errShape is returned for JSON of an unexpected structure.
var errShape = errors.New("unexpected JSON structure")

// ReadStream decodes the whole body with read and closes it. JSON that breaks off is a temporary error. Invalid
// JSON, or JSON of another structure, returns wrong. Other errors of read are returned unchanged.
func (r *Response) ReadStream(read func(*Stream) error, wrong error) error {
	defer r.Body.Close()
	parts := NewParts(r.Body, MaxPart)
	s := &Stream{parts: parts, in: json.NewDecoder(parts)}
	err := read(s)
	if err == nil {
		if _, err = s.in.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.Join(errShape, err)
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	_, told := errors.AsType[*chat.Error](err)
	switch {
	case told:
		return err
	case errors.As(err, &syntax), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		if s.begun {
			return &chat.Error{
				Code:    chat.CodeUnavailable,
				Message: sources.Retried("The server's list is incomplete."), Err: err,
			}
		}
		return wrong
	case errors.As(err, &kind), errors.Is(err, errShape):
		return wrong
	}
	return err
}

// Array decodes an array and calls each at the start of every element; each decodes it. null is an empty array.
func (s *Stream) Array(each func() error) error { return s.all('[', each) }

// Object decodes an object and calls each with the name of every member; each decodes its value.
func (s *Stream) Object(each func(name string) error) error {
	return s.all('{', func() error {
		name, err := s.in.Token()
		if err != nil {
			return err
		}
		text, _ := name.(string) // the decoder accepts no other type
		return each(text)
	})
}

func (s *Stream) all(begin json.Delim, each func() error) error {
	switch token, err := s.in.Token(); {
	case err != nil:
		return err
	case token == nil && begin == '[':
		return nil
	case token != begin:
		return errShape
	}
	s.begun = true
	for s.in.More() {
		s.parts.Next()
		if err := each(); err != nil {
			return err
		}
	}
	_, err := s.in.Token()
	return err
}

// Value decodes the next value.
func (s *Stream) Value(into any) error { return s.in.Decode(into) }
