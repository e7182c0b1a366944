package openapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/export"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/server/shares"
)

// group is a section of the description.
//
// routes is a function and not a list, since the methods of a route return a new value.
type group struct {
	name, about string
	routes      func() []Operation
}

// clientGroup has other errors than the other groups.
const clientGroup = "AI SDK and AG-UI"

// They are in the order of the page: the most basic first.
var groups = []group{
	{"Questions", "Ask questions and get answers with footnotes.", questionRoutes},
	{
		"Runs",
		"A run answers one question. It runs in the background and records every step in its event log.",
		runRoutes,
	},
	{"Conversations", "Series of questions and answers.", conversationRoutes},
	{"Monitored questions", "Questions that rerun automatically when their documents change.", standingRoutes},
	{"Tables", "Tables of the same questions over many documents, one cell per answer.", tableRoutes},
	{"Documents", "The library that answers are based on, and its connected sources.", documentRoutes},
	{
		"OpenAI-compatible",
		"For OpenAI clients: set the base URL to this server's /v1 and the model to footnote. The API key can be any " +
			"string.",
		v1Routes,
	},
	{
		clientGroup,
		"For apps built with the AI SDK's useChat or AG-UI's HttpAgent. Error responses under /ui are plain text.",
		clientRoutes,
	},
	{"Service", "Health, metrics, models and the MCP server.", serviceRoutes},
}

// Operations returns the description of every route except the page's.
//
// Each call builds them, so a caller may modify them. They are in the order of the groups, and within a group of the
// source.
func Operations() (all []Operation) {
	for _, g := range groups {
		for _, op := range g.routes() {
			op.group = g.name
			all = append(all, op)
		}
	}
	return all
}

const (
	// The media type is that of the HTML standard's server-sent events.
	eventsKind = "text/event-stream"
	askAbout   = "Creates the session if it does not exist. With Accept: text/event-stream the response streams the " +
		"run's events as server-sent events; the schemas Event_* describe them. The run continues if the client " +
		"disconnects. "
)

// Error codes of routes, besides those implied by their address and body.
var (
	// A body can be malformed (400), too large (413), or of an unsupported type (415).
	bodyFails = []chat.Code{chat.CodeInvalid, chat.CodeTooLarge, chat.CodeUnsupported}
	askFails  = []chat.Code{
		chat.CodeNotFound, chat.CodeTurnLimit, chat.CodeKeyReused, chat.CodeTooMany, chat.CodeDiskFull,
	}
	// A client that waits for the answer also gets the errors that others read in the run's log.
	waitFails = append(slices.Clone(askFails), chat.CodeModelFailed, chat.CodeTimeout)
)

// pathParams are the path parameters, with their error codes.
//
// The key is the path up to and including the parameter, since :id differs per path. A route with a parameter
// without a row here makes Describe fail.
var pathParams = map[string]struct {
	schema *jsonschema.Schema
	about  string
	fails  []chat.Code
}{
	"/agent/runs/:id":                {patterned(runForm), "The run ID.", missing},
	"/agent/runs/:id/steps/:call":    {textSchema(), "The call_id of the step.", missing},
	"/agent/session/:id":             {patterned(sessionForm), sessionAbout, broken},
	"/sessions/:id":                  {patterned(sessionForm), sessionAbout, broken},
	"/sessions/:id/queue/:item":      {textSchema(), "The ID of the queued question.", missing},
	"/shares/:id":                    {textSchema(), "The ID of the share link.", missing},
	"/standing/:id":                  {textSchema(), "The ID of the monitored question.", missing},
	"/standing/feed/:token":          {textSchema(), "The token at the end of the feed URL.", missing},
	"/tables/:id":                    {textSchema(), "The table ID.", missing},
	"/tables/:id/cells/:row":         {wholeSchema(0, chat.MaxGridRows-1, ""), "The row index, from 0.", missing},
	"/tables/:id/cells/:row/:column": {wholeSchema(0, chat.MaxGridColumns-1, ""), "The column index, from 0.", missing},
	"/documents/:id":                 {textSchema(), "The document ID.", missing},
	"/documents/:id/pages/:page":     {patterned(`^[1-9][0-9]{0,5}\.png$`), "The page, such as 1.png.", missing},
	"/places/:id":                    {textSchema(), "The ID of the connected source.", missing},
	"/v1/responses/:id":              {textSchema(), `The response ID: "resp_" followed by the run ID.`, missing},
	"/v1/models/:model":              {textSchema(), "The model name: footnote.", missing},
	"/ui/chat/:id":                   {patterned(sessionForm), sessionAbout, nil}, // a new chat has no run yet
}

