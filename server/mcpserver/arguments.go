package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/agent/schema"
)

// toolInputs returns the input schemas of the tools, by name.
var toolInputs = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	search, err1 := jsonschema.For[Query](nil)
	read, err2 := jsonschema.For[Reading](nil)
	list, err3 := jsonschema.For[Filter](nil)
	ask, err4 := jsonschema.For[Question](nil)
	fetch, err5 := jsonschema.For[Source](nil)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return nil, err
	}
	// The tags that the library parses can't express limits.
	bound := func(s *jsonschema.Schema, name string, least, most *float64) {
		s.Properties[name].Minimum, s.Properties[name].Maximum = least, most
	}
	bound(search, "top_k", new(1.0), new(50.0))
	bound(read, "part", new(1.0), nil)
	bound(list, "limit", new(1.0), new(200.0))
	return map[string]*jsonschema.Schema{
		"search": search, "fetch": fetch, "read": read, "list_documents": list, "ask": ask,
	}, nil
})

// checkCall validates a tool call and returns a one-sentence error for the model, before the protocol's library
// returns its own.
//
// An unknown tool is an error of the protocol. Invalid arguments are a result with an error, which the model can
// read and fix. The context carries a toolFailure that the tool fills in, since the library returns only an error's
// text.
func checkCall(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		call, ok := req.GetParams().(*sdk.CallToolParamsRaw)
		if !ok {
			return next(ctx, method, req)
		}
		inputs, err := toolInputs()
		if err != nil {
			return nil, err
		}
		if inputs[call.Name] == nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(
				"There is no tool %.80q. There are: %s.", call.Name,
				strings.Join(slices.Sorted(maps.Keys(inputs)), ", "),
			)}
		}
		if why := argumentsMisfit(inputs[call.Name], call.Arguments); why != "" {
			return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{
				&sdk.TextContent{Text: call.Name + " does not take these arguments: " + why + "."},
			}}, nil
		}
		failed := &toolFailure{}
		res, err := next(context.WithValue(ctx, failureKey{}, failed), method, req)
		if called, ok := res.(*sdk.CallToolResult); ok && called.IsError && failed.Code != "" {
			called.StructuredContent = failed
		}
		return res, err
	}
}

// argumentsMisfit returns the reason why a call's arguments are invalid, or "".
//
// Absent arguments are an empty object. The schema is cloned, since Resolve modifies it.
func argumentsMisfit(takes *jsonschema.Schema, arguments json.RawMessage) string {
	given := map[string]any{}
	if len(arguments) > 0 && json.Unmarshal(arguments, &given) != nil {
		return "they must be a JSON object"
	}
	resolved, err := takes.CloneSchemas().Resolve(nil)
	if err != nil || resolved.Validate(given) == nil {
		return ""
	}
	return schema.Misfit(takes, given)
}
