package openapi

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
)

// mustSchema reads a schema that is a constant.
//
// It panics for a text that is no schema, so only constants may be given. Each call reads anew: callers change what
// they get.
func mustSchema(text string) *jsonschema.Schema {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	return &s
}

// contentSchema is text, or a list of parts. Other parts than text are let in where they are not the question's.
//
// It is the content of a message of OpenAI's APIs, which ask.Content reads.
func contentSchema() *jsonschema.Schema {
	return mustSchema(`{"oneOf": [{"type": "string"}, {"type": "array", "items": {"anyOf": [
		{"type": "object", "required": ["type", "text"], "properties": {
			"type": {"const": "text", "description": "Only text is understood."},
			"text": {"type": "string", "description": "The text."}
		}},
		{"type": "object", "properties": {
			"type": {"type": "string", "description": "A part of another kind is refused in the question."}
		}}
	]}}]}`)
}

// toolUseSchema is what may be wanted of a client's own tools.
//
// That is tool_choice of OpenAI's APIs. A client's tools are never called here, so only what does not ask for a call is
// taken.
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

// inputSchema is a text, or a list of items, of which messages are read.
//
// It is the field input of OpenAI's Responses API, which v1.ResponseInput reads.
func inputSchema() *jsonschema.Schema {
	s := mustSchema(`{"oneOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": {"anyOf": [
		{"type": "object", "required": ["role", "content"], "properties": {
			"type": {"type": "string", "enum": ["message", ""]},
			"role": {"type": "string", "enum": ["user", "assistant", "system", "developer"]}
		}},
		{"type": "object", "required": ["type"], "properties": {"type": {
			"type": "string", "not": {"const": "message"}, "minLength": 1,
			"description": "An item of another type is refused as the last one."
		}}}
	]}}]}`)
	s.OneOf[1].Items.AnyOf[0].Properties["content"] = contentSchema()
	return s
}

// conversationSchema is a conversation's id, or an object that has it.
//
// It is the field conversation of the Responses API, which v1.ConversationRef reads.
func conversationSchema() *jsonschema.Schema {
	return mustSchema(`{"anyOf": [
		{"type": "string", "pattern": "` + maybeForm + `"},
		{"type": "object", "required": ["id"], "properties": {
			"id": {"type": "string", "pattern": "` + sessionForm + `"}
		}},
		{"type": "null"}
	]}`)
}
