package textcalls

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
)

// known are the tools that a text may call.
type known struct {
	names  []string
	fields map[string][]string // by tool, the field that a single value is meant for first; "" there if none can tell
	any    bool                // names that no tool has count too
}

// knownOf reads names and fields of tools. Many models write the value alone where a tool needs just one: it is meant
// for the field that the schema requires, or for the only one that there is.
func knownOf(tools []llm.ToolSpec) known {
	k := known{fields: map[string][]string{}}
	for _, t := range tools {
		var schema struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		_ = json.Unmarshal(t.Schema, &schema) // without fields there is none for a single value
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

// plainName is what servers allow as the name of a function: OpenAI's 64 characters, and the dots of namespaces.
var plainName = regexp.MustCompile(`^[A-Za-z][\w.-]{0,63}$`)

// toolNamed finds the tool that a name in a call stands for and returns the tool that is meant, empty for none.
// llm.ToolNamed forgives case, namespaces and parts of names.
func (k known) toolNamed(said string) string {
	said = strings.TrimSpace(said)
	if name := llm.ToolNamed(said, k.names); name != "" || !k.any || !plainName.MatchString(said) {
		return name
	}
	return said
}

// singleArgument makes arguments of one value, for the field that it must be meant for. ok is false where several
// fields may be meant: a guess would run the wrong call.
func (k known) singleArgument(name string, value any) (map[string]any, bool) {
	fields := k.fields[name]
	if len(fields) == 0 || fields[0] == "" {
		return nil, false
	}
	return map[string]any{fields[0]: value}, true
}
