// Package openapi describes the API: operations lists every route for programs, and schema generates JSON schemas of
// the handlers' types from their tags and, by source_docs.json, from their comments. The description is served as JSON,
// and its operations are listed on a page.
//
// Input is the routes in operations.go and in the files of its groups, the Go types of bodies, and the comments and
// constants in source_docs.json. Output is one Document for GET /openapi.json, and the list of its operations for GET
// /docs. route.go has the methods that describe a route, schema.go generates schemas, including those that types can't
// express, source_docs.go parses tags and comments, and same.go lists equivalent fields.
//
// It must never duplicate a rule: handlers validate their requests, and tests compare them with the description. A
// route that is missing here fails a test of package server.
package openapi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/relay"
	"github.com/footnote/footnote/views"
)

// alwaysFails are the error codes of every route.
var alwaysFails = []chat.Code{chat.CodeForbidden, chat.CodeUnavailable, chat.CodeInternal}

// The used part of the OpenAPI document's structure.
type (
	// Document is the whole description. The fields are those of the OpenAPI Specification 3.1.0; x-limits is an
	// extension, which the specification allows for names that begin with x-.
	Document struct {
		OpenAPI    string                             `json:"openapi"`
		Info       apiInfo                            `json:"info"`
		Servers    []apiServer                        `json:"servers"`
		Tags       []apiTag                           `json:"tags"`
		Paths      map[string]map[string]apiOperation `json:"paths"`
		Components apiComponents                      `json:"components"`
		Limits     []apiLimit                         `json:"x-limits"`
	}
	// apiLimit is a limit per user: its default and its value here. Its unit is in About.
	apiLimit struct {
		Name          chat.LimitName `json:"name"`
		About         string         `json:"about"`
		Default       int64          `json:"default"`
		Value         int64          `json:"value"` // the value here; 0: no limit
		WindowSeconds int64          `json:"window_seconds,omitempty"`
	}
	apiInfo struct {
		Title       string `json:"title"`
		Version     string `json:"version"`
		Description string `json:"description"`
	}
	apiServer struct {
		URL string `json:"url"`
	}
	apiTag struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	apiComponents struct {
		Schemas map[string]*jsonschema.Schema `json:"schemas"`
	}
	apiOperation struct {
		OperationID string                 `json:"operationId"`
		Tags        []string               `json:"tags"`
		Summary     string                 `json:"summary"`
		Description string                 `json:"description,omitempty"`
		Parameters  []apiParameter         `json:"parameters,omitempty"`
		RequestBody *apiBody               `json:"requestBody,omitempty"`
		Responses   map[string]apiResponse `json:"responses"`
	}
	apiParameter struct {
		Name        string             `json:"name"`
		In          string             `json:"in"`
		Description string             `json:"description"`
		Required    bool               `json:"required,omitempty"`
		Schema      *jsonschema.Schema `json:"schema"`
	}
	apiBody struct {
		Required bool                  `json:"required"`
		Content  map[string]apiContent `json:"content"`
	}
	apiResponse struct {
		Description string                `json:"description"`
		Content     map[string]apiContent `json:"content,omitempty"`
	}
	apiContent struct {
		Schema  *jsonschema.Schema `json:"schema,omitempty"`
		Example map[string]any     `json:"example,omitempty"`
	}
)

// apiAbout is the documentation common to all routes.
const apiAbout = "Ask questions about your documents and get answers with footnotes that are verified against the " +
	"documents. " +
	"Request bodies are JSON. Unknown fields, duplicate fields, field names in another case, and text with a NUL " +
	"character are rejected with 400 and the field name. Unknown fields are accepted under /v1, /ui and /ag-ui. " +
	"A field with the value null equals an absent field. " +
	"Errors are returned as problem+json: code is stable, detail is a human-readable sentence. Requests with Accept: " +
	"text/html return HTML pages. " +
	"Each user with an API key has rate limits and quotas, listed in x-limits. Requests over a limit return 429, or " +
	"507 for the storage quota, with Retry-After, the name of the limit and, if known, retry_at."

// responseParts are the types in the events and the output of a response.
var responseParts = []any{
	relay.V1ResponseEvent{}, relay.V1MessageItem{}, relay.V1FileSearchItem{}, relay.V1WebSearchItem{},
	relay.V1ReasoningItem{},
}

// Describe generates the description of the whole API.
//
// users are the limits per user, version is the program's. An error is a bug in the description of routes or types;
// all such errors are joined. The Document must not be modified afterwards; it is safe for concurrent reads.
func Describe(users chat.Limits, version string) (*Document, error) {
	doc, types := describe(users, version)
	return doc, errors.Join(types.err, doc.nameSame())
}

// Docs lists the operations in source order, which a map of paths loses.
func (doc *Document) Docs() views.Docs {
	d := views.Docs{About: doc.Info.Description, Version: doc.Info.Version}
	for _, tag := range doc.Tags {
		g := views.DocsGroup{Name: tag.Name, About: tag.Description}
		for _, op := range Operations() {
			if op.group == tag.Name {
				g.Operations = append(g.Operations, views.DocsOperation{
					ID: op.ID(), Method: op.Method, Path: TemplatePath(op.Path), Summary: op.summary, About: op.about,
				})
			}
		}
		d.Groups = append(d.Groups, g)
	}
	return d
}

