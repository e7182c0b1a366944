package httpio

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/footnote/footnote/chat"
)

// DecodeJSON decodes JSON that a client sent into v. It refuses what clients never intend and encoding/json accepts:
// unknown and duplicate names, names in another case, text that is not UTF-8, and NUL characters, which no store
// keeps.
//
// Types with an UnmarshalJSON check their own names.
func DecodeJSON(body []byte, v any) error {
	if err := json.Unmarshal(body, v, json.RejectUnknownMembers(true), wholeNumbers); err != nil {
		return jsonError(body, err)
	}
	return checkNUL(body)
}

// DecodeOpenJSON is DecodeJSON for APIs defined by others: unknown names are accepted.
func DecodeOpenJSON(body []byte, v any) error {
	if err := json.Unmarshal(body, v, wholeNumbers); err != nil {
		return jsonError(body, err)
	}
	if err := checkCase(jsontext.NewDecoder(bytes.NewReader(body)), reflect.TypeOf(v)); err != nil {
		return err
	}
	return checkNUL(body)
}

// CheckJSON validates JSON that others decode: its syntax, its text, and that no object has a name twice.
func CheckJSON(body []byte) error { return DecodeOpenJSON(body, new(jsontext.Value)) }

// wholeNumbers decodes numbers such as 5.0 and 5e1 into integers. JSON Schema and clients with one number type
// consider them whole.
var wholeNumbers = json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFromFunc(decodeWhole[int]), json.UnmarshalFromFunc(decodeWhole[int64]),
))

// decodeWhole decodes one integer. A float64 holds every whole number up to 1<<53.
func decodeWhole[T int | int64](d *jsontext.Decoder, n *T) error {
	if d.PeekKind() != '0' {
		return json.SkipFunc
	}
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	whole, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		f, wrong := strconv.ParseFloat(string(raw), 64)
		if wrong != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
			return &json.SemanticError{JSONKind: '0', JSONValue: raw.Clone(), Err: err}
		}
		whole = int64(f)
	}
	*n = T(whole)
	return nil
}

const (
	notUTF8  = "The body must be valid UTF-8."
	halfPair = `The body contains an unpaired surrogate (\ud800 to \udfff). Send both halves of the pair, or the ` +
		`character itself.`
)

// kindNames are the names of JSON values in errors.
var kindNames = map[jsontext.Kind]string{
	'n': "a null", 't': "a bool", 'f': "a bool", '"': "a string", '0': "a number", '{': "an object", '[': "an array",
}

// jsonError returns a user-facing message for a decoding error, with the field's name.
func jsonError(body []byte, err error) error {
	if ours, ok := errors.AsType[*chat.Error](err); ok { // an error of the field's own decoder
		return ours
	}
	if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return Invalid(syntaxFault(body, wrong))
	}
	wrong, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return &chat.Error{
			Code: chat.CodeInvalid, Message: "Could not read the body. Check its format and try again.", Err: err,
		}
	}
	field := strings.Join(namesIn(wrong.JSONPointer), ".")
	kind, ok := kindNames[wrong.JSONKind]
	if !ok {
		kind = "a value"
	}
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return unknownName(wrong.JSONPointer.LastToken(), fieldTypes(wrong.GoType))
	case field == "":
		return Invalid("The body must be a JSON object, not " + kind + ".")
	case wrong.GoType == reflect.TypeFor[Moment]():
		return Invalid(fmt.Sprintf(
			"The field %q must be a date such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z.", field,
		))
	case wrong.JSONKind == '0' && wrong.JSONValue != nil:
		kind += " " + string(wrong.JSONValue)
	}
	return Invalid(fmt.Sprintf(
		"The field %q can't be %s. See GET /openapi.json for its type.", field, kind,
	))
}

