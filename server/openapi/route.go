package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/find"
	"github.com/footnote/footnote/server/httpio"
)

// Operation describes one route: the source of GET /openapi.json and GET /docs.
//
// It is a value: each method returns a modified copy, so that a route's description is one chain of calls. Its lists
// are only appended to during the description.
type Operation struct {
	Method, Path string // the path in the router's syntax
	group        string
	summary      string // one line
	about        string // further documentation for callers
	params       []parameter
	body         any            // a value of the JSON body's type; nil: no body
	open         bool           // the body may have undescribed fields
	form         []parameter    // the fields of a form that is accepted besides, or instead of, JSON
	formKind     string         // its media type
	example      map[string]any // of the JSON body
	outcomes     []outcome
	codes        []chat.Code // of errors, besides those of every route
}

// TakesForm reports whether browsers post a form to the route.
//
// Uploads are of multipart/form-data and do not count here.
func (op Operation) TakesForm() bool { return op.formKind == httpio.TypeForm }

// parameter is a path or query parameter, a header or a form field.
type parameter struct {
	in, name string // path, query, header; form
	about    string
	need     bool
	schema   *jsonschema.Schema
}

// outcome is one success response of an operation.
type outcome struct {
	status int
	about  string
	body   any    // a value of the JSON body's type; nil: no JSON
	kind   string // media type of another body; empty with body nil: no body
}

// route starts the description of a route: "GET /places/:id". It derives the path parameters and their errors, such
// as a missing object.
//
// The path is in the router's syntax. Parameters are in path order.
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

// says adds documentation to the summary. Whitespace in it, including line breaks, is collapsed.
func (op Operation) says(about string) Operation {
	op.about = strings.Join(strings.Fields(about), " ")
	return op
}

// takes sets the JSON body's type, by a value, with an example.
//
// It adds the errors of every JSON body. An example that is no JSON object panics when the operations are built, so
// any test detects it.
func (op Operation) takes(body any, example string) Operation {
	op.body = body
	if err := json.Unmarshal([]byte(example), &op.example); err != nil {
		panic(fmt.Errorf("example of %s: %w", op.Path, err)) // constant input
	}
	return op.fails(bodyFails...)
}

// takesOpen is takes for a body that may have undescribed fields.
func (op Operation) takesOpen(body any, example string) Operation {
	op.open = true
	return op.takes(body, example)
}

// posts sets the fields of the form that browsers post, with or without the page's script.
func (op Operation) posts(fields ...parameter) Operation {
	return op.takesForm(httpio.TypeForm, fields...)
}

// A form of multipart/form-data has the file's fields; only takes adds the errors of a body.
func (op Operation) takesForm(kind string, fields ...parameter) Operation {
	op.formKind, op.form = kind, fields
	return op
}

// with adds parameters. A query parameter may be invalid.
func (op Operation) with(params ...parameter) Operation {
	op.params = append(op.params, params...)
	// A route with a header that may be invalid has that code from its body or declares it.
	if slices.ContainsFunc(params, func(p parameter) bool { return p.in == "query" }) {
		return op.fails(chat.CodeInvalid)
	}
	return op
}

// Duplicate codes are ignored; the code's comment describes it.
func (op Operation) fails(codes ...chat.Code) Operation {
	for _, code := range codes {
		if !slices.Contains(op.codes, code) {
			op.codes = append(op.codes, code)
		}
	}
	return op
}

// gives adds a success with a JSON body of a value's type.
func (op Operation) gives(about string, body any) Operation {
	return op.ends(http.StatusOK, about, body)
}

// ends adds another status, with a JSON body or, with nil, without one.
func (op Operation) ends(status int, about string, body any) Operation {
	return op.also(outcome{status: status, about: about, body: body})
}

// sends adds a success with a body of another media type.
func (op Operation) sends(about, kind string) Operation {
	return op.also(outcome{status: http.StatusOK, about: about, kind: kind})
}

// A stream has no schema: its events are of many types, which are components.
func (op Operation) streams(about string) Operation { return op.sends(about, eventsKind) }

// 204: success without content (RFC 9110, section 15.3.5).
func (op Operation) empty(about string) Operation { return op.ends(http.StatusNoContent, about, nil) }

// 303: a browser that posted a form loads the page with GET (RFC 9110, section 15.4.4).
func (op Operation) redirects(about string) Operation {
	return op.ends(http.StatusSeeOther, about, nil)
}