// describe is Describe without the check of same fields, for the test that generates source_docs.json while that is
// outdated.
func describe(users chat.Limits, version string) (*Document, *schemas) {
	types := newSchemas()
	doc := &Document{
		OpenAPI: "3.1.0",
		Info:    apiInfo{Title: "Footnote", Version: version, Description: apiAbout},
		// The address is relative: the server may have several host names.
		Servers: []apiServer{{URL: "/"}},
		Paths:   map[string]map[string]apiOperation{},
	}
	// Limits are part of the description, so that a client can observe them in advance.
	for _, limit := range chat.AllLimits() {
		doc.Limits = append(doc.Limits, apiLimit{
			limit.Name, limit.About, limit.Default, users[limit.Name], int64(limit.Span.Seconds()),
		})
	}
	for _, g := range groups {
		doc.Tags = append(doc.Tags, apiTag{Name: g.name, Description: g.about})
	}
	for _, op := range Operations() {
		path := TemplatePath(op.Path)
		// A path has an entry for each method, and its parameters use another syntax there.
		if doc.Paths[path] == nil {
			doc.Paths[path] = map[string]apiOperation{}
		}
		doc.Paths[path][strings.ToLower(op.Method)] = op.describeOperation(types)
	}
	// No route names these types: they are in streams, whose schema OpenAPI can't express.
	for _, kind := range chat.Kinds {
		types.addEvent(kind)
	}
	types.responseSchema(relay.V1Chunk{})
	for _, part := range responseParts {
		types.responseSchema(part)
	}
	types.responseSchema(relay.AiChunk{})
	types.responseSchema(relay.AgUiEvent{})
	types.responseSchema(relay.AgUiState{})
	// All routes and events were visited, so all components exist.
	doc.Components.Schemas = types.made
	return doc, types
}

// Every operation has the errors of alwaysFails: the guard can forbid, the server can drain, and a handler can fail.
func (op Operation) describeOperation(types *schemas) apiOperation {
	out := apiOperation{
		OperationID: op.ID(), Tags: []string{op.group}, Summary: op.summary, Description: op.about,
		Responses: map[string]apiResponse{},
	}
	for _, p := range op.params {
		// A parameter must have a schema; this one is missing in pathParams.
		if p.schema == nil {
			types.err = errors.Join(types.err, fmt.Errorf("%s: pathParams has no %s", op.Path, p.name))
		}
		out.Parameters = append(out.Parameters, apiParameter{
			Name: p.name, In: p.in, Description: p.about, Required: p.need, Schema: p.schema,
		})
	}
	// A route that accepts both has two media types in one body.
	if op.body != nil || op.form != nil {
		out.RequestBody = &apiBody{Required: true, Content: map[string]apiContent{}}
	}
	if op.body != nil {
		out.RequestBody.Content[httpio.TypeJSON] = apiContent{
			Schema: types.requestSchema(op.body, op.open), Example: op.example,
		}
	}
	if op.form != nil {
		out.RequestBody.Content[op.formKind] = apiContent{Schema: formSchema(op.form)}
	}
	for _, o := range op.outcomes {
		out.addResponse(o.status, o.about, o.responseContent(types))
	}
	for _, code := range slices.Concat(op.codes, alwaysFails) {
		out.addResponse(httpio.Status(code), source().codeDescription(code), op.failureContent(types))
	}
	return out
}

// failureContent returns the schema of an operation's errors.
//
// It mirrors server.sendProblem for programs: OpenAI's form under /v1, a plain sentence for clients of the AI SDK
// and AG-UI, else problem+json (RFC 9457).
func (op Operation) failureContent(types *schemas) map[string]apiContent {
	switch {
	case strings.HasPrefix(op.Path, "/v1/"):
		return map[string]apiContent{httpio.TypeJSON: {Schema: types.responseSchema(relay.V1Failed{})}}
	case op.group == clientGroup:
		return map[string]apiContent{httpio.TypeText: {Schema: textSchema()}}
	}
	return map[string]apiContent{"application/problem+json": {Schema: types.responseSchema(httpio.Problem{})}}
}

// addResponse adds an outcome to the responses of an operation.
//
// OpenAPI has one response per status, and several error codes share one: their descriptions are concatenated
// without duplicates, and their media types are merged.
func (out *apiOperation) addResponse(status int, about string, content map[string]apiContent) {
	key := strconv.Itoa(status)
	res, ok := out.Responses[key]
	switch {
	case !ok:
		res = apiResponse{Description: about, Content: map[string]apiContent{}}
	case !strings.Contains(res.Description, about):
		res.Description += " " + about
	}
	for kind, c := range content {
		res.Content[kind] = c
	}
	out.Responses[key] = res
}

// nil is an empty body. A stream and a file have a media type only.
func (o outcome) responseContent(types *schemas) map[string]apiContent {
	switch {
	case o.body != nil:
		return map[string]apiContent{httpio.TypeJSON: {Schema: types.responseSchema(o.body)}}
	case o.kind == eventsKind: // a schema would describe a single event, and events have many types
		return map[string]apiContent{o.kind: {}}
	case o.kind != "":
		return map[string]apiContent{o.kind: {Schema: &jsonschema.Schema{Type: "string"}}}
	}
	return nil
}

// The order is that of the fields, for display.
func formSchema(fields []parameter) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, f := range fields {
		field := f.schema.CloneSchemas()
		field.Description = f.about
		s.Properties[f.name] = field
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if f.need {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}
