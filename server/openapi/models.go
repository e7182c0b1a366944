package openapi

import (
	"net/http"

	"footnote/chat"
	"footnote/server/modelchoice"
)

func modelOperations() []Operation {
	return []Operation{
		{
			Method: "GET", Path: "/model", group: "Service", summary: "Find models that could answer",
			about: "Which one answers, what servers of models on this machine have (Ollama, LM Studio, llama.cpp, " +
				"vLLM, Jan, LocalAI; they are looked for within 300 ms), and which services answer with a key. Who " +
				"can't choose gets the reason instead.",
			outcomes: []outcome{{status: http.StatusOK, about: "What was found.", body: modelchoice.Found{}}},
		},
		{
			Method: "PUT", Path: "/model", group: "Service", summary: "Choose the model that answers",
			about: "It is asked for one short reply first, which takes up to 30 s; if it fails, nothing changes. The " +
				"choice counts for the next question and is kept in the settings file. Only the local user, or one " +
				"that FOOTNOTE_OPERATORS names, may choose.",
			body: modelchoice.Choice{}, example: map[string]any{"port": 11434, "model": "qwen3:8b"},
			fails:    append([]chat.Code{chat.CodeForbidden}, bodyFails...),
			outcomes: []outcome{{status: http.StatusOK, about: "It answers from now on.", body: modelchoice.Tried{}}},
		},
	}
}

// modelFields says of the fields of package models what their names don't.
var modelFields = map[string]field{
	"ModelChoice.port": {
		about: "Where a server of models listens on this machine: one of those that GET /model looks at. 0: none, a " +
			"service is meant.", Min: to(0), Max: to(65_535),
	},
	"ModelChoice.service":  {about: `One of those that GET /model lists; "offline": none, rules answer.`, Max: to(20)},
	"ModelChoice.model":    {about: "Its name there; empty: the service's usual one.", Max: to(200)},
	"ModelChoice.key":      {about: "The service's key. No answer ever holds it.", Max: to(400)},
	"ModelTried.model":     {about: "The model that answers from now on."},
	"ModelTried.tools":     {about: "It calls tools; else rules search for it."},
	"ModelTried.took_ms":   {about: "How long its reply took."},
	"ModelFound.answering": {about: `The model of questions that name none; "offline": rules.`},
	"ModelFound.servers":   {about: "The servers of models that were found on this machine."},
	"ModelFound.services":  {about: "The services that answer with a key."},
	"ModelFound.trouble":   {about: "Why the model that answers can't be used now; empty: it may."},
	"ModelFound.locked":    {about: "Why the user can't choose; empty: they can."},
	"ModelServer.program":  {about: "What usually listens at its port."},
	"ModelServer.port":     {about: "Where it listens."},
	"ModelServer.models":   {about: "What it has."},
	"ModelModel.name":      {about: "Its name at the server."},
	"ModelModel.size":      {about: "Its parameters, like 8.2B."},
	"ModelModel.bytes":     {about: "Of its file."},
	"ModelModel.context":   {about: "Tokens that it can read at once."},
	"ModelModel.tools":     {about: "It can call tools; left out: the server does not say."},
	"ModelModel.loaded":    {about: "It is in memory."},
	"ModelModel.answering": {about: "It is the one that answers."},
	"ModelModel.suggested": {about: "Of all that were found the one that suits best."},
	"ModelService.service": {about: "For the choice."},
	"ModelService.name":    {about: "For people."},
	"ModelService.model":   {about: "The one that is taken when none is named."},
}
