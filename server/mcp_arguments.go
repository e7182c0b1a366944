package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolInputs are the schemas of what the tools take, by their names.
var toolInputs = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	search, err1 := jsonschema.For[mcpQuery](nil)
	read, err2 := jsonschema.For[mcpReading](nil)
	list, err3 := jsonschema.For[mcpFilter](nil)
	ask, err4 := jsonschema.For[mcpQuestion](nil)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	bound := func(s *jsonschema.Schema, name string, least, most *float64) {
		s.Properties[name].Minimum, s.Properties[name].Maximum = least, most
	}
	bound(search, "top_k", to(1), to(50))
	bound(read, "part", to(1), nil)
	bound(list, "limit", to(1), to(200))
	return map[string]*jsonschema.Schema{"search": search, "read": read, "list_documents": list, "ask": ask}, nil
})

// checkArguments tells a model in one sentence what is wrong with a call, before the protocol's library would in its own words.
func checkArguments(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		call, ok := req.GetParams().(*sdk.CallToolParamsRaw)
		if !ok {
			return next(ctx, method, req)
		}
		if why := misfit(call.Name, call.Arguments); why != "" {
			return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: why}}}, nil
		}
		return next(ctx, method, req)
	}
}

// misfit says what is wrong with a tool's arguments; empty: nothing, or the library is to say it.
func misfit(tool string, arguments json.RawMessage) string {
	inputs, err := toolInputs()
	schema := inputs[tool]
	if err != nil || schema == nil {
		return ""
	}
	given := map[string]any{}
	if len(arguments) > 0 && json.Unmarshal(arguments, &given) != nil {
		return "The arguments of " + tool + " must be a JSON object."
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		property := schema.Properties[name]
		if property == nil {
			return fmt.Sprintf("%s has no argument %s. It takes %s.", tool, strconv.Quote(name), strings.Join(slices.Sorted(maps.Keys(schema.Properties)), ", "))
		}
		if resolved, err := property.Resolve(nil); err == nil && resolved.Validate(given[name]) != nil {
			return fmt.Sprintf("The argument %q of %s does not fit. It is: %s.", name, tool, property.Description)
		}
	}
	for _, name := range schema.Required {
		if _, ok := given[name]; !ok {
			return fmt.Sprintf("%s needs the argument %q: %s.", tool, name, schema.Properties[name].Description)
		}
	}
	return ""
}
