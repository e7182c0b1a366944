package httpio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/footnote/footnote/chat"
)

// encoding/json accepts input that clients never intend: duplicate keys in an object, where the last wins; keys in
// another case; and NUL characters, which no store keeps. A decoded body is validated again for these, so it is
// valid JSON here.

// CheckStrict validates a JSON body against these three. t is the type that it was decoded into; nil if that is not
// known.
//
// RFC 8259, section 4, leaves duplicate names undefined, so they are refused. The names of types with their own
// decoder are not checked, only NUL characters and duplicates.
func CheckStrict(body []byte, t reflect.Type) error {
	s := strict{body: body}
	s.readValue("", t)
	if s.fault == "" {
		return nil
	}
	return Invalid(s.fault)
}

// strict parses valid JSON. Invalid input silently ends the parse, and always ends it.
type strict struct {
	body  []byte
	at    int
	fault string // the first error, as a sentence
}

// skipSpace skips white space.
func (s *strict) skipSpace() {
	for s.at < len(s.body) &&
		(s.body[s.at] == ' ' || s.body[s.at] == '\n' || s.body[s.at] == '\t' || s.body[s.at] == '\r') {
		s.at++
	}
}

// nextByte skips white space and the wanted byte, and reports whether that was present.
func (s *strict) nextByte(wanted byte) bool {
	s.skipSpace()
	if s.at < len(s.body) && s.body[s.at] == wanted {
		s.at++
		return true
	}
	return false
}

// readText skips a string and returns it with its quotes; hasNUL reports an escaped NUL character in it.
func (s *strict) readText() (quoted []byte, hasNUL bool) {
	start := s.at
	for s.at++; s.at < len(s.body); s.at++ {
		switch s.body[s.at] {
		case '\\':
			hasNUL = hasNUL || bytes.HasPrefix(s.body[s.at:], []byte(`\u0000`))
			s.at++
		case '"':
			s.at++
			return s.body[start:s.at], hasNUL
		}
	}
	return s.body[start:], hasNUL
}

// readValue parses the value of a named field.
func (s *strict) readValue(name string, t reflect.Type) {
	s.skipSpace()
	if s.at >= len(s.body) {
		return
	}
	switch s.body[s.at] {
	case '{':
		s.readObject(t)
	case '[':
		s.at++
		var of reflect.Type
		if t = plainType(t); t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
			of = t.Elem()
		}
		for s.fault == "" && !s.nextByte(']') && s.at < len(s.body) {
			before := s.at
			s.readValue(name, of)
			if s.nextByte(','); s.at == before { // no value
				s.at = len(s.body)
			}
		}
	case '"':
		if _, hasNUL := s.readText(); hasNUL && s.fault == "" {
			s.fault = nulIn(name)
		}
	default:
		for s.at < len(s.body) && bytes.IndexByte([]byte(",]} \n\t\r"), s.body[s.at]) < 0 {
			s.at++
		}
	}
}

// readObject parses an object and reports duplicate and unknown names.
func (s *strict) readObject(t reflect.Type) {
	s.at++
	fields, of := fieldTypes(t)
	var few [16][]byte
	seen, many := few[:0], map[string]bool(nil)
	for s.fault == "" && !s.nextByte('}') && s.at < len(s.body) {
		if s.body[s.at] != '"' {
			return
		}
		quoted, hasNUL := s.readText()
		key := quoted[1:max(1, len(quoted)-1)]
		if bytes.IndexByte(key, '\\') >= 0 {
			var plain string
			if json.Unmarshal(quoted, &plain) != nil {
				return
			}
			key = []byte(plain)
		}
		twice := many[string(key)]
		for _, k := range seen {
			twice = twice || bytes.Equal(k, key)
		}
		inside, known := fields[string(key)]
		switch {
		case hasNUL:
			s.fault = "The name of a field holds a NUL character (U+0000), which can't be kept. Leave it out."
		case twice:
			s.fault = fmt.Sprintf("The field %q stands twice in one object. Send it once.", key)
		case !known:
			for name := range fields {
				if strings.EqualFold(name, string(key)) {
					s.fault = fmt.Sprintf(
						"The field %q is not known here: upper and lower case count. Write it %q.", key, name,
					)
				}
			}
		}
		if s.fault != "" {
			return
		}
		if many != nil {
			many[string(key)] = true
		} else if seen = append(seen, key); len(seen) == cap(few) {
			many = map[string]bool{}
			for _, k := range seen {
				many[string(k)] = true
			}
			seen = nil
		}
		if !known {
			inside = of
		}
		if !s.nextByte(':') {
			return
		}
		s.readValue(string(key), inside)
		s.nextByte(',')
	}
}

// nulIn returns the error for a NUL character in a field; stores can't keep it.
func nulIn(field string) string {
	if field == "" {
		return "The body holds a NUL character (U+0000), which can't be kept. Leave it out."
	}
	return fmt.Sprintf("The field %q holds a NUL character (U+0000), which can't be kept. Leave it out.", field)
}

// plainType returns a type without its pointers; nil for a type with its own decoder, whose fields are unknown here.
func plainType(t reflect.Type) reflect.Type {
	for t != nil {
		if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			return nil
		}
		if t.Kind() != reflect.Pointer {
			return t
		}
		t = t.Elem()
	}
	return nil
}

var knownFields sync.Map // reflect.Type → map[string]reflect.Type

// fieldTypes returns the types of an object's fields by JSON name, and the type of all others.
func fieldTypes(t reflect.Type) (fields map[string]reflect.Type, others reflect.Type) {
	if t = plainType(t); t == nil {
		return nil, nil
	}
	switch t.Kind() {
	case reflect.Map:
		return nil, t.Elem()
	case reflect.Struct:
	default:
		return nil, nil
	}
	if known, ok := knownFields.Load(t); ok {
		return known.(map[string]reflect.Type), nil
	}
	fields = map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "", !f.IsExported(), name == "-":
		case name == "":
			fields[f.Name] = f.Type
		default:
			fields[name] = f.Type
		}
	}
	knownFields.Store(t, fields)
	return fields, nil
}

// withoutNUL refuses form fields with NUL characters.
func withoutNUL(form map[string][]string) error {
	for name, list := range form {
		for _, value := range append(list, name) {
			if strings.ContainsRune(value, 0) {
				return &chat.Error{Code: chat.CodeInvalid, Message: nulIn(strings.ReplaceAll(name, "\x00", ""))}
			}
		}
	}
	return nil
}
