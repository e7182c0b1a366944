package views

import "strconv"

// The text of the API's page.
const (
	// These strings are not translated: the API description is English.
	txtAPI         = "API"
	txtVersion     = "Version"
	txtAPIContents = "Contents"
	txtAPITypes    = "Types"
	txtAPIParams   = "Parameters"
	txtAPIBody     = "Body"
	txtAPIAnswers  = "Answers"
	txtAPIFailures = "Failures"
	txtAPINeeded   = "needed"
	txtAPITry      = "Try it"
	txtAPIPath     = "Address"
	txtAPIKey      = "Key (X-API-Key)"
	txtAPIAccept   = "Answer as"
	txtAPISend     = "Send"
	txtAPIStop     = "Stop"
	txtAPIGot      = "Answer"
)

// Docs is the API reference as a page.
//
// Package openapi fills it from the OpenAPI document.
type Docs struct {
	About   string
	Version string
	Groups  []DocsGroup
	Schemas []DocsSchema
}

// DocsGroup is a heading and its operations.
type DocsGroup struct {
	Name, About string
	Operations  []DocsOperation
}

// DocsOperation is one method of one path.
type DocsOperation struct {
	ID, Method, Path string
	Summary, About   string
	Params           []DocsField
	Form             []DocsField
	FormKind         string
	Body             DocsType // of the JSON body; empty: none
	Fields           []DocsField
	Example          string // a command for a shell
	Try              *DocsTry
	Outcomes         []DocsOutcome
}

// DocsTry is the form that sends a request. It is nil where a form can't encode the body.
type DocsTry struct {
	Body    string   // an example; empty: the route has no body
	Accepts []string // alternative media types
	Keys    bool     // the server requires a key
}

// DocsOutcome is one response.
type DocsOutcome struct {
	Status string
	About  string
	Kinds  []DocsKind
}

// DocsKind is one content type of a response.
type DocsKind struct {
	Media string
	Type  DocsType
}

// DocsType is a type's description, and the name of its schema if it has one.
type DocsType struct{ Words, Schema string }

// DocsSchema is a named object.
type DocsSchema struct {
	Name   string
	Fields []DocsField
}

// DocsField is a field, or a parameter of a path or query.
type DocsField struct {
	Name, Where string
	Type        DocsType
	Required    bool
	Bounds      string // "1 to 50", "default 5"
	About       string
}

// failed reports whether the response has an error status. Error responses are folded together.
func (o DocsOutcome) failed() bool {
	n, err := strconv.Atoi(o.Status)
	return err == nil && n >= 400
}
