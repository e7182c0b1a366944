package openapi

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/footnote/footnote/chat"
)

// sourceDocs holds the parts of the API's Go source that a running program can't read: comments and constants. A test
// collects them, see source_docs_test.go.
//
// They are in a file because comments are not compiled. The test writes the file, which is checked in; it fails
// while the file differs from the source.
type sourceDocs struct {
	// The descriptions of fields, by package, type and field: "chat.Step.Title".
	Fields map[string]string
	// The descriptions of fields without one of their own, by JSON name.
	Shared map[string]string
	// The values of named types, by package and type, in the order of the constants.
	Types map[string][]string
	// The descriptions of error codes.
	Codes map[chat.Code]string
	// The constants that tags refer to, by package and constant; for a type's name its values.
	Names map[string]any
}

//go:embed source_docs.json
var sourceDocsFile []byte

// It is decoded once, on first use, and read-only.
var source = sync.OnceValue(func() sourceDocs {
	var s sourceDocs
	if err := json.Unmarshal(sourceDocsFile, &s); err != nil {
		panic(err) // source_docs.json is embedded
	}
	return s
})

// codeDescription returns a code's description and the code: "Its state does not allow it (conflict)."
func (s sourceDocs) codeDescription(code chat.Code) string {
	return strings.TrimSuffix(s.Codes[code], ".") + " (" + string(code) + ")."
}

// field is the description of a struct's field beyond its Go type: its comment and its tag api, a comma-separated
// list:
//
//	need            a request must have it
//	min=1, max=50   of a number; of the length of a text or a list
//	form=session    the text is of one of the forms, see there
//	filled          the text is not blank
//	values=up|down  the values of a text, or of each text of a list
//	initial=5       the default of an absent one
//	only=false      the only accepted value
//	pairs           a list of lists of two texts that are not blank
//	shared          the comment applies to all fields of this JSON name that have none
//
// A value that begins with a capital letter is a constant of the type's package; other packages are a prefix:
// max=chat.MaxQuestion. values also accepts a type: values=chat.Rating.
//
// The comment is the first paragraph of the comment above the field or, without that, of the trailing one, if it
// ends with a full stop. Other remarks are for readers of the code.
type field struct {
	about    string
	need     bool
	pattern  string
	Min, Max *float64
	initial  any
	values   []any
	only     any
	pair     bool
}

// sourceName returns a type's name in the source: chat.Step.
func sourceName(t reflect.Type) string { return path.Base(t.PkgPath()) + "." + t.Name() }

// readField parses the comment and tag of a field.
//
// t is the struct, f its field, and name the field's JSON name. A field's own comment takes precedence over the
// shared one of its name. The error names an unknown option.
func readField(t reflect.Type, f reflect.StructField, name string) (field, error) {
	out := field{about: cmp.Or(source().Fields[sourceName(t)+"."+f.Name], source().Shared[name])}
	for option := range strings.SplitSeq(f.Tag.Get("api"), ",") {
		if err := out.readOption(t, option); err != nil {
			return out, fmt.Errorf("%v.%s: %w", t, f.Name, err)
		}
	}
	return out, nil
}

// Limits may be constants, so that a limit is defined once in the source and the description can't differ from the
// validation.
func (f *field) readOption(t reflect.Type, option string) (err error) {
	name, value, _ := strings.Cut(option, "=")
	switch name {
	case "", "shared": // the text of shared is in source
	case "need":
		f.need = true
	case "filled":
		// The pattern refuses the empty text as well; the length is for clients that do not evaluate patterns.
		f.pattern, f.Min = notBlank, to(1)
	case "form":
		form, ok := forms[value]
		if !ok {
			return fmt.Errorf("there is no form %q", value)
		}
		f.pattern, f.Max = form.pattern, form.most
	case "min":
		f.Min, err = numberOf(t, value)
	case "max":
		f.Max, err = numberOf(t, value)
	case "values":
		for word := range strings.SplitSeq(value, "|") {
			if constantName(t, word) == "" { // 2.0 is a text here
				f.values = append(f.values, word)
			} else if v, err := valueOf(t, word); err != nil {
				return err
			} else if list, ok := v.([]any); ok {
				f.values = append(f.values, list...)
			} else {
				f.values = append(f.values, v)
			}
		}
	case "initial":
		f.initial, err = valueOf(t, value)
	case "only":
		f.only, err = valueOf(t, value)
	case "pairs":
		f.pair = true
	default:
		return fmt.Errorf("the tag api has no option %q", option)
	}
	return err
}

// valueOf parses a word of a tag: a constant, a number, a truth value, or the word itself.
//
// A number is a float64, as in JSON. A constant missing in source_docs.json is an error, since it would be described as
// a word.
func valueOf(t reflect.Type, word string) (any, error) {
	if name := constantName(t, word); name != "" {
		if v, ok := source().Names[name]; ok {
			return v, nil
		}
		return nil, fmt.Errorf("%s is not in source_docs.json: run 'make generate'", name)
	}
	var v any
	if json.Unmarshal([]byte(word), &v) == nil {
		return v, nil
	}
	return word, nil
}

// constantName returns the constant that a word of a tag refers to, with its package; empty for a literal value.
//
// A word that begins with a small letter or a digit is a literal value, and so is one with such a part after the
// point.
func constantName(t reflect.Type, word string) string {
	// Without a package, the constant is in the type's own.
	pkg, name, ok := strings.Cut(word, ".")
	if !ok {
		pkg, name = path.Base(t.PkgPath()), word
	}
	if name == "" || !unicode.IsUpper(rune(name[0])) {
		return ""
	}
	return pkg + "." + name
}

// A constant in source_docs.json is a float64, as all decoded JSON numbers.
func numberOf(t reflect.Type, word string) (*float64, error) {
	v, err := valueOf(t, word)
	if err != nil {
		return nil, err
	}
	n, ok := v.(float64)
	if !ok {
		return nil, fmt.Errorf("%s is no number", strconv.Quote(word))
	}
	return &n, nil
}

// enumValues lists the values of a named type with a closed set.
//
// It is nil for a type whose set is open (//api:open), which is not in source_docs.json.
func enumValues(t reflect.Type) []any {
	if values := source().Types[sourceName(t)]; len(values) > 0 {
		return listValues(values...)
	}
	return nil
}

func listValues[T ~string](values ...T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
