package tools

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// queryNames are the aliases that models use for the query argument, in order of precedence. Only the first alias in
// the arguments is used.
var queryNames = []string{
	"q", "search_query", "search", "search_term", "search_terms", "keywords", "keyword", "terms", "question", "queries",
	"text", "input",
}

// CoerceArgs normalises a model's arguments to the types of the tool's schema, where the meaning is unambiguous. It
// converts a number as text, a list of one value, the schema's form around a value, and an alias of the query. All
// other arguments stay unchanged for the schema to validate. Arguments of MCP tools (Verbatim) are not changed.
func (t *Tool) CoerceArgs(args json.RawMessage) json.RawMessage {
	var in map[string]any
	if t.Verbatim || json.Unmarshal(args, &in) != nil || in == nil {
		return args
	}
	// An alias of query is used only if the schema has no field of that name and query itself is missing.
	fields := t.schema.Schema().Properties
	if _, there := in["query"]; !there && fields["query"] != nil {
		for _, name := range queryNames {
			if _, given := in[name]; given && fields[name] == nil && t.aliases[name] == "" {
				in["query"] = in[name]
				delete(in, name)
				break
			}
		}
	}
	for name, value := range in {
		proper := name
		if alias, ok := t.aliases[name]; ok {
			proper = alias
		}
		if field := fields[proper]; field != nil {
			in[name] = coerceTo(field, value)
		}
	}
	raw, _ := Encode(in) // it was decoded from JSON
	return raw
}

// coerceTo converts a value to the type of its field, or returns it unchanged. The order matters: first it unwraps
// the schema's form, then a list if the field takes one value, then parses text as a list, number or boolean. Text
// that is not a finite number stays text, which the schema refuses. n-n == 0 is false for infinities and NaN, which
// ParseFloat accepts.
func coerceTo(s *jsonschema.Schema, value any) any {
	takes := func(kind string) bool { return s.Type == kind || slices.Contains(s.Types, kind) }
	if object, ok := value.(map[string]any); ok && !takes("object") { // {"type": "string", "value": …}
		if inner, ok := object["value"]; ok {
			value = inner
		}
	}
	// A list of one value becomes that value; a list of words becomes one text.
	if list, ok := value.([]any); ok && !takes("array") {
		if len(list) == 1 {
			value = list[0]
		} else if words := textsOf(list); takes("string") && len(words) > 0 {
			value = strings.Join(words, " ")
		}
	}
	text, isText := value.(string)
	text = strings.TrimSpace(text)
	switch {
	case value == nil:
	case takes("array"):
		if _, isList := value.([]any); isList {
			break
		}
		var list []any
		// Some models encode a list as text, with its brackets.
		if isText && json.Unmarshal([]byte(text), &list) == nil && list != nil {
			return list
		}
		if isText && text != "" && !takes("string") {
			return []any{text}
		}
	case !isText || takes("string"):
	case takes("integer") || takes("number"):
		if n, err := strconv.ParseFloat(text, 64); err == nil && n-n == 0 {
			return n
		}
	case takes("boolean"):
		if b, err := strconv.ParseBool(strings.ToLower(text)); err == nil {
			return b
		}
	}
	return value
}

// textsOf returns the entries of a list if all are strings, else nil.
func textsOf(list []any) []string {
	var out []string
	for _, entry := range list {
		text, ok := entry.(string)
		if !ok {
			return nil
		}
		out = append(out, text)
	}
	return out
}
