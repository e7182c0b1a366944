package openai

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner parses one JSON text without building values: unused values are skipped. The slices it returns are valid
// until reset. After a syntax error bad is set and every method returns nothing. It does not validate; parseEvent
// uses encoding/json for events that must be valid.
type scanner struct {
	b       []byte
	i       int
	bad     bool
	scratch []byte // buffer for unescaped strings
}

// reset starts another text. It invalidates slices that were returned before.
func (s *scanner) reset(b []byte) {
	s.b, s.i, s.bad, s.scratch = b, 0, false, s.scratch[:0]
}

// peek returns the next byte that is not white space, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// fail records a syntax error and skips the rest. It returns false, for its callers to return.
func (s *scanner) fail() bool {
	s.bad, s.i = true, len(s.b)
	return false
}

// end reports whether a valid text has only white space left.
func (s *scanner) end() bool { return !s.bad && s.peek() == 0 && s.i == len(s.b) }

// open enters an object or array if the next value is one that starts with c.
func (s *scanner) open(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.i++
	return true
}

// more moves to the next entry of an opened value. It returns false at the end, which it consumes.
func (s *scanner) more(first *bool, closing byte) bool {
	switch c := s.peek(); {
	case c == closing:
		s.i++
		return false
	// The first entry has no comma before it; the caller detects a missing value.
	case *first:
		*first = false
		return c != 0 || s.fail()
	case c == ',':
		s.i++
		return true
	default:
		return s.fail()
	}
}

// key reads the next key of an object; ok is false at its end.
func (s *scanner) key(first *bool) (key []byte, ok bool) {
	if !s.more(first, '}') {
		return nil, false
	}
	if s.peek() != '"' {
		return nil, s.fail()
	}
	key = s.str()
	if s.peek() != ':' {
		return nil, s.fail()
	}
	s.i++
	return key, !s.bad
}

// str reads the next value and returns it unescaped if it is a string, else nil. A string without a backslash is a
// slice of the text; others are unescaped into scratch, which grows until reset, so that earlier results stay valid.
func (s *scanner) str() []byte {
	if s.peek() != '"' {
		s.skip()
		return nil
	}
	raw, plain := s.quoted()
	if plain || s.bad {
		return raw
	}
	from := len(s.scratch)
	for i := 0; i < len(raw); {
		next := bytes.IndexByte(raw[i:], '\\')
		if next < 0 {
			s.scratch = append(s.scratch, raw[i:]...)
			break
		}
		s.scratch = append(s.scratch, raw[i:i+next]...)
		i += next + s.escape(raw[i+next:])
	}
	return s.scratch[from:len(s.scratch):len(s.scratch)]
}

// quoted reads a string and returns the bytes between its quotes; plain reports that it has no escapes.
func (s *scanner) quoted() (raw []byte, plain bool) {
	from := s.i + 1
	quote := bytes.IndexByte(s.b[from:], '"')
	if quote >= 0 && bytes.IndexByte(s.b[from:from+quote], '\\') < 0 {
		s.i = from + quote + 1
		return s.b[from : from+quote], true
	}
	for i := from; i < len(s.b); i++ {
		switch s.b[i] {
		case '\\':
			i++
		case '"':
			s.i = i + 1
			return s.b[from:i], false
		}
	}
	s.fail()
	return nil, true
}

// escape appends the character of the escape at the start of b and returns its length. An unpaired surrogate is
// replaced by U+FFFD, as in encoding/json (RFC 8259, section 8.2, leaves it open).
func (s *scanner) escape(b []byte) int {
	if len(b) < 2 {
		s.fail()
		return len(b)
	}
	switch c := b[1]; c {
	case 'n':
		s.scratch = append(s.scratch, '\n')
	case 't':
		s.scratch = append(s.scratch, '\t')
	case 'r':
		s.scratch = append(s.scratch, '\r')
	case 'b':
		s.scratch = append(s.scratch, '\b')
	case 'f':
		s.scratch = append(s.scratch, '\f')
	case 'u':
		r := hexRune(b)
		n := 6
		if utf16.IsSurrogate(r) {
			// Two escapes are one rune outside the basic plane (RFC 8259, section 7).
			if pair := utf16.DecodeRune(r, hexRune(b[min(6, len(b)):])); pair != utf8.RuneError {
				r, n = pair, 12
			}
		}
		if r < 0 {
			s.fail()
			return len(b)
		}
		s.scratch = utf8.AppendRune(s.scratch, r)
		return n
	default:
		s.scratch = append(s.scratch, c)
	}
	return 2
}

// hexRune parses \uXXXX, or returns -1 if b does not start with one.
func hexRune(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// skip skips the next value. It counts the depth instead of recursing, so that no text can exhaust the stack.
func (s *scanner) skip() {
	depth := 0
	for {
		switch c := s.peek(); c {
		case 0:
			s.fail()
			return
		case '"':
			s.quoted()
		case '{', '[':
			depth++
			s.i++
		case '}', ']':
			depth--
			s.i++
		case ',', ':':
			if depth == 0 {
				s.fail()
				return
			}
			s.i++
		default:
			s.literal()
		}
		// A value ends when its brackets are closed; an extra closing one is a syntax error.
		if depth <= 0 || s.bad {
			if depth < 0 {
				s.fail()
			}
			return
		}
	}
}

// literal skips a number, true, false or null.
func (s *scanner) literal() {
	from := s.i
	for s.i < len(s.b) && isLiteral(s.b[s.i]) {
		s.i++
	}
	if s.i == from {
		s.fail()
	}
}

// isLiteral reports whether c may be part of a number, true, false or null.
func isLiteral(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
}

// raw reads the next value and returns its bytes.
func (s *scanner) raw() []byte {
	s.peek()
	from := s.i
	s.skip()
	if s.bad {
		return nil
	}
	return s.b[from:s.i]
}

// number reads the next value as an int; ok is false for any other type. Fractions are truncated and clamped to an
// int32.
func (s *scanner) number() (n int, ok bool) {
	c := s.peek()
	raw := s.raw()
	if c != '-' && (c < '0' || c > '9') {
		return 0, false
	}
	if i, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return int(i), true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != f {
		return 0, false
	}
	return int(min(max(f, -1<<31), 1<<31)), true
}
