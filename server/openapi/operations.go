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
	{"Questions", "Ask, and get an answer with footnotes.", questionRoutes},
	{
		"Runs",
		"A run is the work on one question. It goes on whether anybody looks or not; all it does is in its log.",
		runRoutes,
	},
	{"Conversations", "Questions and answers in a row.", conversationRoutes},
	{"Kept questions", "Questions that are asked again when the documents they rest on change.", standingRoutes},
	{"Tables", "The same questions about many documents, a cell each.", tableRoutes},
	{"Documents", "What answers are made from.", documentRoutes},
	{
		"OpenAI-compatible",
		"For programs made for OpenAI's API: set their base address to this server's /v1 and the model to footnote. " +
			"Any key will do.",
		v1Routes,
	},
	{
		clientGroup,
		"For pages and programs that are made with the AI SDK's useChat or AG-UI's HttpAgent. Failures under /ui are " +
			"a sentence without anything around it.",
		clientRoutes,
	},
	{"Service", "How the server is, and what it can do.", serviceRoutes},
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
	askAbout   = "The session is made if it is not there. With Accept: text/event-stream the answer is the run's " +
		"events as server-sent events, named like the schemas Event_*; the run goes on when the reader leaves. "
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
	"/agent/runs/:id":                {patterned(runForm), "The run's id.", missing},
	"/agent/runs/:id/steps/:call":    {textSchema(), "The step's call_id.", missing},
	"/agent/session/:id":             {patterned(sessionForm), sessionAbout, broken},
	"/sessions/:id":                  {patterned(sessionForm), sessionAbout, broken},
	"/sessions/:id/queue/:item":      {textSchema(), "The waiting question's id.", missing},
	"/shares/:id":                    {textSchema(), "The link's id.", missing},
	"/standing/:id":                  {textSchema(), "The kept question's id.", missing},
	"/standing/feed/:token":          {textSchema(), "The end of the feed's address.", missing},
	"/tables/:id":                    {textSchema(), "The table's id.", missing},
	"/tables/:id/cells/:row":         {wholeSchema(0, chat.MaxGridRows-1, ""), "The cell's row, from 0.", missing},
	"/tables/:id/cells/:row/:column": {wholeSchema(0, chat.MaxGridColumns-1, ""), "Its column, from 0.", missing},
	"/documents/:id":                 {textSchema(), "The document's id.", missing},
	"/documents/:id/pages/:page":     {patterned(`^[1-9][0-9]{0,5}\.png$`), "1.png, 2.png and so on.", missing},
	"/places/:id":                    {textSchema(), "The place's id.", missing},
	"/v1/responses/:id":              {textSchema(), `The response's id: "resp_" and the run's id.`, missing},
	"/v1/models/:model":              {textSchema(), "The model's name: footnote.", missing},
	"/ui/chat/:id":                   {patterned(sessionForm), sessionAbout, nil}, // a new chat has no run yet
}

const sessionAbout = "The conversation's id, such as user_7_conv_9."

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
		"The same key with the same body gives the same run; with another body it fails.")
	afterParams = []parameter{
		query("after", wholeSchema(0, 1<<53, "0"),
			"Go on after this event. A number beyond the end gives a reset event and then all."),
		header("Last-Event-ID", patterned(`^[0-9]{0,15}$`),
			"The same; browsers send it when they come back. Empty is none."),
	}
	// seenParam is afterParams' header for addresses without query parameters.
	seenParam = header("Last-Event-ID", patterned(`^[0-9]{0,15}$`),
		"Of a run that is asked for again: go on after this event. Empty is none.")
	cursorParam = query("cursor", textSchema(), "next of the page before.")
)

// toolsParam adds tools to a conversation's messages.
var toolsParam = query("tools", oneOf("false", "true"), "true: with the rules that models are told as the "+
	"first message, and with the calls of tools and what they gave between question and answer.")

// Where a form of the page goes on.
const (
	firstPage  = "The first page, for a form."
	itsPage    = "The conversation's page, for a form."
	keptPage   = "The page of kept questions, for a form."
	tablesPage = "The page of tables, for a form."
	placesPage = "The page of places, for a form."
)

// The limit is that of every list of the API.
func limitParam(initial string) parameter {
	return query("limit", wholeSchema(1, chat.MaxPage, initial), "How many at most.")
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
			about: "The answer. That the documents hold none is one as well: it begins with a fixed sentence and has " +
				"no citations.",
		},
		{status: http.StatusOK, about: "The run's events, when they were asked for.", kind: eventsKind},
		{
			status: http.StatusUnprocessableEntity, body: body,
			about: "A guardrail ended the run: the answer is a sentence about it.",
		},
	}
}

