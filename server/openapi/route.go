package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// Operation describes one route: what GET /openapi.json and GET /docs are made from.
// Its methods return it with more said.
//
// It is a value: each method returns a changed copy, so that a route reads as one sentence. Lists in it are only added
// to while it is described.
type Operation struct {
	Method, Path string // the path as the router has it
	group        string
	summary      string // one line
	about        string // whatever else a caller must know
	params       []parameter
	body         any            // a value of the JSON body's type; nil: none
	open         bool           // the body may have fields that are not described
	form         []parameter    // the fields of a form that is taken beside, or instead of, JSON
	formKind     string         // its media type
	example      map[string]any // of the JSON body
	outcomes     []outcome
	codes        []chat.Code // of failures, beside those that every route can have
}

// TakesForm reports whether browsers post a form to the route.
//
// Uploads are forms as well, but of multipart/form-data; they do not count here.
func (op Operation) TakesForm() bool { return op.formKind == httpio.TypeForm }

// parameter is a part of the address, a header or a form's field.
type parameter struct {
	in, name string // path, query, header; form
	about    string
	need     bool
	schema   *jsonschema.Schema
}

// outcome is one way in which an operation succeeds.
type outcome struct {
	status int
	about  string
	body   any    // a value of the JSON body's type; nil: no JSON
	kind   string // media type of another body; empty with body nil: no body
}

// route begins to describe a route: "GET /places/:id". What follows from the address is said: its parameters, and that
// what it names may not be there.
//
// The address is written as the router has it. Parameters are said in the order of the path.
func route(address, summary string) Operation {
	op := Operation{summary: summary}
	op.Method, op.Path, _ = strings.Cut(address, " ")
	parts := strings.Split(op.Path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			p := pathParams[strings.Join(parts[:i+1], "/")]
			op.params = append(op.params, parameter{"path", name, p.about, true, p.schema})
			op = op.fails(p.fails...)
		}
	}
	return op
}

// says adds what a caller must know beside the summary. Line breaks in it are blanks.
func (op Operation) says(about string) Operation {
	op.about = strings.Join(strings.Fields(about), " ")
	return op
}

// takes names the JSON body's type, by a value, with an example.
//
// With the body come the failures that every JSON body can have. An example that is no JSON object panics when the
// operations are made, so the first test sees it.
func (op Operation) takes(body any, example string) Operation {
	op.body = body
	if err := json.Unmarshal([]byte(example), &op.example); err != nil {
		panic(fmt.Errorf("example of %s: %w", op.Path, err)) // it is a constant
	}
	return op.fails(bodyFails...)
}

// takesOpen is takes for a body that may have fields that are not described.
func (op Operation) takesOpen(body any, example string) Operation {
	op.open = true
	return op.takes(body, example)
}

// posts names the fields of the form that browsers post.
// Browsers without scripts send these, and the page's script as well.
func (op Operation) posts(fields ...parameter) Operation {
	return op.takesForm(httpio.TypeForm, fields...)
}

// A form of multipart/form-data has the file's fields; the failures of a body are said by takes alone.
func (op Operation) takesForm(kind string, fields ...parameter) Operation {
	op.formKind, op.form = kind, fields
	return op
}

// with adds parameters. One in the address may be invalid.
func (op Operation) with(params ...parameter) Operation {
	op.params = append(op.params, params...)
	// A route whose headers may be invalid has that code from its body or names it itself.
	if slices.ContainsFunc(params, func(p parameter) bool { return p.in == "query" }) {
		return op.fails(chat.CodeInvalid)
	}
	return op
}

// A code that is said twice counts once; what it means is in the comment of the code.
func (op Operation) fails(codes ...chat.Code) Operation {
	for _, code := range codes {
		if !slices.Contains(op.codes, code) {
			op.codes = append(op.codes, code)
		}
	}
	return op
}

// gives is success with a JSON body of a value's type.
func (op Operation) gives(about string, body any) Operation {
	return op.ends(http.StatusOK, about, body)
}

// ends is another status, with a JSON body or, with nil, without one.
func (op Operation) ends(status int, about string, body any) Operation {
	return op.also(outcome{status: status, about: about, body: body})
}

// sends is success with a body of another media type.
func (op Operation) sends(about, kind string) Operation {
	return op.also(outcome{status: http.StatusOK, about: about, kind: kind})
}

// A stream has no schema: its events are of many types, which are components.
func (op Operation) streams(about string) Operation { return op.sends(about, eventsKind) }

// 204: the request is done, and there is nothing to say (RFC 9110, section 15.3.5).
func (op Operation) empty(about string) Operation { return op.ends(http.StatusNoContent, about, nil) }

// 303: a browser that posted a form loads the page with GET (RFC 9110, section 15.4.4).
func (op Operation) redirects(about string) Operation {
	return op.ends(http.StatusSeeOther, about, nil)
}

func (op Operation) also(outcomes ...outcome) Operation {
	op.outcomes = append(op.outcomes, outcomes...)
	return op
}

// ID names an operation: POST /agent/runs/:id/cancel is post_agent_runs_id_cancel.
//
// It is in addresses of GET /docs and in the names that generated clients give to their functions, so it must not
// change.
func (op Operation) ID() string {
	return strings.ToLower(op.Method) + strings.NewReplacer("/:", "_", "/", "_", ".", "_", "-", "_").Replace(op.Path)
}

// TemplatePath writes /runs/:id as /runs/{id}.
//
// OpenAPI writes parameters in braces, the router with a colon.
func TemplatePath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}

// Parameters of the address and headers are never required: a route that needs something takes it in the path or the
// body.
func query(name string, schema *jsonschema.Schema, about string) parameter {
	return parameter{"query", name, about, false, schema}
}

func header(name string, schema *jsonschema.Schema, about string) parameter {
	return parameter{"header", name, about, false, schema}
}

// formField and needed are fields of a form.
func formField(name string, schema *jsonschema.Schema, about string) parameter {
	return parameter{"form", name, about, false, schema}
}

func needed(name string, schema *jsonschema.Schema, about string) parameter {
	return parameter{"form", name, about, true, schema}
}
