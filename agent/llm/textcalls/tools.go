package textcalls

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text/lazy"
)

// known are the tools that a text may call.
type known struct {
	names  []string
	fields map[string][]string // fields by tool, first the field for a single value; "" there if it is ambiguous
	any    bool                // names of unknown tools count, too
}

// knownOf parses names and fields of tools. Many models write only the value if a tool needs just one: it is for the
// required field, or for the only one.
func knownOf(tools []llm.ToolSpec) known {
	k := known{fields: map[string][]string{}}
	for _, t := range tools {
		var schema struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		_ = json.Unmarshal(t.Schema, &schema) // without fields there is no field for a single value
		fields := slices.Clone(schema.Required)
		for name := range schema.Properties {
			if !slices.Contains(fields, name) {
				fields = append(fields, name)
			}
		}
		if len(schema.Required) == 0 && len(fields) > 1 {
			fields = append([]string{""}, fields...)
		}
		k.names, k.fields[t.Name] = append(k.names, t.Name), fields
	}
	return k
}

// plainName matches the names of functions that servers allow: OpenAI's 64 characters, and the dots of namespaces.
var plainName = lazy.Regexp(`^[A-Za-z][\w.-]{0,63}$`)

// toolNamed resolves a name in a call to a tool, and returns an empty string if there is no match. llm.ToolNamed
// tolerates case, namespaces and parts of names.
func (k known) toolNamed(said string) string {
	said = strings.TrimSpace(said)
	if name := llm.ToolNamed(said, k.names); name != "" || !k.any || !plainName().MatchString(said) {
		return name
	}
	return said
}

// singleArgument builds the arguments from one value, for the field that must be meant. ok is false if it is
// ambiguous, since a guess would run the wrong call.
func (k known) singleArgument(name string, value any) (map[string]any, bool) {
	fields := k.fields[name]
	if len(fields) == 0 || fields[0] == "" {
		return nil, false
	}
	return map[string]any{fields[0]: value}, true
}