var (
	// Each list holds the outcomes for programs, the page's script and forms.
	steered = []outcome{
		{status: http.StatusAccepted, about: "It will; the run's events show when.", body: api.Accepted{}},
		{status: http.StatusNoContent, about: "The same, for the page's script."},
		{status: http.StatusSeeOther, about: itsPage},
	}
	forThePage = []outcome{
		{status: http.StatusOK, about: "A piece of the page, for its script.", kind: httpio.TypeHTML},
		{status: http.StatusSeeOther, about: itsPage},
	}
	taken = []outcome{
		{status: http.StatusAccepted, about: "What was taken, and what was not.", body: api.Uploaded{}},
		{status: http.StatusSeeOther, about: "The page of documents, for a form."},
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
			status: status, about: "Nothing was taken; each is in rejected with its reason.", body: api.Uploaded{},
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
		route("GET /agent/runs/:id", "Get everything about a run").
			says("Every step with its thought, input, output and time; the answer; what was used.").
			gives("The run as it stands.", runlog.Trace{}),
		// Its events are components of this document, named Event_ and the kind.
		route("GET /agent/runs/:id/events", "Follow a run").
			says(`Server-sent events named like the schemas Event_*, with their numbers as ids; run_done is the last.
			What was sent once is sent again byte for byte.`).
			with(afterParams...).
			fails(chat.CodeTooMany).
			streams("The events.").
			empty("The run is over and the reader has it all."),
		route("POST /agent/runs/:id/cancel", "Stop a run").
			fails(chat.CodeConflict).
			also(steered...),
		route("POST /agent/runs/:id/answer-now", "Make a run answer from what it has").
			fails(chat.CodeConflict).
			also(steered...),
		route("GET /agent/runs/:id/steps/:call/output", "Get a step's whole output").
			gives("What the tool gave.", map[string]any{}),
		route("POST /agent/runs/:id/steps/:call/approve", "Let a call that waits for approval run").
			says(`Without a body, or without an input in it, the call runs as the model asked for it; else it runs
			with the input, and the model is told.`).
			takes(api.Approval{}, `{"input":{"query":"slate roofs"}}`).
			fails(chat.CodeConflict).
			also(steered...),
		route("POST /agent/runs/:id/steps/:call/deny", "Keep a call that waits for approval from running").
			fails(chat.CodeConflict).
			also(steered...),
		route("POST /agent/runs/:id/steps/:call/rerun", "Go through a run again from a tool call with another input").
			says(`Makes a new version of the answer: the steps before the call come from the log, the call is made
			with the input given, which must fit the tool's schema, and the model goes on from there. Both versions
			are kept.`).
			takes(api.OtherInput{}, `{"input":{"query":"roof repair"}}`).
			posts(needed("input", textSchema(), "The input as JSON.")).
			with(onceParam).
			fails(chat.CodeConflict, chat.CodeKeyReused, chat.CodeTooMany, chat.CodeDiskFull).
			ends(http.StatusAccepted, "The new run is under way.", api.Accepted{}).
			gives("The same, for the page's script.", nil).
			redirects(itsPage),
		route("POST /agent/runs/:id/feedback", "Say what an answer is worth").
			says("Takes the place of what the same user said before.").
			takes(api.Judgement{}, `{
				"rating": "down", "reason": "wrong_sources", "comment": "The survey of 2023 was meant."
			}`).
			posts(needed("rating", oneOf("up", "down", "none"), "none withdraws it."),
				formField("reason", textSchema(), "As in JSON."),
				formField("comment", textOf(chat.MaxComment), "As in JSON.")).
			fails(chat.CodeConflict).
			gives("As it is stored.", chat.Feedback{}).
			empty("Withdrawn by a form.").
			redirects(itsPage),
		route("DELETE /agent/runs/:id/feedback", "Withdraw what was said of an answer").
			empty("There is none now."),
		route("GET /feedback", "List what was said of answers, last changed first").
			with(
				query("rating", oneOrNone("up", "down"), "Only these."), limitParam(""), cursorParam,
				query("format", oneOrNone("json", "csv", "jsonl"), "csv and jsonl give all of it as a file.")).
			gives("One page of it.", api.FeedbackList{}).
			sends("All of it as a file.", "text/csv").
			sends("All of it as a file.", "application/jsonl"),
		route("GET /agent/runs/:id/export", "Get an answer with all it rests on as a file").
			says(`json, md and html hold question, answer, quotes with their document's hash and place, and the steps;
			their data can be checked again with POST /evidence/verify or footnote verify. docx is a Word document
			whose footnotes are Word's own; bib, csl and ris are the sources for reference managers.`).
			with(query("format", oneOrNone("json", "md", "html", "docx", "bib", "csl", "ris"),
				"Which kind of file; json without it.")).
			fails(chat.CodeConflict).
			gives("The file.", chat.Evidence{}).
			sends("The file, by its format.", "text/markdown").
			sends("The file, by its format.", httpio.TypeHTML).
			also(filesOf(export.MediaTypes, "The file, by its format.", "docx", "bib", "csl", "ris")...),
		route("POST /evidence/verify", "Check an exported answer against the documents as they are now").
			says(`The body is the text of an exported file of any kind in the field file. An exported JSON file is
			taken as it is, too.`).
			takes(api.EvidenceFile{}, `{"file":`+strconv.Quote(EvidenceExample)+`}`).
			gives("What became of each quote.", chat.EvidenceReport{}),
		route("POST /agent/runs/:id/shares", "Make a link to an answer").
			says(`Whoever has the link reads the answer and its quotes, without a key: no document, no step. Its
			address is told once; the server keeps only a hash of it. It ends at its time, when it is ended, and with
			its conversation.`).
			takes(shares.ShareRequest{}, `{"days":7}`).
			fails(chat.CodeConflict, chat.CodeTooMany).
			ends(http.StatusCreated, "The link with its address.", shares.SharedLink{}),
		route("GET /shares", "List your links to answers, the latest first").
			gives("Those that are open, without their addresses.", shares.ShareList{}),
		route("DELETE /shares/:id", "End a link to an answer").
			empty("It opens nothing any more.").
			redirects("The page of links, for a form."),
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
		route("GET /agent/session/:id/export", "Get a conversation's answers as a file").
			says(`The branch that is shown, its 200 newest answers at most. Footnotes are numbered through. bib, csl
			and ris are the sources of all answers, each once.`).
			with(query("format", oneOrNone("md", "html", "docx", "bib", "csl", "ris"),
				"Which kind of file; md without it.")).
			fails(chat.CodeConflict).
			sends("The file, by its format.", "text/markdown").
			sends("The file, by its format.", httpio.TypeHTML).
			also(filesOf(export.MediaTypes, "The file, by its format.", "docx", "bib", "csl", "ris")...),
		route("GET /sessions/:id/queue", "List the questions that wait").
			gives("In the order in which they will be sent.", api.WaitingList{}),
		route("POST /sessions/:id/queue", "Let a question wait until the run under way is over").
			says(`The server sends it then, whoever looks; at once if nothing is under way. At most 10 wait. A repeat
			with the same Idempotency-Key gets the question that waits, or its run's id once it was sent, whatever
			became of its documents.`).
			takes(ask.Question{}, `{"message":"And the walls?"}`).
			posts(needed("message", patterned(notBlank), "The question.")).
			with(onceParam).
			fails(chat.CodeConflict, chat.CodeKeyReused).
			ends(http.StatusAccepted, "It waits, or was sent.", api.WaitingQuestion{}).
			also(forThePage...),
		route("PATCH /sessions/:id/queue/:item", "Change a waiting question").
			takes(api.OtherWords{}, `{"message":"And the cellar walls?"}`).
			empty("Done.").
			also(forThePage...),
		route("DELETE /sessions/:id/queue/:item", "Remove a waiting question").
			empty("Done.").
			also(forThePage...),
		route("POST /sessions/:id/queue/:item/send", "Send a waiting question now").
			says("It goes first, and the run under way ends: cancelled, or with an answer from what it has.").
			takes(api.SendNow{}, `{"finish":"answer_now"}`).
			fails(chat.CodeConflict).
			empty("Done.").
			also(forThePage...),
		route("GET /agent/session/:id", "Get a conversation's last 50 messages").
			with(toolsParam).
			gives("The messages of the branch that is shown, oldest first.", api.SessionHistory{}),
		route("GET /sessions/:id", "Get a conversation's last 50 messages").
			says("The same as GET /agent/session/{id}.").
			with(toolsParam).
			gives("The messages of the branch that is shown, oldest first.", api.SessionHistory{}),
		route("DELETE /agent/session/:id", "Delete a conversation").
			says("It is gone at once and can be brought back for a minute.").
			empty("Done.").
			redirects(firstPage),
		route("GET /sessions", "List conversations, latest first").
			with(pageParams("Part of a title or question.", "")...).
			gives("One page of them.", api.SessionList{}),
		route("PATCH /sessions/:id", "Rename a conversation").
			takes(api.SessionTitle{}, `{"title":"The roof"}`).
			posts(needed("title", textOf(200), "The new title.")).
			empty("Done.").
			redirects(itsPage),
		route("DELETE /sessions/:id", "Delete a conversation").
			says("The same as DELETE /agent/session/{id}.").
			empty("Done.").
			redirects(firstPage),
		route("POST /sessions/:id/restore", "Bring back a conversation that was just deleted").
			empty("Done.").
			redirects(itsPage),
		route("POST /sessions/:id/head", "Show another branch of a conversation").
			takes(api.SessionHead{}, `{"run_id":"0193e4a0-0000-7000-8000-000000000000"}`).
			empty("Done.").
			redirects(itsPage),
	}
}
