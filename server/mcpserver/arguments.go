package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/agent/schema"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/english"
)

// offer is a tool of the server.
type offer struct {
	tool  sdk.Tool
	takes *jsonschema.Schema
	add   func(*sdk.Server, *Handlers, caller)
}

// newOffer completes a tool with the schemas of its input and output. Limits are the maxima of numbers from 1,
// which the tags that the library parses can't express; 0 is none.
func newOffer[In, Out any](
	tool sdk.Tool, limits map[string]float64,
	do func(*Handlers, context.Context, caller, *sdk.CallToolRequest, In) (string, Out, error),
) offer {
	takes, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // the types are constant: any test detects it
	}
	for name, most := range limits {
		if takes.Properties[name].Minimum = new(1.0); most > 0 {
			takes.Properties[name].Maximum = &most
		}
	}
	tool.InputSchema, tool.OutputSchema = takes, withFailures[Out]()
	return offer{tool, takes, func(server *sdk.Server, h *Handlers, who caller) {
		tool := tool
		sdk.AddTool(server, &tool, toolOf(h, who, do))
	}}
}

// offers returns the tools. Annotations tell clients which calls need no confirmation.
var offers = sync.OnceValue(func() []offer {
	outside := false
	looks := &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &outside}
	part := english.Digits(corpus.ReadRunes) // characters
	return []offer{
		newOffer(sdk.Tool{
			Meta: appMeta, Name: "search", Title: "Search documents", Annotations: looks,
			Description: "Searches the documents by meaning and by keywords. Returns passages with their document, " +
				"section, page and a link to the passage.",
		}, map[string]float64{"top_k": 50}, (*Handlers).searchDocuments),
		newOffer(sdk.Tool{
			Meta: appMeta, Name: "fetch", Title: "Fetch a source", Annotations: looks,
			Description: "Reads a search result: the part of the document with the passage, about " + part +
				" characters. metadata.next is the id of the next part.",
		}, nil, (*Handlers).fetchSource),
		newOffer(sdk.Tool{
			Meta: appMeta, Name: "read", Title: "Read a document", Annotations: looks,
			Description: "Reads a document, given by its document_id, or by its id, title or file name as document, " +
				"a part of about " + part + " characters at a time.",
		}, map[string]float64{"part": 0}, (*Handlers).readDocument),
		newOffer(sdk.Tool{
			Name: "list_documents", Title: "List documents", Annotations: looks,
			Description: "Lists the documents with their ids, newest first.",
		}, map[string]float64{"limit": 200}, (*Handlers).listDocuments),
		newOffer(sdk.Tool{
			Meta: appMeta, Name: "ask", Title: "Ask a question",
			Annotations: &sdk.ToolAnnotations{OpenWorldHint: &outside},
			Description: "Answers a question from the documents, with a footnote for every claim. This takes from " +
				"seconds to minutes; progress is reported. Pass the session_id of the previous answer to ask a " +
				"follow-up question.",
		}, nil, (*Handlers).askQuestion),
	}
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
		var names []string
		var takes *jsonschema.Schema
		for _, o := range offers() {
			if names = append(names, o.tool.Name); o.tool.Name == call.Name {
				takes = o.takes
			}
		}
		if takes == nil {
			slices.Sort(names)
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(
				"Unknown tool %.80q. Available tools: %s.", call.Name, strings.Join(names, ", "),
			)}
		}
		if why := argumentsMismatch(takes, call.Arguments); why != "" {
			return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{
				&sdk.TextContent{Text: call.Name + ": invalid arguments: " + why + "."},
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

// argumentsMismatch returns the reason why a call's arguments are invalid, or "".
//
// Absent arguments are an empty object. The schema is cloned, since Resolve modifies it.
func argumentsMismatch(takes *jsonschema.Schema, arguments json.RawMessage) string {
	given := map[string]any{}
	if len(arguments) > 0 && json.Unmarshal(arguments, &given) != nil {
		return "they must be a JSON object"
	}
	resolved, err := takes.CloneSchemas().Resolve(nil)
	if err != nil || resolved.Validate(given) == nil {
		return ""
	}
	return schema.Mismatch(takes, given)
}
