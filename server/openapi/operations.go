package openapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio"
)

// group is a heading of the description.
//
// routes is a function and not a list, since each description of a route is a value that its methods return anew.
type group struct {
	name, about string
	routes      func() []Operation
}

// clientGroup's failures differ from those of the others.
const clientGroup = "AI SDK and AG-UI"

// Their order is that of the page: what a newcomer needs first comes first.
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

// Operations describes every route but those of the page.
//
// They are made anew each time, so a caller may change them. Order: the groups', and in a group the source's.
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

// What routes can fail with, beside what follows from their address and their body.
var (
	// A body can be malformed (400), too large (413), or of a type that is not read (415).
	bodyFails = []chat.Code{chat.CodeInvalid, chat.CodeTooLarge, chat.CodeUnsupported}
	askFails  = []chat.Code{
		chat.CodeNotFound, chat.CodeTurnLimit, chat.CodeKeyReused, chat.CodeTooMany, chat.CodeDiskFull,
	}
	// Who waits for the answer also gets the failures that others read in the run's log.
	waitFails = append(slices.Clone(askFails), chat.CodeModelFailed, chat.CodeTimeout)
)

// pathParams are the parts of addresses that name things, with what they fail with.
//
// The key is the path up to and with the parameter, since :id means another thing on each path. A route with a
// parameter that has no row here makes Describe fail.
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
	"/ui/chat/:id":                   {patterned(sessionForm), sessionAbout, nil}, // a new chat has no answer under way
}

const sessionAbout = "The conversation's id, such as user_7_conv_9."

var (
	// Clients choose the ids of conversations, so one of these may be malformed (400). What the server names itself can
	// only be missing (404), whatever it looks like.
	missing = []chat.Code{chat.CodeNotFound}
	broken  = []chat.Code{chat.CodeInvalid, chat.CodeNotFound}
)

// Parameters that many routes take.
var (
	// The header is that of the IETF draft "The Idempotency-Key HTTP Header Field"; what counts as a repeat is
	// described here.
	onceParam = header("Idempotency-Key", textOf(255),
		"The same key with the same body gives the same run; with another body it fails.")
	afterParams = []parameter{
		query("after", wholeSchema(0, 1<<53, "0"),
			"Go on after this event. A number beyond the end gives a reset event and then all."),
		header("Last-Event-ID", patterned(`^[0-9]{0,15}$`),
			"The same; browsers send it when they come back. Empty is none."),
	}
	// seenParam is afterParams' header where the address takes no parameters.
	seenParam = header("Last-Event-ID", patterned(`^[0-9]{0,15}$`),
		"Of a run that is asked for again: go on after this event. Empty is none.")
	cursorParam = query("cursor", textSchema(), "next of the page before.")
)

// The bound is that of every list of the API.
func limitParam(initial string) parameter {
	return query("limit", wholeSchema(1, chat.MaxPage, initial), "How many at most.")
}

// pageParams are the parameters of a list that is searched for a text.
//
// text says what is searched in; initial is how many entries come without a limit, empty: none is named.
func pageParams(text, initial string) []parameter {
	return []parameter{query("q", textSchema(), text), limitParam(initial), cursorParam}
}

// answers are the ways in which a question that is waited for ends.
//
// body is a value of the answer's type. An answer of a run that a guardrail ended has the same form under 422, so that
// a client that only looks at the status does not take it for one.
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
	// Each list is one way in which addresses answer programs, the page's script and forms.
	steered = []outcome{
		{status: http.StatusAccepted, about: "It will; the run's events show when.", body: api.Accepted{}},
		{status: http.StatusNoContent, about: "The same, for the page's script."},
		{status: http.StatusSeeOther, about: "The conversation's page, for a form."},
	}
	forThePage = []outcome{
		{status: http.StatusOK, about: "A piece of the page, for its script.", kind: httpio.TypeHTML},
		{status: http.StatusSeeOther, about: "The conversation's page, for a form."},
	}
	taken = []outcome{
		{status: http.StatusAccepted, about: "What was taken, and what was not.", body: api.Uploaded{}},
		{status: http.StatusSeeOther, about: "The page of documents, for a form."},
	}
)

// refused are the statuses of an upload of which nothing was taken.
//
// Each file of it has a reason; if they differ in their status, the highest one is answered.
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

// filesOf are files in some formats, whose media types export knows.
func filesOf(types map[string]string, about string, formats ...string) (list []outcome) {
	for _, format := range formats {
		// The description names types without parameters such as the charset.
		kind, _, _ := strings.Cut(types[format], ";")
		list = append(list, outcome{status: http.StatusOK, about: about, kind: kind})
	}
	return list
}
