package openapi

import (
	"net/http"
	"slices"

	"footnote/chat"
	"footnote/server/api"
	"footnote/server/ask"
	"footnote/server/find"
	"footnote/server/httpio"
	"footnote/server/runlog"
)

// group is a heading of the description.
type group struct{ name, about string }

var groups = []group{
	{"Questions", "Ask, and get an answer with footnotes."},
	{"Runs", "A run is the work on one question. It goes on whether anybody looks or not; all it does is in its log."},
	{"Conversations", "Questions and answers in a row."},
	{"Kept questions", "Questions that are asked again when the documents they rest on change."},
	{tableGroup, "The same questions about many documents, a cell each."},
	{"Documents", "What answers are made from."},
	{
		"OpenAI-compatible",
		"For programs made for OpenAI's API: set their base address to this server's /v1 and the model to footnote. " +
			"Any key will do.",
	},
	{
		clientGroup,
		"For pages and programs that are made with the AI SDK's useChat or AG-UI's HttpAgent. Failures under " +
			"/ui are a " +
			"sentence without anything around it.",
	},
	{"Service", "How the server is, and what it can do."},
}

// Operations describes every route but those of the page.
func Operations() []Operation {
	return slices.Concat(
		askOperations(), runOperations(), steeringOperations(), shareOperations(), sessionOperations(),
		standingOperations(), webhookOperations(), tableOperations(), documentOperations(),
		v1Operations(), responseOperations(), aisdkOperations(), aguiOperations(), modelOperations(),
		placeOperations(),
		serviceOperations(),
	)
}

const (
	eventsKind = "text/event-stream"
	askAbout   = "The session is made if it is not there. With Accept: text/event-stream the answer is the run's " +
		"events as server-sent " +
		"events, named like the schemas Event_*; the run goes on when the reader leaves. "
)

var (
	bodyFails = []chat.Code{chat.CodeInvalid, chat.CodeTooLarge, chat.CodeUnsupported}
	askFails  = slices.Concat(bodyFails, []chat.Code{
		chat.CodeNotFound, chat.CodeTurnLimit, chat.CodeKeyReused, chat.CodeTooMany, chat.CodeDiskFull,
	})
	waitFails = slices.Concat(askFails, []chat.Code{chat.CodeModelFailed, chat.CodeTimeout})

	onceParam = parameter{
		in: "header", name: "Idempotency-Key", schema: textOf(255),
		about: "The same key with the same body gives the same run; with another body it fails.",
	}
	runParam    = parameter{in: "path", name: "id", need: true, schema: patterned(runForm), about: "The run's id."}
	afterParams = []parameter{
		{in: "query", name: "after", schema: wholeSchema(
			0, 1<<53, "0",
		), about: "Go on after this event. A number beyond the end gives a reset event and then all."},
		{in: "header", name: "Last-Event-ID", schema: patterned(
			`^[0-9]{0,15}$`,
		), about: "The same; browsers send it when they come back. Empty is none."},
	}
	sessionParam = parameter{
		in: "path", name: "id", need: true, schema: patterned(sessionForm),
		about: "The conversation's id, such as user_7_conv_9.",
	}
	documentParam = parameter{in: "path", name: "id", need: true, schema: textSchema(), about: "The document's id."}
)