const sessionAbout = "The conversation ID, for example user_7_conv_9."

var (
	// Clients choose conversation ids, so these may be malformed (400). An id that the server assigns can only be
	// missing (404), in any form.
	missing = []chat.Code{chat.CodeNotFound}
	broken  = []chat.Code{chat.CodeInvalid, chat.CodeNotFound}
)

// Parameters of many routes.
var (
	// The header is that of the IETF draft "The Idempotency-Key HTTP Header Field"; the definition of a retry is
	// here.
	onceParam = header("Idempotency-Key", textOf(255),
		"A unique key for safe retries. A repeated key returns the same run; with a different body the request "+
			"fails.")
	afterParams = []parameter{
		query("after", wholeSchema(0, 1<<53, "0"),
			"Resume after this event. A number beyond the last event sends a reset event, then all events."),
		header("Last-Event-ID", patterned(`^[0-9]{0,15}$`),
			"Same as after; browsers send it on reconnect. Empty equals absent."),
	}
	// seenParam is afterParams' header for addresses without query parameters.
	seenParam = header("Last-Event-ID", patterned(`^[0-9]{0,15}$`),
		"For a repeated request: resume the run's events after this event. Empty equals absent.")
	cursorParam = query("cursor", textSchema(), "The pagination cursor: next of the previous page.")
)

// toolsParam adds tools to a conversation's messages.
var toolsParam = query("tools", oneOf("false", "true"), "true: include the system prompt as the first "+
	"message, and tool calls with their results between question and answer.")

// Redirects of the page's forms.
const (
	firstPage     = "Redirects a form to the home page."
	itsPage       = "Redirects a form to the conversation page."
	keptPage      = "Redirects a form to the page of monitored questions."
	tablesPage    = "Redirects a form to the page of tables."
	placesPage    = "Redirects a form to the page of connected sources."
	documentsPage = "Redirects a form to the documents page."
)

// The limit is that of every list of the API.
func limitParam(initial string) parameter {
	return query("limit", wholeSchema(1, chat.MaxPage, initial), "The maximum number of results.")
}

// pageParams are the parameters of a list with a text search.
//
// text describes the search; initial is the default limit, empty: not stated.
func pageParams(text, initial string) []parameter {
	return []parameter{query("q", textSchema(), text), limitParam(initial), cursorParam}
}

// answers are the outcomes of a question that the client waits for.
//
// body is a value of the answer's type. The response of a run that a guardrail ended has the same form under 422, so
// that a client which only checks the status does not mistake it for an answer.
func answers(body any) []outcome {
	return []outcome{
		{
			status: http.StatusOK, body: body,
			about: "The answer. If the documents contain none, the answer begins with a fixed sentence and has no " +
				"citations.",
		},
		{status: http.StatusOK, about: "The run's event stream, with Accept: text/event-stream.", kind: eventsKind},
		{
			status: http.StatusUnprocessableEntity, body: body,
			about: "A guardrail ended the run; the answer is a sentence with the reason.",
		},
	}
}

var (
	// Each list holds the outcomes for programs, the page's script and forms.
	steered = []outcome{
		{status: http.StatusAccepted, about: "Accepted; the run's events report the effect.", body: api.Accepted{}},
		{status: http.StatusNoContent, about: "Same as 202, for the page's script."},
		{status: http.StatusSeeOther, about: itsPage},
	}
	forThePage = []outcome{
		{status: http.StatusOK, about: "An HTML fragment, for the page's script.", kind: httpio.TypeHTML},
		{status: http.StatusSeeOther, about: itsPage},
	}
	taken = []outcome{
		{status: http.StatusAccepted, about: "The accepted and rejected files.", body: api.Uploaded{}},
		{status: http.StatusSeeOther, about: documentsPage},
	}
)

// refused are the statuses of an upload without an accepted file.
//
// Each file has a reason; if their statuses differ, the response has the highest.
func refused() (list []outcome) {
	for _, status := range []int{
		http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
		http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
		http.StatusInsufficientStorage,
	} {
		list = append(list, outcome{
			status: status, about: "All files were rejected; rejected lists the reasons.", body: api.Uploaded{},
		})
	}
	return list
}