// syntaxFault returns the message for a body that is no JSON. The library's errors for surrogates and for what
// follows the value are known by their text alone.
func syntaxFault(body []byte, wrong *jsontext.SyntacticError) string {
	switch text := wrong.Err.Error(); {
	case errors.Is(wrong, jsontext.ErrDuplicateName):
		return fmt.Sprintf("Duplicate field %q in one object. Send it once.", wrong.JSONPointer.LastToken())
	case len(bytes.TrimSpace(body)) == 0:
		return "The body is empty. Send a JSON object."
	case !utf8.Valid(body):
		return notUTF8
	case errors.Is(wrong, io.ErrUnexpectedEOF):
		return "The body is not valid JSON: unexpected end of input."
	case strings.Contains(text, "surrogate pair"):
		return halfPair
	case strings.HasSuffix(text, "after top-level value"):
		return "The body must be a single JSON object, without data after it."
	}
	return fmt.Sprintf("The body is not valid JSON: syntax error at byte %d.", wrong.ByteOffset+1)
}

// namesIn returns the names in a pointer, without the indices of lists.
func namesIn(p jsontext.Pointer) (names []string) {
	for token := range p.Tokens() {
		if _, err := strconv.Atoi(token); err != nil {
			names = append(names, token)
		}
	}
	return names
}

// unknownName returns the error for a name that is none of an object's fields.
func unknownName(name string, fields map[string]reflect.Type) error {
	for field := range fields {
		if strings.EqualFold(field, name) {
			return Invalid(fmt.Sprintf(
				"Unknown field %q. Field names are case-sensitive: use %q.", name, field,
			))
		}
	}
	return Invalid(fmt.Sprintf("Unknown field %q. Check its spelling or omit it.", name))
}

// checkCase refuses names in the next value that differ from a field of t only in case. The JSON is valid.
func checkCase(d *jsontext.Decoder, t reflect.Type) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	kind, into := d.PeekKind(), reflect.Invalid
	if t != nil {
		into = t.Kind()
	}
	isList := kind == '[' && into == reflect.Slice
	isObject := kind == '{' && (into == reflect.Struct || into == reflect.Map)
	// The names in a type with its own decoder are unknown here.
	if !isList && !isObject || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return d.SkipValue()
	}
	_, err := d.ReadToken()
	fields := fieldTypes(t)
	for err == nil && d.PeekKind() != ']' && d.PeekKind() != '}' {
		if isList {
			err = checkCase(d, t.Elem())
		} else {
			err = checkMember(d, t, fields)
		}
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	return err
}

// checkMember checks the next name of an object and its value.
func checkMember(d *jsontext.Decoder, t reflect.Type, fields map[string]reflect.Type) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	name := token.String()
	inside, known := fields[name]
	if t.Kind() == reflect.Map {
		inside = t.Elem()
	} else if !known {
		for field := range fields {
			if strings.EqualFold(field, name) {
				return unknownName(name, fields)
			}
		}
	}
	return checkCase(d, inside)
}

var knownFields sync.Map // reflect.Type → map[string]reflect.Type

// fieldTypes returns the types of a struct's fields by their names in JSON.
func fieldTypes(t reflect.Type) map[string]reflect.Type {
	if t.Kind() != reflect.Struct {
		return nil
	}
	if known, ok := knownFields.Load(t); ok {
		return known.(map[string]reflect.Type)
	}
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "-" && (name != "" || !f.Anonymous) {
			fields[cmp.Or(name, f.Name)] = f.Type
		}
	}
	knownFields.Store(t, fields)
	return fields
}

// checkNUL refuses JSON with an escaped NUL character.
func checkNUL(body []byte) error {
	if !bytes.Contains(body, []byte(`\u0000`)) {
		return nil
	}
	for d := jsontext.NewDecoder(bytes.NewReader(body)); ; {
		token, err := d.ReadToken()
		if err != nil {
			return nil // the end: the JSON is valid
		}
		if token.Kind() != '"' || !strings.ContainsRune(token.String(), 0) {
			continue
		}
		field := ""
		if names := namesIn(d.StackPointer()); len(names) > 0 {
			field = names[len(names)-1]
		}
		return Invalid(nulIn(field))
	}
}

// nulIn returns the error for a NUL character in a field or its name; stores can't keep it.
func nulIn(field string) string {
	if field = strings.ReplaceAll(field, "\x00", ""); field == "" {
		return "The body contains a NUL character (U+0000), which is not allowed."
	}
	return fmt.Sprintf("The field %q contains a NUL character (U+0000), which is not allowed.", field)
}
