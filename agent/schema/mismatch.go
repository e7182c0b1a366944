// Package schema describes validation errors of a JSON Schema in plain words: the invalid field, and its allowed
// values. Validators report errors in terms of the schema; models and people need the field and an example. Misfit
// is its only function.
//
// It is not a validator: callers use it after validation has failed, and it finds the invalid field. Its input is
// the schema and the value as encoding/json decodes it. Its output is the end of a sentence, in lower case and
// without a full stop, with names in quotation marks. It is stateless and safe for concurrent use.
package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/footnote/footnote/text/english"
)

// Mismatch describes the first validation error of an input in plain words, for people and models: the field, and its
// allowed values.
//
// The result is never empty, even for a valid input. Required fields come first, then the others sorted by name.
// Names of unknown fields are truncated, since they may be of any length.
func Mismatch(schema *jsonschema.Schema, in map[string]any) string {
	if wrong := wrongAt(schema, in, ""); wrong != "" {
		return wrong
	}
	if names := fieldsOf(schema); names != "" {
		return "it does not fit the fields " + names
	}
	return "it does not fit what the tool takes"
}

// wrongAt describes the first validation error of a value, or returns an empty string.
//
// path is the value's path in the input, such as “filters.dates[1]”, and empty for the whole input. Objects and
// lists are checked before the value itself, so that the message names the innermost field.
func wrongAt(s *jsonschema.Schema, v any, path string) string {
	if s == nil {
		return ""
	}
	switch v := v.(type) {
	case map[string]any:
		if wrong := wrongField(s, v, path); wrong != "" {
			return wrong
		}
	case []any:
		for i, entry := range v {
			if wrong := wrongAt(s.Items, entry, path+"["+strconv.Itoa(i)+"]"); wrong != "" {
				return wrong
			}
		}
	}
	if fitsPart(s, v) || path == "" {
		return ""
	}
	return fmt.Sprintf("“%s” must be %s", path, describeAllowed(s))
}

// wrongField describes the first field that is missing, unknown or invalid.
func wrongField(s *jsonschema.Schema, v map[string]any, path string) string {
	if path != "" {
		path += "."
	}
	for _, name := range s.Required {
		if _, there := v[name]; !there {
			return fmt.Sprintf("“%s” is missing; it must be %s", path+name, describeAllowed(s.Properties[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		field, known := s.Properties[name]
		if !known && isClosed(s) {
			return fmt.Sprintf("there is no field “%s”; there are %s", clipName(path+name), cmp.Or(fieldsOf(s), "none"))
		}
		if !known {
			field = s.AdditionalProperties
		}
		if wrong := wrongAt(field, v[name], path+name); wrong != "" {
			return wrong
		}
	}
	return ""
}

// isClosed reports whether an object allows only the fields of its schema.
func isClosed(s *jsonschema.Schema) bool {
	more := s.AdditionalProperties
	// Additional properties are forbidden by a schema that nothing satisfies: {"not": {}}.
	return more != nil && more.Not != nil && len(s.PatternProperties) == 0
}

// fitsPart validates a value against a part of a schema. A part that refers to other parts can't be resolved alone
// and accepts every value. The copy is needed because a schema can be resolved only once.
func fitsPart(s *jsonschema.Schema, v any) bool {
	alone, err := s.CloneSchemas().Resolve(nil)
	return err != nil || alone.Validate(v) == nil
}

// fieldsOf lists the fields of a schema, sorted and in quotation marks, empty if it has no fields.
func fieldsOf(s *jsonschema.Schema) string {
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, "“"+name+"”")
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// describeAllowed describes the values that a schema allows: "a whole number from 1 to 10". It follows “must be” in
// a sentence.
func describeAllowed(s *jsonschema.Schema) string {
	if s == nil {
		return "given"
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, spellValue(v))
		}
		return "one of " + strings.Join(values, ", ")
	}
	if s.Const != nil {
		return spellValue(*s.Const)
	}
	kinds := s.Types
	if s.Type != "" {
		kinds = []string{s.Type}
	}
	var said []string
	for _, kind := range kinds {
		if kind != "null" {
			said = append(said, allowedOf(kind, s))
		}
	}
	if slices.Contains(kinds, "null") {
		said = append(said, "null")
	}
	if len(said) == 0 {
		return "what the tool's schema asks for"
	}
	return strings.Join(said, ", or ")
}

// allowedOf describes the values of one type. An unknown type is returned as it is.
func allowedOf(kind string, s *jsonschema.Schema) string {
	switch kind {
	case "integer", "number":
		return map[string]string{"integer": "a whole number", "number": "a number"}[kind] + describeBounds(s)
	case "string":
		what := "a text" + describeCount(s.MinLength, s.MaxLength, "character")
		if s.Pattern != "" {
			what += " of the form " + s.Pattern
		}
		if s.Format != "" {
			what += " of the format " + s.Format
		}
		return what
	case "boolean":
		return "true or false"
	case "array":
		return "a list" + describeCount(s.MinItems, s.MaxItems, "item")
	case "object":
		if names := fieldsOf(s); names != "" {
			return "an object with the fields " + names
		}
		return "an object"
	}
	return kind
}

// describeBounds describes the range of a number. The text begins with a space, and is empty without limits.
func describeBounds(s *jsonschema.Schema) string {
	number := func(f *float64) string { return strconv.FormatFloat(*f, 'f', -1, 64) }
	var said []string
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return " from " + number(s.Minimum) + " to " + number(s.Maximum)
	case s.Minimum != nil:
		said = append(said, "of at least "+number(s.Minimum))
	case s.Maximum != nil:
		said = append(said, "of at most "+number(s.Maximum))
	}
	if s.ExclusiveMinimum != nil {
		said = append(said, "above "+number(s.ExclusiveMinimum))
	}
	if s.ExclusiveMaximum != nil {
		said = append(said, "below "+number(s.ExclusiveMaximum))
	}
	if s.MultipleOf != nil {
		said = append(said, "divisible by "+number(s.MultipleOf))
	}
	if len(said) == 0 {
		return ""
	}
	return " " + strings.Join(said, " and ")
}

// describeCount describes a minimum and maximum count. The text begins with a space; a minimum of 0 alone is
// omitted.
func describeCount(least, most *int, what string) string {
	switch {
	case least != nil && most != nil:
		return fmt.Sprintf(" of %d to %s", *least, english.Count(*most, what))
	case most != nil:
		return " of at most " + english.Count(*most, what)
	case least != nil && *least > 0:
		return " of at least " + english.Count(*least, what)
	}
	return ""
}

// clipName truncates a name of the input to 80 characters.
func clipName(name string) string {
	if runes := []rune(name); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return name
}

// spellValue formats a value: texts in quotation marks, all else as JSON.
func spellValue(v any) string {
	if s, ok := v.(string); ok {
		return "“" + s + "”"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