func askOperations() []Operation {
	answer := func(body any) []outcome {
		return []outcome{
			{
				status: http.StatusOK,
				about: "The answer. That the documents hold none is one as well: it begins with a fixed sentence " +
					"and has no citations.",
				body: body,
			},
			{status: http.StatusOK, about: "The run's events, when they were asked for.", kind: eventsKind},
			{
				status: http.StatusUnprocessableEntity,
				about:  "A guardrail ended the run: the answer is a sentence about it.", body: body,
			},
		}
	}
	return []Operation{
		{
			Method: "POST", Path: "/chat", group: "Questions", summary: "Ask, and follow the answer",
			about: askAbout +
				"With Accept: application/json the answer is where to follow the run. A form is answered with " +
				"the page.",
			body: ask.Question{}, example: map[string]any{"message": "When was the roof last repaired?"},
			form: []parameter{
				{name: "message", need: true, schema: patterned(notBlank), about: "The question."},
				{name: "session_id", schema: patterned(maybeForm), about: "The conversation to go on with."},
				{name: "context_text", schema: textSchema(), about: "Answer from this text alone."},
				{
					name: "model", schema: textSchema(),
					about: "The model that answers, one of those allowed; without the field that of the question " +
						"before.",
				},
				{
					name: "toolset", schema: textSchema(),
					about: "The set of tools; without the field that of the question before.",
				},
				{name: "namespace", schema: textOf(
					128,
				), about: "Only documents of this namespace; without the field as the question before."},
				{
					name: "new_session", schema: textSchema(),
					about: "Any value: ask in a new conversation, with the choices of the one that session_id names.",
				},
				{name: "idempotency_key", schema: textOf(255), about: "The same as the header."},
			},
			formKind: httpio.TypeForm, params: []parameter{onceParam}, fails: askFails,
			outcomes: []outcome{
				{status: http.StatusAccepted, about: "The run is under way.", body: api.Accepted{}},
				{status: http.StatusOK, about: "The run's events, or a piece of the page.", kind: eventsKind},
				{status: http.StatusSeeOther, about: "The conversation's page, for a form."},
			},
		},
		{
			Method: "POST", Path: "/agent/chat", group: "Questions", summary: "Ask, and wait for the answer",
			about: askAbout, body: api.AgentQuestion{}, params: []parameter{onceParam}, fails: waitFails,
			outcomes: answer(api.AgentAnswer{}),
			example:  map[string]any{"message": "When was the roof last repaired?", "session_id": "user_7_conv_9"},
		},
		{
			Method: "POST", Path: "/agent/chat/structured", group: "Questions",
			summary: "Ask, and get the answer with its sources spelled out",
			about:   askAbout, body: api.AgentQuestion{}, params: []parameter{onceParam}, fails: waitFails,
			outcomes: answer(api.GroundedResponse{}),
			example:  map[string]any{"message": "What does it cost?", "context_text": "The survey costs 400 euros."},
		},
		{
			Method: "POST", Path: "/agent/query", group: "Questions",
			summary: "Ask with a history of one's own, and get the answer with every step",
			about: askAbout +
				"Each reasoning_step of this stream has step_number, action and observation as well, and behind " +
				"run_done comes one event more, response: the body " +
				"of the JSON answer. It is not in the run's log, so GET /agent/runs/{id}/events does not repeat it. ",
			body: api.AgentQuery{}, params: []parameter{onceParam}, fails: waitFails,
			outcomes: answer(api.AgentResponse{}),
			example: map[string]any{
				"question": "And the walls?", "history": []any{[]any{"Is the roof sound?", "Yes."}},
				"config": map[string]any{"max_steps": 5},
			},
		},
		{
			Method: "POST", Path: "/agent/retrieve", group: "Questions",
			summary: "Get passages for an answer of one's own",
			about:   "Takes 30 seconds at most.", body: find.SearchQuery{},
			fails:   slices.Concat(bodyFails, []chat.Code{chat.CodeNotFound, chat.CodeTooMany, chat.CodeTimeout}),
			example: map[string]any{"query": "roof repair", "top_k": 5},
			outcomes: []outcome{{
				status: http.StatusOK, about: "The passages, best first, and how they were found.",
				body: api.RetrieveResponse{},
			}},
		},
		{
			Method: "POST", Path: "/search", group: "Questions", summary: "Search the documents",
			body: find.SearchQuery{}, fails: slices.Concat(bodyFails, []chat.Code{chat.CodeNotFound, chat.CodeTooMany}),
			example: map[string]any{
				"query": "roof repair", "top_k": 5, "filters": map[string]any{"mime": "text/", "date_from": "2024-01"},
			},
			outcomes: []outcome{
				{status: http.StatusOK, about: "The passages, best first.", body: api.SearchResponse{}},
			},
		},
	}
}

