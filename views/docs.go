package views

import "strconv"

// The words of the API's page.
const (
	// They are not translated: the description of the API is English, and so is what stands around it.
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

// Docs is the description of the API for people.
//
// Package openapi fills it from the description that programs get.
type Docs struct {
	About   string
	Version string
	Groups  []DocsGroup
	Schemas []DocsSchema
}

// DocsGroup is a heading with the operations under it.
type DocsGroup struct {
	Name, About string
	Operations  []DocsOperation
}

// DocsOperation is one way to ask one address.
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

// DocsTry is the form that sends a request; nil where a form can't make the body.
type DocsTry struct {
	Body    string   // an example; empty: the route takes none
	Accepts []string // media types to choose from, when there are several
	Keys    bool     // the server wants a key
}

// DocsOutcome is one answer.
type DocsOutcome struct {
	Status string
	About  string
	Kinds  []DocsKind
}

// DocsKind is one form that an answer may have.
type DocsKind struct {
	Media string
	Type  DocsType
}

// DocsType is a type's words, and the schema that it is made of, if it has a name.
type DocsType struct{ Words, Schema string }

// DocsSchema is a named object.
type DocsSchema struct {
	Name   string
	Fields []DocsField
}

// DocsField is a field, or a part of an address.
type DocsField struct {
	Name, Where string
	Type        DocsType
	Required    bool
	Bounds      string // "1 to 50", "default 5"
	About       string
}

// failed tells the answers of a failure, which are folded together.
func (o DocsOutcome) failed() bool {
	n, err := strconv.Atoi(o.Status)
	return err == nil && n >= 400
}