// filesOf returns the outcomes for files in some formats, with the media types of package export.
func filesOf(types map[string]string, about string, formats ...string) (list []outcome) {
	for _, format := range formats {
		// The description omits parameters of types, such as the charset.
		kind, _, _ := strings.Cut(types[format], ";")
		list = append(list, outcome{status: http.StatusOK, about: about, kind: kind})
	}
	return list
}

// A run is accessible to its user only: others get 404.
func runRoutes() []Operation {
	return []Operation{
		route("GET /agent/runs/:id", "Get a run").
			says("Returns every step with its thought, input, output and time, the answer, and token usage.").
			gives("The current state of the run.", runlog.Trace{}),
		// Its events are components of this document, named Event_ and the kind.
		route("GET /agent/runs/:id/events", "Stream a run's events").
			says(`Server-sent events; the schemas Event_* describe them. Event IDs are sequence numbers, and run_done is
			the last event. Repeated events are byte-for-byte identical.`).
			with(afterParams...).
			fails(chat.CodeTooMany).
			streams("The event stream.").
			empty("The run has ended and the client has received all events."),
		route("POST /agent/runs/:id/cancel", "Cancel a run").
			fails(chat.CodeConflict).
			also(steered...),
		route("POST /agent/runs/:id/answer-now", "Answer now from the sources found so far").
			fails(chat.CodeConflict).
			also(steered...),
		route("GET /agent/runs/:id/steps/:call/output", "Get the complete output of a step").
			gives("The tool's output.", map[string]any{}),
		route("POST /agent/runs/:id/steps/:call/approve", "Approve a pending tool call").
			says(`Without a body, or without input in it, the call runs with the model's arguments. Otherwise it runs
			with the given input, and the model is informed.`).
			takes(api.Approval{}, `{"input":{"query":"slate roofs"}}`).
			fails(chat.CodeConflict).
			also(steered...),
		route("POST /agent/runs/:id/steps/:call/deny", "Deny a pending tool call").
			fails(chat.CodeConflict).
			also(steered...),
		route("POST /agent/runs/:id/steps/:call/rerun", "Rerun from a tool call with a different input").
			says(`Creates a new version of the answer. Steps before the call are replayed from the log, the call runs
			with the given input, and the model continues from there. The input must match the tool's schema. Both
			versions are kept.`).
			takes(api.OtherInput{}, `{"input":{"query":"roof repair"}}`).
			posts(needed("input", textSchema(), "The tool's input as a JSON object.")).
			with(onceParam).
			fails(chat.CodeConflict, chat.CodeKeyReused, chat.CodeTooMany, chat.CodeDiskFull).
			ends(http.StatusAccepted, "The new run has started.", api.Accepted{}).
			gives("Same as 202, for the page's script.", nil).
			redirects(itsPage),
		route("POST /agent/runs/:id/feedback", "Submit feedback on an answer").
			says("Replaces the user's previous feedback on the answer.").
			takes(api.Judgement{}, `{
				"rating": "down", "reason": "wrong_sources", "comment": "The survey of 2023 was meant."
			}`).
			posts(needed("rating", oneOf("up", "down", "none"), "The rating; none deletes the feedback."),
				formField("reason", textSchema(), "Same as in the JSON body."),
				formField("comment", textOf(chat.MaxComment), "Same as in the JSON body.")).
			fails(chat.CodeConflict).
			gives("The stored feedback.", chat.Feedback{}).
			empty("The feedback was deleted by a form.").
			redirects(itsPage),
		route("DELETE /agent/runs/:id/feedback", "Delete feedback on an answer").
			empty("The feedback was deleted, or there was none."),
		route("GET /feedback", "List feedback, last changed first").
			with(
				query("rating", oneOrNone("up", "down"), "Only feedback with this rating."),
				limitParam(""), cursorParam,
				query("format", oneOrNone("json", "csv", "jsonl"), "csv and jsonl return all feedback as a file.")).
			gives("A page of feedback.", api.FeedbackList{}).
			sends("All feedback as a file.", "text/csv").
			sends("All feedback as a file.", "application/jsonl"),
		route("GET /agent/runs/:id/export", "Export an answer with its sources").
			says(`json, md and html contain the question, the answer, the steps, and each quote with its position and
			document hash. Verify them with POST /evidence/verify or footnote verify. docx is a Word document with
			native footnotes. bib, csl and ris contain the sources for reference managers.`).
			with(query("format", oneOrNone("json", "md", "html", "docx", "bib", "csl", "ris"),
				"The file format. Default: json.")).
			fails(chat.CodeConflict).
			gives("The exported answer.", chat.Evidence{}).
			sends("The file in the requested format.", "text/markdown").
			sends("The file in the requested format.", httpio.TypeHTML).
			also(filesOf(export.MediaTypes, "The file in the requested format.", "docx", "bib", "csl", "ris")...),
		route("POST /evidence/verify", "Verify an exported answer against the current documents").
			says(`Send the text of the exported file in the field file. An exported JSON file is also accepted as the
			body.`).
			takes(api.EvidenceFile{}, `{"file":`+strconv.Quote(EvidenceExample)+`}`).
			gives("The result for each quote.", chat.EvidenceReport{}),
		route("POST /agent/runs/:id/shares", "Create a share link to an answer").
			says(`Anyone with the link can read the answer and its quotes without a key, but no documents or steps. The
			URL is returned only once; the server stores only its hash. The link is valid until it expires, is
			revoked, or its conversation is deleted.`).
			takes(shares.ShareRequest{}, `{"days":7}`).
			fails(chat.CodeConflict, chat.CodeTooMany).
			ends(http.StatusCreated, "The share link with its URL.", shares.SharedLink{}),
		route("GET /shares", "List your share links, newest first").
			gives("The active share links, without their URLs.", shares.ShareList{}),
		route("DELETE /shares/:id", "Revoke a share link").
			empty("The share link was revoked.").
			redirects("Redirects a form to the page of share links."),
	}
}

