package request

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
)

// MaxPart is how many bytes one part of a listing may have, such as an entry with all that is said of it. A parser that
// holds one part at a time needs some 40 times that at worst.
const MaxPart = 1 << 20

// maxParts is how many parts a stream may have. Parsers take a constant time for each part, however small.
const maxParts = 10 * sources.MaxItems

// Parts bounds the parts of a stream: reading fails with sources.ErrTooLarge once more bytes came since Next than a
// part
// may have, or in the part after the millionth. It is used by one goroutine.
type Parts struct {
	from       io.Reader
	size, left int
	count      int
}

// NewParts bounds what is read from r to parts of so many bytes. The first part begins at once.
func NewParts(r io.Reader, size int) *Parts { return &Parts{from: r, size: size, left: size} }

// Next begins another part. Bytes that a parser has read ahead count to the part before.
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

// Stream decodes JSON as it comes. Each element of an array and each member of an object is a part.
type Stream struct {
	parts *Parts
	in    *json.Decoder
	begun bool
}

// errShape is JSON of another shape than was expected.
var errShape = errors.New("the JSON has another shape")

// ReadStream has read decode the whole body, and closes it. JSON that breaks off may be whole another time; JSON of
// another shape, and what is none, fail with wrong. Other errors of read are returned as they are.
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
				Message: "What the server says of its documents breaks off. It is asked again later.", Err: err,
			}
		}
		return wrong
	case errors.As(err, &kind), errors.Is(err, errShape):
		return wrong
	}
	return err
}

// Array reads an array and calls each where an element begins; each reads it. null is an empty array.
func (s *Stream) Array(each func() error) error { return s.all('[', each) }

// Object reads an object and calls each with the name of a member; each reads its value.
func (s *Stream) Object(each func(name string) error) error {
	return s.all('{', func() error {
		name, err := s.in.Token()
		if err != nil {
			return err
		}
		text, _ := name.(string) // the decoder takes nothing else there
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

// Value decodes the value that comes next.
func (s *Stream) Value(into any) error { return s.in.Decode(into) }
