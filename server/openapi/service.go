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
		route("GET /model", "List available models").
			says(`Returns the current model, the models of local model servers (Ollama, LM Studio, llama.cpp, vLLM, Jan,
			LocalAI; discovery takes up to 300 ms), and the model providers that need an API key. Users without
			permission get the reason instead.`).
			gives("The available models.", modelchoice.Found{}),
		route("PUT /model", "Set the default model").
			says(`The model is tested with a short request first, which takes up to 30 s; if the test fails, nothing
			changes. The model applies from the next question and is stored in the settings file. Requires the local
			user, or a user listed in FOOTNOTE_OPERATORS.`).
			takes(modelchoice.Choice{}, `{"model":"qwen3:8b","port":11434}`).
			gives("The model was set.", modelchoice.Tried{}).
			redirects("Redirects a form to the page of models."),
		// The protocol describes itself in the response of tools/list, so only its envelope is described.
		route("POST /mcp", "Call the MCP tools search, fetch, read, list_documents and ask").
			says(`An MCP server for clients with their own model, over streamable HTTP without sessions. The protocol
			specifies the messages; tools/list returns the schemas of the tools.`).
			takesOpen(mcpserver.Message{}, `{"id":1,"jsonrpc":"2.0","method":"tools/list","params":{}}`).
			gives("The response to the message, or its error.", map[string]any{}).
			streams("The notifications before the response, and the response, as server-sent events.").
			ends(http.StatusAccepted, "A notification was accepted.", nil).
			ends(http.StatusBadRequest, "An error of the protocol, if the message has an ID.", map[string]any{}).
			ends(http.StatusNotFound, "Unknown method, in protocol versions of July 2026 and later.",
				map[string]any{}),
		route("GET /health", "Check the server's health").
			says(`Checks each dependency; for the database, whether a question can be stored. If a model, vector store,
			reranker, web search or tool server is down, the status is degraded: keyword search still works.`).
			gives("The server is available: ok or degraded.", api.HealthReport{}).
			ends(http.StatusServiceUnavailable, "The server is unavailable: down.", api.HealthReport{}),
		route("GET /readyz", "Check whether the server accepts requests").
			gives("The server accepts requests.", api.Readiness{}).
			ends(http.StatusServiceUnavailable, "The server is shutting down.", api.Readiness{}),
		route("GET /metrics", "Get metrics for Prometheus").
			sends("The metrics. Their names begin with footnote_.", httpio.TypeText),
		route("GET /openapi.json", "Get the OpenAPI document of this API").
			gives("The OpenAPI 3.1 document.", map[string]any{}),
		route("GET /docs", "Get this API reference").
			sends("The API reference.", httpio.TypeHTML),
	}
}