// EvidenceExample is the smallest valid evidence file. Tests send it, so it must stay valid.
const EvidenceExample = `{"format":"footnote-evidence/1",` +
	`"digest":"1876ac35de75e7d89ba938fddcd3b45dd8fc5db0b5314364649da0e0fe14a1bd",` +
	`"run_id":"0193e4a0-0000-7000-8000-000000000000","question":"Is the roof sound?","answer":"Yes.",` +
	`"model":"offline","status":"completed","asked_at":"2026-11-21T09:00:00Z","answered_at":"2026-11-21T09:00:00Z",` +
	`"citations":[],"unsupported":[],"steps":[]}`

// Patterns of texts, compatible with all regular expression engines. JSON Schema leaves the dialect of its patterns
// to ECMA-262, but clients use their language's engine; so they use only common syntax.
const (
	notBlank    = `[^\s\x00]`
	sessionForm = `^[A-Za-z0-9_-]{1,128}$`
	maybeForm   = `^[A-Za-z0-9_-]{0,128}$` // empty: absent
	// namespaceForm excludes letters and digits of other scripts, which are accepted as well: some engines lack
	// them.
	namespaceForm = `^([^\s\x00-\x2c/:-@\[-^\x60{-\x7f.][^\s\x00-\x2c/:-@\[-^\x60{-\x7f]*)?$`
	dateForm      = `^([0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?)?$` // empty: absent
	runForm       = `^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`
)

// forms are the patterns of the tag api, with their maximum length in characters; nil: no limit.
//
// A missing form makes Describe fail with the field's name.
var forms = map[string]struct {
	pattern string
	most    *float64
}{
	"session":   {pattern: sessionForm},
	"maybe":     {pattern: maybeForm},
	"namespace": {namespaceForm, to(128)},
	"date":      {pattern: dateForm},
	"run":       {pattern: runForm},
	"web":       {pattern: `^[Hh][Tt][Tt][Pp][Ss]?://`},
}

// DescribedFields returns the parsed tags and comments of fields, by "Component.field".
//
// Tests use it to compare the description with the server's validation. It walks all types on each call.
func DescribedFields() map[string]field {
	_, types := describe(nil, "")
	return types.fields
}

// Optional numbers of a schema are pointers.
func to(n float64) *float64 { return &n }

// Texts without a limit of their own are limited by the request: see httpio.Limits.
func textSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }

// JSON Schema counts lengths in characters, not bytes.
func textOf(most int) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", MaxLength: &most} }