func runOperations() []Operation {
	missing := []chat.Code{chat.CodeNotFound}
	steered := []outcome{
		{status: http.StatusAccepted, about: "It will; the run's events show when.", body: api.Accepted{}},
		{status: http.StatusNoContent, about: "The same, for the page's script."},
		{status: http.StatusSeeOther, about: "The conversation's page, for a form."},
	}
	return []Operation{
		{
			Method: "GET", Path: "/agent/runs/:id", group: "Runs", summary: "Get everything about a run",
			about:  "Every step with its thought, input, output and time; the answer; what was used.",
			params: []parameter{runParam}, fails: missing,
			outcomes: []outcome{{status: http.StatusOK, about: "The run as it stands.", body: runlog.Trace{}}},
		},
		{
			Method: "GET", Path: "/agent/runs/:id/events", group: "Runs", summary: "Follow a run",
			about: "Server-sent events named like the schemas Event_*, with their numbers as ids; run_done is the " +
				"last. What was sent once is sent again byte for byte.",
			params: append([]parameter{runParam}, afterParams...),
			fails:  []chat.Code{chat.CodeInvalid, chat.CodeNotFound, chat.CodeTooMany},
			outcomes: []outcome{
				{status: http.StatusOK, about: "The events.", kind: eventsKind},
				{status: http.StatusNoContent, about: "The run is over and the reader has it all."},
			},
		},
		{
			Method: "POST", Path: "/agent/runs/:id/cancel", group: "Runs", summary: "Stop a run",
			params: []parameter{runParam}, fails: []chat.Code{chat.CodeNotFound, chat.CodeConflict}, outcomes: steered,
		},
		{
			Method: "POST", Path: "/agent/runs/:id/answer-now", group: "Runs",
			summary: "Make a run answer from what it has",
			params:  []parameter{runParam}, fails: []chat.Code{chat.CodeNotFound, chat.CodeConflict}, outcomes: steered,
		},
		{
			Method: "GET", Path: "/agent/runs/:id/steps/:call/output", group: "Runs",
			summary: "Get a step's whole output",
			params: []parameter{
				runParam, {in: "path", name: "call", need: true, schema: textSchema(), about: "The step's call_id."},
			}, fails: missing,
			outcomes: []outcome{{status: http.StatusOK, about: "What the tool gave.", body: map[string]any{}}},
		},
		{
			Method: "POST", Path: "/agent/runs/:id/steps/:call/approve", group: "Runs",
			summary: "Let a call that waits for approval run",
			about: "Without a body, or without an input in it, the call runs as the model asked for it; else it " +
				"runs with the input, and the model is told.",
			params: []parameter{
				runParam, {in: "path", name: "call", need: true, schema: textSchema(), about: "The step's call_id."},
			}, body: api.Approval{},
			example: map[string]any{"input": map[string]any{"query": "slate roofs"}},
			fails:   slices.Concat(bodyFails, []chat.Code{chat.CodeNotFound, chat.CodeConflict}), outcomes: steered,
		},
		{
			Method: "POST", Path: "/agent/runs/:id/steps/:call/deny", group: "Runs",
			summary: "Keep a call that waits for approval from running",
			params: []parameter{
				runParam, {in: "path", name: "call", need: true, schema: textSchema(), about: "The step's call_id."},
			},
			fails: []chat.Code{chat.CodeNotFound, chat.CodeConflict}, outcomes: steered,
		},
	}
}

func sessionOperations() []Operation {
	broken := []chat.Code{chat.CodeInvalid, chat.CodeNotFound}
	done := []outcome{{status: http.StatusNoContent, about: "Done."}}
	return []Operation{
		{
			Method: "GET", Path: "/agent/session/:id", group: "Conversations",
			summary: "Get a conversation's last 50 messages",
			params: []parameter{sessionParam, {
				in: "query", name: "tools", schema: oneOf("false", "true"),
				about: "true: with the rules that models are told as the first message, and with the calls of tools " +
					"and what they gave between question and answer.",
			}}, fails: broken,
			outcomes: []outcome{{
				status: http.StatusOK, about: "The messages of the branch that is shown, oldest first.",
				body: api.SessionHistory{},
			}},
		},
		{
			Method: "DELETE", Path: "/agent/session/:id", group: "Conversations", summary: "Delete a conversation",
			about: "It is gone at once and can be brought back for a minute.", params: []parameter{sessionParam},
			fails: broken, outcomes: done,
		},
		{
			Method: "GET", Path: "/sessions", group: "Conversations", summary: "List conversations, latest first",
			params: pageParams("Part of a title or question.", chat.MaxPage, ""), fails: []chat.Code{chat.CodeInvalid},
			outcomes: []outcome{{status: http.StatusOK, about: "One page of them.", body: api.SessionList{}}},
		},
		{
			Method: "PATCH", Path: "/sessions/:id", group: "Conversations", summary: "Rename a conversation",
			params: []parameter{sessionParam},
			body:   api.SessionTitle{}, example: map[string]any{"title": "The roof"},
			fails: slices.Concat(bodyFails, broken), outcomes: done,
		},
		{
			Method: "DELETE", Path: "/sessions/:id", group: "Conversations", summary: "Delete a conversation",
			about:  "The same as DELETE /agent/session/{id}.",
			params: []parameter{sessionParam}, fails: broken, outcomes: done,
		},
		{
			Method: "POST", Path: "/sessions/:id/restore", group: "Conversations",
			summary: "Bring back a conversation that was just deleted",
			params:  []parameter{sessionParam}, fails: broken, outcomes: done,
		},
		{
			Method: "POST", Path: "/sessions/:id/head", group: "Conversations",
			summary: "Show another branch of a conversation", params: []parameter{sessionParam},
			body: api.SessionHead{}, example: map[string]any{"run_id": "0193e4a0-0000-7000-8000-000000000000"},
			fails: slices.Concat(bodyFails, broken), outcomes: done,
		},
	}
}

// pageParams are the parameters of a list.
func pageParams(text string, most int, initial string) []parameter {
	return []parameter{
		{in: "query", name: "q", schema: textSchema(), about: text},
		{in: "query", name: "limit", schema: wholeSchema(1, float64(most), initial), about: "How many at most."},
		{in: "query", name: "cursor", schema: textSchema(), about: "next of the page before."},
	}
}
