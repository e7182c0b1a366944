package tools

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// queryNames are what models call the one text that a tool searches with. Only the first of them that is there is
// taken.
var queryNames = []string{
	"q", "search_query", "search", "search_term", "search_terms", "keywords", "keyword", "terms", "question", "queries",
	"text", "input",
}

// CoerceArgs returns a model's arguments in the types of the tool's schema, where what is meant is plain: a number as
// text, a list of one, the schema's own form around a value, another name of the query. All else stays, for the schema
// to judge. Nothing is guessed that could mean two things. Tools of other servers get their arguments as they are.
func (t *Tool) CoerceArgs(args json.RawMessage) json.RawMessage {
	var in map[string]any
	if t.Verbatim || json.Unmarshal(args, &in) != nil || in == nil {
		return args
	}
	// A query under another name is only taken where the schema has no field of that name and query itself is not
	// given: otherwise it would be a guess.
	fields := t.Schema.Schema().Properties
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
			in[name] = meantFor(field, value)
		}
	}
	raw, err := Encode(in)
	if err != nil {
		// The arguments came from JSON, so this is not reached; what the model wrote is then judged as it is.
		return args
	}
	return raw
}

// meantFor is a value in the type of its field, or as it is. n-n == 0 is false for infinities and NaN, which ParseFloat
// reads as well. The order matters: a value in the schema's own form is unwrapped first, then a list where one value
// belongs, then a text where a list, a number or a truth value belongs. A text that is no finite number stays a text,
// for the schema to refuse.
func meantFor(s *jsonschema.Schema, value any) any {
	takes := func(kind string) bool { return s.Type == kind || slices.Contains(s.Types, kind) }
	if object, ok := value.(map[string]any); ok && !takes("object") { // {"type": "string", "value": …}
		if inner, ok := object["value"]; ok {
			value = inner
		}
	}
	// One value in a list is that value; several words in a list are a text of them.
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
		// Some models write a list as text, with its brackets.
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

// textsOf are the entries of a list if all of them are texts, else nil.
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
