package server

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/httpio/ssetest"
	"github.com/footnote/footnote/server/openapi"
)

// described is the description as decoded by a program.
type described struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		OperationID string `json:"operationId"`
		Parameters  []struct {
			Name, In, Description string
			Required              bool
			Schema                json.RawMessage
		}
		RequestBody struct {
			Content map[string]struct {
				Schema  json.RawMessage
				Example json.RawMessage
			}
		} `json:"requestBody"`
		Responses map[string]struct {
			Description string
			Content     map[string]struct{ Schema json.RawMessage }
		}
	}
	Components struct{ Schemas map[string]json.RawMessage }
	raw        string
}

func (b *harness) description() described {
	b.t.Helper()
	got := b.send("GET", "/openapi.json", "")
	if got.status != 200 {
		b.t.Fatalf("%d %s", got.status, got.body)
	}
	d := described{raw: got.body}
	got.decode(b.t, &d)
	return d
}

// check validates a JSON value against a schema of the description. With closed, an undescribed field is an error.
func (d described) check(t *testing.T, schema json.RawMessage, value string, closed bool) error {
	t.Helper()
	defs, err := json.Marshal(d.Components.Schemas)
	if err != nil {
		t.Fatal(err)
	}
	whole := []byte(`{"allOf":[` + string(schema) + `],"$defs":` + string(defs) + `}`)
	var root jsonschema.Schema
	if err := json.Unmarshal(bytes.ReplaceAll(whole, []byte("#/components/schemas/"), []byte("#/$defs/")),
		&root); err != nil {
		t.Fatal(err)
	}
	if closed {
		for _, s := range root.Defs {
			if s.Type == "object" && s.AdditionalProperties == nil && len(s.Properties) > 0 {
				s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
			}
		}
	}
	resolved, err := root.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		t.Fatalf("%v in %s, want no error", err, value)
	}
	return resolved.Validate(v)
}

