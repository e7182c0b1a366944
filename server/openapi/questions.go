package openapi

import (
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/find"
)

// They are one question in several forms, each the interface of another kind of program; same.go says which of their
// fields are alike.
func questionRoutes() []Operation {
	return []Operation{
		// This is the page's own way to ask, and the one for programs that follow events.
		route("POST /chat", "Ask, and follow the answer").
			says(askAbout+`With Accept: application/json the answer is where to follow the run. A form is answered with
			the page.`).
			takes(ask.Question{}, `{"message":"When was the roof last repaired?"}`).
			posts(needed("message", patterned(notBlank), "The question."),
				formField("session_id", patterned(maybeForm), "The conversation to go on with."),
				formField("context_text", textSchema(), "Answer from this text alone."),
				formField("model", textSchema(),
					"The model that answers, one of those allowed; without the field that of the question before."),
				formField("toolset", textSchema(), "The set of tools; without the field that of the question before."),
				formField("namespace", textOf(128),
					"Only documents of this namespace; without the field as the question before."),
				formField("new_session", textSchema(),
					"Any value: ask in a new conversation, with the choices of the one that session_id names."),
				formField("idempotency_key", textOf(255), "The same as the header.")).
			with(onceParam).
			fails(askFails...).
			ends(http.StatusAccepted, "The run is under way.", api.Accepted{}).
			streams("The run's events, or a piece of the page.").
			redirects("The conversation's page, for a form."),
		route("POST /agent/chat", "Ask, and wait for the answer").
			says(askAbout).
			takes(api.AgentQuestion{}, `{"message":"When was the roof last repaired?","session_id":"user_7_conv_9"}`).
			with(onceParam).
			fails(waitFails...).
			also(answers(api.AgentAnswer{})...),
		route("POST /agent/chat/structured", "Ask, and get the answer with its sources spelled out").
			says(askAbout).
			takes(api.AgentQuestion{}, `{"context_text":"The survey costs 400 euros.","message":"What does it cost?"}`).
			with(onceParam).
			fails(waitFails...).
			also(answers(api.GroundedResponse{})...),
		route("POST /agent/query", "Ask with a history of one's own, and get the answer with every step").
			says(askAbout+`Each reasoning_step of this stream has step_number, action and observation as well, and
			behind run_done comes one event more, response: the body of the JSON answer. It is not in the run's log, so
			GET /agent/runs/{id}/events does not repeat it.`).
			takes(api.AgentQuery{}, `{
				"question": "And the walls?", "history": [["Is the roof sound?", "Yes."]], "config": {"max_steps": 5}
			}`).
			with(onceParam).
			fails(waitFails...).
			also(answers(api.AgentResponse{})...),
		route("POST /agent/retrieve", "Get passages for an answer of one's own").
			says("Takes 30 seconds at most.").
			takes(find.SearchQuery{}, `{"query":"roof repair","top_k":5}`).
			fails(chat.CodeNotFound, chat.CodeTooMany, chat.CodeTimeout).
			gives("The passages, best first, and how they were found.", api.RetrieveResponse{}),
		route("POST /search", "Search the documents").
			takes(find.SearchQuery{}, `{
				"query": "roof repair", "top_k": 5, "filters": {"mime": "text/", "date_from": "2024-01"}
			}`).
			fails(chat.CodeNotFound, chat.CodeTooMany).
			gives("The passages, best first.", api.SearchResponse{}),
	}
}
