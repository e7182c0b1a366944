package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/find"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/relay"
	"github.com/footnote/footnote/text/locale"
)

// schemas generates JSON schemas from Go types and their tags. Structs become components with their types' names.
//
// One walk fills it; it is not safe for concurrent use. err joins all errors of the description, so that one test
// run shows them all.
type schemas struct {
	fields  map[string]field // by "Component.field"
	made    map[string]*jsonschema.Schema
	asked   map[string]bool       // components of requests; the others are of responses
	reached map[reflect.Type]bool // structs and named string types
	err     error
}

// newSchemas returns an empty set of schemas.
func newSchemas() *schemas {
	return &schemas{
		fields: map[string]field{}, made: map[string]*jsonschema.Schema{}, asked: map[string]bool{},
		reached: map[reflect.Type]bool{},
	}
}

// A request's fields are optional without need, and null equals absent. open allows undescribed fields.
func (b *schemas) requestSchema(v any, open bool) *jsonschema.Schema {
	return b.schemaOf(reflect.TypeOf(v), true, open)
}

// A response has all of its fields except those with omitempty, and clients must accept new ones.
func (b *schemas) responseSchema(v any) *jsonschema.Schema {
	return b.schemaOf(reflect.TypeOf(v), false, true)
}

// addEvent creates the component of one kind of event: its payload after type, run_id and seq.
//
// The three fields are added by chat.Event.AppendJSON and are in no payload's type, so they are described here.
func (b *schemas) addEvent(kind chat.Kind) {
	// An empty body gives the zero value of the kind's payload, whose type is needed.
	p, err := chat.Event{Type: kind, Body: json.RawMessage("{}")}.Payload()
	if err != nil {
		b.err = errors.Join(b.err, err)
		return
	}
	b.responseSchema(p)
	// The payload's own component stays unchanged: other types may refer to it.
	body := b.made[componentName(reflect.TypeOf(p))].CloneSchemas()
	name := any(string(kind))
	body.Properties["type"] = &jsonschema.Schema{
		Const: &name, Description: "The event type, which is also the name of the server-sent event.",
	}
	body.Properties["run_id"] = &jsonschema.Schema{Type: "string", Description: source().Shared["run_id"]}
	body.Properties["seq"] = &jsonschema.Schema{
		Type: "integer",
		Description: "The event's sequence number in its run, from 1 without gaps, which is also the ID of the " +
			"server-sent event. 0 for a reset.",
	}
	body.PropertyOrder = append([]string{"type", "run_id", "seq"}, body.PropertyOrder...)
	body.Required = append([]string{"type", "run_id", "seq"}, body.Required...)
	b.made["Event_"+string(kind)] = body
}

// componentName returns a type's name, prefixed by its package for those of the Model Context Protocol and of the
// choice of a model, whose names are as general as the API's own.
//
// Two types with one component name must not both be reachable: the first one's schema would apply to both.
func componentName(t reflect.Type) string {
	name := []rune(t.Name())
	return prefixes[path.Base(t.PkgPath())] + string(append([]rune{unicode.ToUpper(name[0])}, name[1:]...))
}

var prefixes = map[string]string{"mcpserver": "Mcp", "modelchoice": "Model"}