// In JSON Schema a pattern matches anywhere in the text unless it is anchored.
func patterned(pattern string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: pattern}
}

// Both limits are inclusive. initial is the default in JSON; empty: not stated.
func wholeSchema(low, high float64, initial string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "integer", Minimum: &low, Maximum: &high}
	if initial != "" {
		s.Default = []byte(initial)
	}
	return s
}

// oneOrNone returns the schema of one of the values, or the empty text, which equals absent.
func oneOrNone(values ...string) *jsonschema.Schema { return oneOf(append(values, "")...) }

func oneOf(values ...string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: listValues(values...)}
}

// The address of a conversation is /agent/session/{id}; /sessions/{id} is its alias, below which it is changed.
func conversationRoutes() []Operation {
	return []Operation{
		route("GET /agent/session/:id/export", "Export a conversation").
			says(`Exports up to 200 of the newest answers on the current branch, with continuous footnote numbers. bib,
			csl and ris contain the sources of all answers without duplicates.`).
			with(query("format", oneOrNone("md", "html", "docx", "bib", "csl", "ris"),
				"The file format. Default: md.")).
			fails(chat.CodeConflict).
			sends("The file in the requested format.", "text/markdown").
			sends("The file in the requested format.", httpio.TypeHTML).
			also(filesOf(export.MediaTypes, "The file in the requested format.", "docx", "bib", "csl", "ris")...),
		route("GET /sessions/:id/queue", "List queued questions").
			gives("The queued questions, in send order.", api.WaitingList{}),
		route("POST /sessions/:id/queue", "Add a question to the queue").
			says(`The server sends it when the active run ends, or immediately if no run is active. The queue holds up
			to 10 questions. A request with the same Idempotency-Key returns the queued question, or its run ID after
			it was sent, even if its documents were deleted.`).
			takes(ask.Question{}, `{"message":"And the walls?"}`).
			posts(needed("message", patterned(notBlank), "The question.")).
			with(onceParam).
			fails(chat.CodeConflict, chat.CodeKeyReused).
			ends(http.StatusAccepted, "The question was queued or sent.", api.WaitingQuestion{}).
			also(forThePage...),
		route("PATCH /sessions/:id/queue/:item", "Update a queued question").
			takes(api.OtherWords{}, `{"message":"And the cellar walls?"}`).
			empty("Success.").
			also(forThePage...),
		route("DELETE /sessions/:id/queue/:item", "Remove a queued question").
			empty("Success.").
			also(forThePage...),
		route("POST /sessions/:id/queue/:item/send", "Send a queued question now").
			says("Sends it first and ends the active run: canceled, or with an answer from the sources found so far.").
			takes(api.SendNow{}, `{"finish":"answer_now"}`).
			fails(chat.CodeConflict).
			empty("Success.").
			also(forThePage...),
		route("GET /agent/session/:id", "Get a conversation's last 50 messages").
			with(toolsParam).
			gives("The messages of the current branch, oldest first.", api.SessionHistory{}),
		route("GET /sessions/:id", "Get a conversation's last 50 messages").
			says("Alias of GET /agent/session/{id}.").
			with(toolsParam).
			gives("The messages of the current branch, oldest first.", api.SessionHistory{}),
		route("DELETE /agent/session/:id", "Delete a conversation").
			says("Deleted immediately; can be restored for one minute.").
			empty("Success.").
			redirects(firstPage),
		route("GET /sessions", "List conversations, latest first").
			with(pageParams("A search term for titles and questions.", "")...).
			gives("A page of conversations.", api.SessionList{}),
		route("PATCH /sessions/:id", "Rename a conversation").
			takes(api.SessionTitle{}, `{"title":"The roof"}`).
			posts(needed("title", textOf(200), "The new title.")).
			empty("Success.").
			redirects(itsPage),
		route("DELETE /sessions/:id", "Delete a conversation").
			says("Alias of DELETE /agent/session/{id}.").
			empty("Success.").
			redirects(firstPage),
		route("POST /sessions/:id/restore", "Restore a recently deleted conversation").
			empty("Success.").
			redirects(itsPage),
		route("POST /sessions/:id/head", "Switch to another branch of a conversation").
			takes(api.SessionHead{}, `{"run_id":"0193e4a0-0000-7000-8000-000000000000"}`).
			empty("Success.").
			redirects(itsPage),
	}
}
