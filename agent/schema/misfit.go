// Package schema says in plain words what does not fit a JSON Schema: which field, and what it may hold. Validators say
// it in terms of the schema; models and people need the field and an example of what is right. Misfit is its only
// function.
//
// It is no validator: callers ask it when one has said no, and it looks for the field that is to blame. What comes in
// is the schema and the value as encoding/json reads it; what goes out is the end of a sentence, in lower case and
// without a full stop, with names in quotation marks. It keeps nothing and may be called by many at once.
package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/footnote/footnote/text/english"
)

// Misfit says in plain words what is wrong with an input that does not fit: the field, and what it may hold. It is
// for people and models alike.
//
// It always says something, also of an input that does fit. Required fields come first, then the others in the order
// of their names, and the first that is wrong is told. Names of fields that the input made up are cut, since they may
// be of any length.
func Misfit(schema *jsonschema.Schema, in map[string]any) string {
	if wrong := wrongAt(schema, in, ""); wrong != "" {
		return wrong
	}
	if names := fieldsOf(schema); names != "" {
		return "it does not fit the fields " + names
	}
	return "it does not fit what the tool takes"
}

// wrongAt finds the first thing that is wrong with a value at a path, and nothing if it can't tell.
//
// path is that of the value in the input, such as “filters.dates[1]”, and empty for all of it. It goes down into
// objects and lists before it judges the value itself, so that the message names the innermost one.
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

// wrongField finds the first field that is missing, unknown or wrong.
func wrongField(s *jsonschema.Schema, v map[string]any, path string) string {
	if path != "" {
		path += "."
	}
	for _, name := range s.Required {
		if _, there := v[name]; !there {
			return fmt.Sprintf("“%s” is missing; it must be %s", path+name, describeAllowed(s.Properties[name]))
		}
	}
	names := make([]string, 0, len(v))
	for name := range v {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
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

// isClosed reports whether an object may have no other fields than those of its schema.
func isClosed(s *jsonschema.Schema) bool {
	more := s.AdditionalProperties
	// A schema is closed when what else may be there must not be anything: {"not": {}}.
	return more != nil && more.Not != nil && len(s.PatternProperties) == 0
}

// fitsPart checks a part of a schema by itself. One that refers to other parts can't be checked so, and lets
// everything pass. The copy is needed because a schema can be resolved only once.
func fitsPart(s *jsonschema.Schema, v any) bool {
	alone, err := s.CloneSchemas().Resolve(nil)
	return err != nil || alone.Validate(v) == nil
}

// fieldsOf lists the fields of a schema in quotation marks, by their names, and is empty for one that has none.
func fieldsOf(s *jsonschema.Schema) string {
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, "“"+name+"”")
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// describeAllowed describes the values that a schema lets pass: "a whole number from 1 to 10". It follows “must be” in
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

// allowedOf describes the values of one type. A type that JSON Schema does not have is said as it is.
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

// describeBounds says between which numbers a value lies. The text begins with a space, or is empty when there are no
// bounds.
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

// describeCount says how many of something there may be. Likewise, it begins with a space. At least none is not said.
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

// clipName is a name that somebody else chose, at most 80 characters of it.
func clipName(name string) string {
	if runes := []rune(name); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return name
}

// spellValue writes a value as a reader knows it: texts in quotation marks, all else as JSON.
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