// asked distinguishes a request's type from a response's. The types of the first switch encode or decode themselves,
// so their JSON differs from their Go fields.
func (b *schemas) schemaOf(t reflect.Type, asked, open bool) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	// It decodes a time, a date, the empty text and null; see httpio.Moment.
	case reflect.TypeFor[httpio.Moment]():
		day, none := &jsonschema.Schema{Type: "string", Format: "date"}, &jsonschema.Schema{
			Type: "string", Enum: []any{""},
		}
		return &jsonschema.Schema{
			AnyOf: []*jsonschema.Schema{{Type: "string", Format: "date-time"}, day, none, {Type: "null"}},
		}
	case reflect.TypeFor[find.Year]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "integer", Minimum: to(1000), Maximum: to(9999)}, {
			Type: "string", Pattern: dateForm,
		}, {Type: "null"}}}
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{Type: "object"}
	case reflect.TypeFor[locale.Forms](): // a form and its values, which are texts, numbers and nested messages
		return &jsonschema.Schema{
			Type: "array", Items: &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{}},
		}
	case reflect.TypeFor[relay.Content]():
		return contentSchema()
	case reflect.TypeFor[relay.V1ToolUse]():
		return toolUseSchema()
	case reflect.TypeFor[relay.V1ResponseInput]():
		return inputSchema()
	// Prompts are not supported: only null is accepted.
	case reflect.TypeFor[relay.V1PromptRef]():
		return &jsonschema.Schema{Enum: []any{nil}}
	case reflect.TypeFor[relay.V1ConversationRef]():
		return conversationSchema()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return withNull(b.schemaOf(t.Elem(), asked, open))
	case reflect.String:
		if t.PkgPath() != "" {
			b.reached[t] = true
		}
		return &jsonschema.Schema{Type: "string", Enum: enumValues(t)}
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return &jsonschema.Schema{Type: "integer", Format: "int64"}
	case reflect.Float64:
		return &jsonschema.Schema{Type: "number"}
	case reflect.Slice:
		s := &jsonschema.Schema{Type: "array", Items: b.schemaOf(t.Elem(), asked, open)}
		if asked && t.Elem().Kind() == reflect.String {
			// Lists in requests hold ids and names, which are never empty.
			s.Items.MinLength = wholeNumber(to(1))
		}
		return s
	case reflect.Array:
		// A Go array has a fixed length, so both limits are that.
		n := t.Len()
		return &jsonschema.Schema{Type: "array", Items: b.schemaOf(t.Elem(), asked, open), MinItems: &n, MaxItems: &n}
	case reflect.Map:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: b.schemaOf(t.Elem(), asked, open)}
	case reflect.Interface:
		return &jsonschema.Schema{}
	case reflect.Struct:
		return b.componentOf(t, asked, open)
	default:
		b.err = errors.Join(b.err, fmt.Errorf("no schema for %v", t))
		return &jsonschema.Schema{}
	}
}

// A type must not be in both requests and responses: the required fields differ, and a component can't express both.
func (b *schemas) componentOf(t reflect.Type, asked, open bool) *jsonschema.Schema {
	// Its fields are unknown, so a component would be empty.
	if t.NumField() == 0 {
		return &jsonschema.Schema{Type: "object"}
	}
	name := componentName(t)
	ref := &jsonschema.Schema{Ref: "#/components/schemas/" + name}
	if b.made[name] != nil {
		if b.asked[name] != asked {
			b.err = errors.Join(
				b.err, fmt.Errorf("%s is in both requests and responses, which have different required fields", name),
			)
		}
		return ref
	}
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	if !open {
		// The schema false, which matches nothing.
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	}
	// It is registered before its fields are visited, so a type may contain itself.
	b.made[name], b.asked[name] = s, asked
	b.addFields(s, name, t, asked, open)
	return ref
}

// Fields of embedded structs are inlined, as in encoding/json. A field without a json tag is an error: its name
// would change with the Go source.
func (b *schemas) addFields(s *jsonschema.Schema, component string, t reflect.Type, asked, open bool) {
	b.reached[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			b.addFields(s, component, f.Type, asked, open)
			continue
		case !f.IsExported() || tag == "-":
			continue
		case tag == "":
			b.err = errors.Join(b.err, fmt.Errorf("%v.%s has no json tag", t, f.Name))
			continue
		}
		// With either option encoding/json omits the field, so a response need not have it.
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		// The field's description is also kept for tests, which send values beyond its limits.
		about, err := readField(t, f, tag)
		b.fields[component+"."+tag], b.err = about, errors.Join(b.err, err)
		kind := f.Type
		if !asked && optional && kind.Kind() == reflect.Pointer { // omitted, never null
			kind = kind.Elem()
		}
		value := about.narrowSchema(b.schemaOf(kind, asked, open))
		if asked && !about.need && value.Enum != nil && slices.Contains(append(value.Types, value.Type), "string") {
			value.Enum = append(value.Enum, "") // equals absent
		}
		switch {
		// In a request null equals absent.
		case asked && !about.need, !asked && !optional && mayBeNull(t, f.Type):
			value = withNull(value)
		}
		value.Description = about.about
		s.Properties[tag] = value
		s.PropertyOrder = append(s.PropertyOrder, tag)
		if asked && about.need || !asked && !optional {
			s.Required = append(s.Required, tag)
		}
	}
}

// mayBeNull is true for the lists and objects of events, which are sent as stored. The server's own are never null.
func mayBeNull(t, f reflect.Type) bool {
	return t.PkgPath() == reflect.TypeFor[chat.Step]().PkgPath() &&
		(f.Kind() == reflect.Slice || f.Kind() == reflect.Map) && f != reflect.TypeFor[json.RawMessage]()
}