func (op Operation) also(outcomes ...outcome) Operation {
	op.outcomes = append(op.outcomes, outcomes...)
	return op
}

// ID returns an operation's id: POST /agent/runs/:id/cancel is post_agent_runs_id_cancel.
//
// It is in addresses of GET /docs and in the function names of generated clients, so it must not change.
func (op Operation) ID() string {
	return strings.ToLower(op.Method) + strings.NewReplacer("/:", "_", "/", "_", ".", "_", "-", "_").Replace(op.Path)
}

// TemplatePath converts /runs/:id to /runs/{id}.
//
// OpenAPI encloses parameters in braces, the router prefixes a colon.
func TemplatePath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}

// Query parameters and headers are always optional: required input is in the path or the body.
func query(name string, schema *jsonschema.Schema, about string) parameter {
	return parameter{"query", name, about, false, schema}
}

func header(name string, schema *jsonschema.Schema, about string) parameter {
	return parameter{"header", name, about, false, schema}
}

// formField and needed return fields of a form.
func formField(name string, schema *jsonschema.Schema, about string) parameter {
	return parameter{"form", name, about, false, schema}
}

func needed(name string, schema *jsonschema.Schema, about string) parameter {
	return parameter{"form", name, about, true, schema}
}

// They are one question in several forms, each the interface of another kind of program; same.go lists their
// equivalent fields.
func questionRoutes() []Operation {
	return []Operation{
		// This is the page's own entry point, and that of programs that follow events.
		route("POST /chat", "Ask and stream the answer").
			says(askAbout+`With Accept: application/json the response has the URLs of the run's event streams. A form
			gets the page.`).
			takes(ask.Question{}, `{"message":"When was the roof last repaired?"}`).
			posts(needed("message", patterned(notBlank), "The question."),
				formField("session_id", patterned(maybeForm), "The conversation to continue."),
				formField("context_text", textSchema(), "Answer from this text alone."),
				formField("model", textSchema(),
					"The model, one of the allowed models. Default: the model of the previous question."),
				formField("toolset", textSchema(), "The set of tools. Default: the set of the previous question."),
				formField("namespace", textOf(128),
					"Only documents in this namespace. Default: the namespace of the previous question."),
				formField("new_session", textSchema(),
					"Any value: start a new conversation with the options of the one in session_id."),
				formField("idempotency_key", textOf(255), "Same as the header Idempotency-Key.")).
			with(onceParam).
			fails(askFails...).
			ends(http.StatusAccepted, "The run has started.", api.Accepted{}).
			streams("The run's event stream, or an HTML fragment.").
			redirects(itsPage),
		route("POST /agent/chat", "Ask and wait for the answer").
			says(askAbout).
			takes(api.AgentQuestion{}, `{"message":"When was the roof last repaired?","session_id":"user_7_conv_9"}`).
			with(onceParam).
			fails(waitFails...).
			also(answers(api.AgentAnswer{})...),
		route("POST /agent/chat/structured", "Ask and get the answer with detailed sources").
			says(askAbout).
			takes(api.AgentQuestion{}, `{"context_text":"The survey costs 400 euros.","message":"What does it cost?"}`).
			with(onceParam).
			fails(waitFails...).
			also(answers(api.GroundedResponse{})...),
		route("POST /agent/query", "Ask with a custom history and get the answer with all steps").
			says(askAbout+`In this stream each reasoning_step also has step_number, action and observation. After
			run_done a final event response contains the body of the JSON response. It is not in the run's log, so GET
			/agent/runs/{id}/events does not include it.`).
			takes(api.AgentQuery{}, `{
				"question": "And the walls?", "history": [["Is the roof sound?", "Yes."]], "config": {"max_steps": 5}
			}`).
			with(onceParam).
			fails(waitFails...).
			also(answers(api.AgentResponse{})...),
		route("POST /agent/retrieve", "Retrieve passages for your own answer").
			says("Times out after 30 seconds.").
			takes(find.SearchQuery{}, `{"query":"roof repair","top_k":5}`).
			fails(chat.CodeNotFound, chat.CodeTooMany, chat.CodeTimeout).
			gives("The passages, best first, with the trace of the search.", api.RetrieveResponse{}),
		route("POST /search", "Search the documents").
			takes(find.SearchQuery{}, `{
				"query": "roof repair", "top_k": 5, "filters": {"mime": "text/", "date_from": "2024-01"}
			}`).
			fails(chat.CodeNotFound, chat.CodeTooMany).
			gives("The passages, best first.", api.SearchResponse{}),
	}
}