func TestEveryAPIRouteIsDocumented(t *testing.T) {
	b := newHarness(t)
	d := b.description()
	if d.OpenAPI != "3.1.0" {
		t.Errorf("openapi = %q, want %q", d.OpenAPI, "3.1.0")
	}
	pages := httpio.NewRouter()
	b.pageRoutes(pages)
	forPeople := map[string]bool{}
	for _, route := range httpio.Routes(pages) {
		forPeople[route.Method+" "+route.Path] = true
	}
	routed := map[string]bool{}
	for _, route := range httpio.Routes(b.router) {
		key := strings.ToLower(route.Method) + " " + openapi.TemplatePath(route.Path)
		if forPeople[route.Method+" "+route.Path] {
			continue
		}
		routed[key] = true
		if _, ok := d.Paths[openapi.TemplatePath(route.Path)][strings.ToLower(route.Method)]; !ok {
			t.Errorf("%s %s is missing in openapi.Operations: describe it there", route.Method, route.Path)
		}
	}
	ids := map[string]bool{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			if !routed[method+" "+path] {
				t.Errorf("%s %s is documented, but not a route", method, path)
			}
			if ids[op.OperationID] {
				t.Errorf("several operations have the id %s", op.OperationID)
			}
			ids[op.OperationID] = true
			for _, name := range strings.Split(path, "/") {
				name = strings.Trim(name, "{}")
				if strings.Contains(path, "{"+name+"}") &&
					!strings.Contains(string(mustJSON(t, op.Parameters)), `"Name":"`+name+`","In":"path"`) {
					t.Errorf("%s %s lacks the parameter %s", method, path, name)
				}
			}
			if len(op.Responses) < 3 {
				t.Errorf("%s %s has %d responses, want at least 3 responses", method, path, len(op.Responses))
			}
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestEveryFieldIsDocumented(t *testing.T) {
	b := newHarness(t)
	d := b.description()
	used := map[string]bool{}
	for name, raw := range d.Components.Schemas {
		var s jsonschema.Schema
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		for _, f := range slices.Sorted(maps.Keys(s.Properties)) {
			used[name+"."+f] = true
			if s.Properties[f].Description == "" {
				t.Errorf("%s.%s lacks a description: comment the field, and run 'make generate'", name, f)
			}
		}
	}
	for name := range openapi.DescribedFields() {
		if component, _, _ := strings.Cut(name, "."); d.Components.Schemas[component] != nil && !used[name] {
			t.Errorf("DescribedFields has %s, which is not a field", name)
		} else if d.Components.Schemas[component] == nil && component != "Question" {
			t.Errorf("DescribedFields has %s of an unused type", name)
		}
	}
	for _, kind := range chat.Kinds {
		if d.Components.Schemas["Event_"+string(kind)] == nil {
			t.Errorf("event %s is not documented", kind)
		}
	}
	for ref := range strings.SplitSeq(d.raw, `"$ref":"#/components/schemas/`) {
		if name, _, _ := strings.Cut(ref, `"`); !strings.HasPrefix(ref, "{") && d.Components.Schemas[name] == nil {
			t.Errorf("schema %s is referenced, but missing", name)
		}
	}
}

func TestExamplesMatchResponses(t *testing.T) {
	b := newHarness(t, withModelChooser(), func(c *Config) { c.Pages.HTTP = &http.Client{Transport: pageEverywhere{}} })
	b.added("Lease.md", "# Lease\n\nThe rent is 900 euros a month.\n")
	b.stage.events = script()
	d := b.description()
	for path, methods := range d.Paths {
		for method, op := range methods {
			body, ok := op.RequestBody.Content["application/json"]
			if !ok {
				continue
			}
			t.Run(method+" "+path, func(t *testing.T) {
				if body.Example == nil {
					t.Fatal("body lacks an example")
				}
				if err := d.check(t, body.Schema, string(body.Example), false); err != nil {
					t.Error(err)
				}
				if strings.Contains(path, "{") {
					return
				}
				if got := b.send(strings.ToUpper(method), path, string(body.Example)); got.status >= 300 {
					t.Errorf("%d %s, want less than 300", got.status, got.body)
				}
			})
		}
	}
}

// TestDocumentedRangesAreEnforced sends each number of a request just outside and just inside its described range.
func TestDocumentedRangesAreEnforced(t *testing.T) {
	b := newHarness(t)
	b.stage.events = script()
	d := b.description()
	for name, f := range openapi.DescribedFields() {
		component, tag, _ := strings.Cut(name, ".")
		bodies := map[string]string{
			"SearchQuery": `/search {"query":"roof",%s}`, "RunConfig": `/agent/query {"question":"Why?","config":{%s}}`,
			"V1Question": `/v1/chat/completions {"model":"footnote",` +
				`"messages":[{"role":"user","content":"Why?"}],%s}`,
			"V1ResponseQuestion": `/v1/responses {"model":"footnote","input":"Why?",%s}`,
		}
		form, ok := bodies[component]
		var s jsonschema.Schema
		if !ok || json.Unmarshal(d.Components.Schemas[component], &s) != nil || f.Min == nil || f.Max == nil ||
			s.Properties[tag].Maximum == nil {
			continue
		}
		for _, at := range []struct {
			value float64
			fails bool
		}{{*f.Min - 1, true}, {*f.Min, false}, {*f.Max, false}, {*f.Max + 1, true}} {
			path, body, _ := strings.Cut(
				strings.ReplaceAll(form, "%s", `"`+tag+`":`+strconv.FormatFloat(at.value, 'g', -1, 64)), " ",
			)
			if got := b.send("POST", path, body); (got.status == 400) != at.fails || !at.fails && got.status != 200 {
				t.Errorf("%s = %v: %d %s", name, at.value, got.status, got.body)
			}
		}
	}
}

func TestResponsesMatchSchema(t *testing.T) {
	b := newHarness(t)
	d := b.description()
	_, up := b.uploadFiles("@survey.md=" + survey)
	id := up.Documents[0].ID
	b.settled(id)
	b.stage.events = script()
	var asked api.Accepted
	b.send("POST", "/chat", `{"message":"Is the roof sound?","session_id":"s1"}`).decode(t, &asked)
	b.stage.events = nil
	open := b.begin("Is it running?")
	const why = `{"message":"Why?"}`
	guard := []chat.Payload{
		chat.RunDone{
			Status: chat.RunGuardrailTriggered, Error: &chat.StepError{Code: chat.CodeGuardrail, Message: "No."},
		},
	}
	failed := []chat.Payload{
		chat.RunDone{Status: chat.RunFailed, Error: &chat.StepError{Code: chat.CodeModelFailed, Message: "No."}},
	}
	const askBody = `{"model":"footnote","input":"Why?"}`
	const chatBody = `{"model":"footnote","messages":[{"role":"user","content":"Why?"}]}`
	for _, tt := range []struct {
		method, route, path, body string
		status                    int
		play                      []chat.Payload
	}{
		{"POST", "/chat", "", why, 202, script()},
		{"POST", "/chat", "", `{"message":""}`, 400, nil},
		{"POST", "/agent/chat", "", why, 200, script()},
		{"POST", "/agent/chat", "", why, 422, guard},
		{"POST", "/agent/chat", "", why, 500, failed},
		{"POST", "/agent/chat", "", `{"massage":"Why?"}`, 400, nil},
		{"POST", "/agent/chat/structured", "", why, 200, script()},
		{"POST", "/agent/chat/structured", "", why, 422, guard},
		{"POST", "/agent/query", "", `{"question":"Why?"}`, 200, script()},
		{"POST", "/agent/query", "", `{"question":"Why?"}`, 422, guard},
		{"POST", "/agent/retrieve", "", `{"query":"roof"}`, 200, nil},
		{"POST", "/search", "", `{"query":"roof"}`, 200, nil},
		{"POST", "/search", "", `{"query":"nothing of the kind"}`, 200, nil},
		{"GET", "/agent/runs/{id}", "/agent/runs/" + asked.RunID, "", 200, nil},
		{"GET", "/agent/runs/{id}", "/agent/runs/" + open.ID, "", 200, nil},
		{"GET", "/agent/runs/{id}", "/agent/runs/x", "", 404, nil},
		{"GET", "/agent/runs/{id}/steps/{call}/output", "/agent/runs/" + asked.RunID + "/steps/c1/output",
			"", 200, nil},
		{"POST", "/agent/runs/{id}/cancel", "/agent/runs/" + asked.RunID + "/cancel", "", 409, nil},
		{"POST", "/agent/runs/{id}/answer-now", "/agent/runs/" + open.ID + "/answer-now", "", 202, nil},
		{"POST", "/agent/runs/{id}/steps/{call}/approve", "/agent/runs/" + open.ID + "/steps/c1/approve",
			`{"input":{"query":"roof"}}`, 202, nil},
		{"POST", "/agent/runs/{id}/steps/{call}/deny", "/agent/runs/" + open.ID + "/steps/c1/deny", "", 202, nil},
		{"GET", "/agent/session/{id}", "/agent/session/s1", "", 200, nil},
		{"GET", "/agent/session/{id}", "/agent/session/none", "", 404, nil},
		{"GET", "/sessions", "", "", 200, nil},
		{"GET", "/documents", "", "", 200, nil},
		{"GET", "/documents/{id}", "/documents/" + id, "", 200, nil},
		{"POST", "/documents/{id}/retry", "/documents/" + id + "/retry", "", 409, nil},
		{"POST", "/v1/chat/completions", "", chatBody, 200, script()},
		{"POST", "/v1/chat/completions", "", chatBody, 422, guard},
		{"POST", "/v1/responses", "", askBody, 200, script()},
		{"POST", "/v1/responses", "", askBody, 422, guard},
		{"GET", "/v1/responses/{id}", "/v1/responses/resp_" + asked.RunID, "", 200, nil},
		{"GET", "/v1/responses/{id}", "/v1/responses/resp_" + open.ID, "", 200, nil},
		{"GET", "/v1/responses/{id}", "/v1/responses/" + asked.RunID, "", 404, nil},
		{"POST", "/v1/responses/{id}/cancel", "/v1/responses/resp_" + asked.RunID + "/cancel", "", 200, nil},
		{"GET", "/v1/models", "", "", 200, nil},
		{"GET", "/v1/models/{model}", "/v1/models/footnote", "", 200, nil},
		{"GET", "/v1/models/{model}", "/v1/models/x", "", 404, nil},
		{"GET", "/health", "", "", 200, nil},
		{"GET", "/readyz", "", "", 200, nil},
		{"GET", "/openapi.json", "", "", 200, nil},
	} {
		t.Run(tt.method+" "+tt.route+" "+strconv.Itoa(tt.status), func(t *testing.T) {
			b.stage.events = tt.play
			path := tt.path
			if path == "" {
				path = tt.route
			}
			got := b.send(tt.method, path, tt.body)
			if got.status != tt.status {
				t.Fatalf("%d %s, want %d", got.status, got.body, tt.status)
			}
			kind, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
			content, ok := d.Paths[tt.route][strings.ToLower(
				tt.method,
			)].Responses[strconv.Itoa(tt.status)].Content[kind]
			if !ok {
				t.Fatalf("%d %s is not documented", tt.status, kind)
			}
			if err := d.check(t, content.Schema, got.body, true); err != nil {
				t.Errorf("%v\n%s", err, got.body)
			}
		})
	}
	t.Run("events", func(t *testing.T) {
		for _, ev := range ssetest.NewReader(
			strings.NewReader(b.send("GET", "/agent/runs/"+asked.RunID+"/events", "").body),
		).All(t) {
			if err := d.check(t, d.Components.Schemas["Event_"+ev.Name], ev.Data, true); err != nil {
				t.Errorf("%v\n%s", err, ev.Data)
			}
		}
	})
}

func TestUndocumentedFieldIsDetected(t *testing.T) {
	b := newHarness(t)
	d := b.description()
	schema := json.RawMessage(`{"$ref":"#/components/schemas/Readiness"}`)
	for value, fits := range map[string]bool{
		`{"status":"ready"}`: true, `{"status":"asleep"}`: false, `{}`: false, `{"status":"ready","more":1}`: false,
		`{"status":null}`: false,
	} {
		if err := d.check(t, schema, value, true); (err == nil) != fits {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestFilesAreCheckedBeforeUpload(t *testing.T) {
	b := newHarness(t, func(c *Config) { c.Limits.UploadFile = 10_000 })
	check := func(parts ...string) reply {
		body, kind := form(t, parts...)
		return b.send("POST", "/documents/check", body, "Content-Type", kind)
	}
	got := check(
		"size=12",
		"@notes.conf=The roof is.",
		"size=9000",
		"@film.mov=\x00\x00\x00\x18ftypmp42"+strings.Repeat("\x07", 500),
		"size=0",
		"@empty.md=",
		"size=10001",
		"@long.txt=words",
		"size=9000",
		"@scan=%PDF-1.7",
	)
	var answer struct {
		Refused []struct {
			At     int
			Detail string
		}
	}
	got.decode(t, &answer)
	want := []struct {
		at     int
		detail string
	}{{1, "is a video"}, {2, "is empty"}, {3, "exceeds the file size limit of 9.8 KiB"}}
	if got.status != http.StatusOK || len(answer.Refused) != len(want) {
		t.Fatalf("check = %d %s, want 200 and %d refused files", got.status, got.body, len(want))
	}
	for i, w := range want {
		if r := answer.Refused[i]; r.At != w.at || !strings.Contains(r.Detail, w.detail) {
			t.Errorf("refused file = %d, %q; want %d, %q", r.At, r.Detail, w.at, w.detail)
		}
	}
	if list := b.send("GET", "/documents", ""); !strings.Contains(list.body, `"documents":[]`) {
		t.Errorf("check added documents: %s", list.body)
	}
	head := strings.Repeat("a", corpus.SniffBytes)
	if got := check(
		"size=1",
		"@long.txt="+head+strings.Repeat("\x00", 100),
	); !strings.Contains(
		got.body,
		`"refused":[]`,
	) {
		t.Errorf("text after the beginning is checked: %s", got.body)
	}
	many := make([]string, 101)
	for i := range many {
		many[i] = "@a.txt=words"
	}
	for name, got := range map[string]reply{
		"101 files":      check(many...),
		"no size":        check("size=big", "@a.txt=words"),
		"a body too big": check("@a.txt=" + strings.Repeat("a", 2<<20)),
	} {
		if got.status < 400 || got.status >= 500 {
			t.Errorf("%s: %d %s, want a refusal", name, got.status, got.body)
		}
	}
}