// narrowSchema adds a field's limits to its schema.
//
// In a list, the allowed values and the pattern of pairs apply to its entries, min and max to its length. It
// modifies s and returns it.
func (f field) narrowSchema(s *jsonschema.Schema) *jsonschema.Schema {
	s.Pattern = f.pattern
	values := &s.Enum
	if s.Items != nil {
		values = &s.Items.Enum
	}
	*values = append(*values, f.values...)
	if f.only != nil {
		s.Enum = append(s.Enum, f.only)
	}
	if f.initial != nil {
		s.Default, _ = json.Marshal(f.initial) // numbers, words and truth values: can't fail
	}
	if f.pair {
		s.Items.MinItems, s.Items.MaxItems = wholeNumber(to(2)), wholeNumber(to(2))
		s.Items.Items.Pattern = notBlank
	}
	if f.Min == nil && f.Max == nil {
		return s
	}
	// One pair of limits in the tag applies to lengths of texts, entries of lists, or values of numbers.
	switch kinds := append(s.Types, s.Type); {
	case slices.Contains(kinds, "string"):
		s.MinLength, s.MaxLength = wholeNumber(f.Min), wholeNumber(f.Max)
	case slices.Contains(kinds, "array"):
		s.MinItems, s.MaxItems = wholeNumber(f.Min), wholeNumber(f.Max)
	default:
		s.Minimum, s.Maximum = f.Min, f.Max
	}
	return s
}

func wholeNumber(f *float64) *int {
	if f == nil {
		return nil
	}
	n := int(math.Round(*f))
	return &n
}

// withNull extends a schema by null.
//
// It may modify s, which must not be shared; a reference is wrapped instead.
func withNull(s *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case s.Ref != "" || len(s.OneOf) > 0:
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
	case s.Type != "":
		s.Types, s.Type = []string{s.Type, "null"}, ""
		if s.Enum != nil {
			s.Enum = append(slices.Clone(s.Enum), nil)
		}
	}
	return s
}

// mustSchema parses a constant schema.
//
// It panics for an invalid schema. Each call parses again, since callers modify the result.
func mustSchema(text string) *jsonschema.Schema {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	return &s
}

// contentSchema is the schema of a text, or a list of parts. Parts other than text are accepted outside the
// question.
//
// It is the content of a message of OpenAI's APIs, which relay.Content decodes.
func contentSchema() *jsonschema.Schema {
	return mustSchema(`{"oneOf": [{"type": "string"}, {"type": "array", "items": {"anyOf": [
		{"type": "object", "required": ["type", "text"], "properties": {
			"type": {"const": "text", "description": "Only text is supported."},
			"text": {"type": "string", "description": "The text."}
		}},
		{"type": "object", "properties": {
			"type": {"type": "string", "description": "Other types are rejected in the question."}
		}}
	]}}]}`)
}

// toolUseSchema is the schema of the choice for a client's own tools.
//
// It is tool_choice of OpenAI's APIs. A client's tools are never called, so only values that require no call are
// accepted.
func toolUseSchema() *jsonschema.Schema {
	return mustSchema(`{"anyOf": [
		{"type": ["string", "null"], "enum": ["auto", "none", "", null]},
		{"type": "object", "required": ["type", "allowed_tools"], "properties": {
			"type": {"const": "allowed_tools"},
			"allowed_tools": {"type": "object", "required": ["mode"], "properties": {"mode": {"const": "auto"}}}
		}},
		{"type": "object", "required": ["type", "mode"], "properties": {
			"type": {"const": "allowed_tools"}, "mode": {"const": "auto"}
		}}
	]}`)
}

// inputSchema is the schema of a text, or of a list of items that contain messages.
//
// It is the field input of OpenAI's Responses API, which relay.V1ResponseInput decodes.
func inputSchema() *jsonschema.Schema {
	s := mustSchema(`{"oneOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": {"anyOf": [
		{"type": "object", "required": ["role", "content"], "properties": {
			"type": {"type": "string", "enum": ["message", ""]},
			"role": {"type": "string", "enum": ["user", "assistant", "system", "developer"]}
		}},
		{"type": "object", "required": ["type"], "properties": {"type": {
			"type": "string", "not": {"const": "message"}, "minLength": 1,
			"description": "Other types are rejected for the last item."
		}}}
	]}}]}`)
	s.OneOf[1].Items.AnyOf[0].Properties["content"] = contentSchema()
	return s
}

// conversationSchema is the schema of a conversation's id, or an object with it.
//
// It is the field conversation of the Responses API, which relay.V1ConversationRef decodes.
func conversationSchema() *jsonschema.Schema {
	return mustSchema(`{"anyOf": [
		{"type": "string", "pattern": "` + maybeForm + `"},
		{"type": "object", "required": ["id"], "properties": {
			"id": {"type": "string", "pattern": "` + sessionForm + `"}
		}},
		{"type": "null"}
	]}`)
}
