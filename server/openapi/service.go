package openapi

import (
	"net/http"

	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/mcpserver"
	"github.com/footnote/footnote/server/modelchoice"
)

// GET /health and GET /readyz need no key, for monitoring; the others need one when keys are used.
func serviceRoutes() []Operation {
	return []Operation{
		route("GET /model", "Find models that could answer").
			says(`Which one answers, what servers of models on this machine have (Ollama, LM Studio, llama.cpp, vLLM,
			Jan, LocalAI; they are looked for within 300 ms), and which services answer with a key. Who can't choose
			gets the reason instead.`).
			gives("What was found.", modelchoice.Found{}),
		route("PUT /model", "Choose the model that answers").
			says(`It is asked for one short reply first, which takes up to 30 s; if it fails, nothing changes. The
			choice counts for the next question and is kept in the settings file. Only the local user, or one that
			FOOTNOTE_OPERATORS names, may choose.`).
			takes(modelchoice.Choice{}, `{"model":"qwen3:8b","port":11434}`).
			gives("It answers from now on.", modelchoice.Tried{}).
			redirects("The page of models, for a form."),
		// The protocol describes itself in the response of tools/list, so only its envelope is described.
		route("POST /mcp", "Use search, fetch, read, list_documents and ask as tools of the Model Context Protocol").
			says(`For programs that bring their own model: streamable HTTP, without sessions. The protocol describes
			its messages; tools/list describes the tools.`).
			takesOpen(mcpserver.Message{}, `{"id":1,"jsonrpc":"2.0","method":"tools/list","params":{}}`).
			gives("The answer to the message, its error included.", map[string]any{}).
			streams("The same with what is told before it, as server-sent events.").
			ends(http.StatusAccepted, "A notification was taken.", nil).
			ends(http.StatusBadRequest, "As the protocol words it, if the message has an id.", map[string]any{}).
			ends(http.StatusNotFound, "There is no such method, in the protocol's version of July 2026 and later.",
				map[string]any{}),
		route("GET /health", "Ask whether everything works").
			says(`Each thing that the server depends on is asked; of the database, whether a question can be stored. A
			model or a vector store that is down only degrades: search by words still works. So do a reranker, the web
			search and a server of tools.`).
			gives("It serves: ok or degraded.", api.HealthReport{}).
			ends(http.StatusServiceUnavailable, "It can't serve: down.", api.HealthReport{}),
		route("GET /readyz", "Ask whether new work should come here").
			gives("It should.", api.Readiness{}).
			ends(http.StatusServiceUnavailable, "The server shuts down.", api.Readiness{}),
		route("GET /metrics", "Get figures for Prometheus").
			sends("Every name begins with footnote_.", httpio.TypeText),
		route("GET /openapi.json", "Get this description for programs").
			gives("OpenAPI 3.1.", map[string]any{}),
		route("GET /docs", "Read this description").
			sends("A page.", httpio.TypeHTML),
	}
}
