package openapi

import (
	"github.com/google/jsonschema-go/jsonschema"
)

// toolUseSchema is what may be wanted of a client's own tools.
func toolUseSchema() *jsonschema.Schema {
	allowed, auto := any("allowed_tools"), any("auto")
	words := append(listValues("auto", "none", ""), nil)
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Types: []string{"string", "null"}, Enum: words},
		{Type: "object", Required: []string{"type", "allowed_tools"}, Properties: map[string]*jsonschema.Schema{
			"type": {Const: &allowed},
			"allowed_tools": {
				Type:       "object",
				Required:   []string{"mode"},
				Properties: map[string]*jsonschema.Schema{"mode": {Const: &auto}},
			},
		}},
		{Type: "object", Required: []string{"type", "mode"}, Properties: map[string]*jsonschema.Schema{
			"type": {Const: &allowed}, "mode": {Const: &auto},
		}},
	}}
}
