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
