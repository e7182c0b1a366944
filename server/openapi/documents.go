package openapi

import (
	"net/http"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"footnote/chat"
	"footnote/corpus/extract"
	"footnote/server/api"
	"footnote/server/httpio"
	"footnote/server/mcpserver"

	v1 "footnote/server/v1"
)

func documentOperations() []Operation {
	missing := []chat.Code{chat.CodeNotFound}
	taken := []outcome{
		{status: http.StatusAccepted, about: "What was taken, and what was not.", body: api.Uploaded{}},
		{status: http.StatusSeeOther, about: "The page of documents, for a form."},
	}
	refused := taken
	for _, status := range []int{
		http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
		http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
		http.StatusInsufficientStorage,
	} {
		refused = append(refused, outcome{
			status: status, about: "Nothing was taken; each is in rejected with its reason.", body: api.Uploaded{},
		})
	}
	refused = append(refused, outcome{
		status: http.StatusOK, about: "For a form: the page of files that were not taken, beside others that were.",
		kind: httpio.TypeHTML,
	})
	changed := []outcome{
		{status: http.StatusOK, about: "The document.", body: api.DocumentInfo{}},
		{status: http.StatusSeeOther, about: "The page of documents, for a form."},
	}
	busy := []chat.Code{chat.CodeNotFound, chat.CodeConflict}
	one := []parameter{documentParam}
	return []Operation{
		{
			Method: "POST", Path: "/documents", group: "Documents", summary: "Add files, or a page of the web",
			about: "Each file is taken or listed with the reason why not; the others go on. When none is taken, the " +
				"status is that of the reason, the highest one if there are several. Ask at once: a document counts " +
				"as soon as it is ready. namespace and meta come before the files they are meant for. A request that " +
				"is refused leaves no new document behind. A file whose bytes are there already is that document " +
				"(duplicate_of), which takes over the meta if meta is given. JSON names a page of the web, which is " +
				"fetched once: it becomes a document whose meta.source_url is its address, and a page that was added " +
				"before becomes another version of its document.",
			body: api.NewPage{}, example: map[string]any{"url": "https://example.org/terms"},
			form: []parameter{
				{name: "namespace", schema: patterned(
					`^[\w.-]{0,128}$`,
				), about: `Where to put the files; "default" if empty.`},
				{
					name: "meta", schema: textSchema(),
					about: "A JSON object about the files: author, date, tags and so on.",
				},
				{name: "files", need: true, schema: &jsonschema.Schema{
					Type: "array", MinItems: wholeNumber(to(1)),
					Items: &jsonschema.Schema{Type: "string", Format: "binary"},
				}, about: "The files: " + extract.Formats.Labels("or") + "."},
			},
			formKind: httpio.TypeMultipart,
			fails:    slices.Concat(bodyFails, []chat.Code{chat.CodeTooMany, chat.CodeDiskFull}), outcomes: refused,
		},
		{
			Method: "POST", Path: "/documents/samples", group: "Documents", summary: "Add the sample documents",
			about: "Once: what is there already stays.",
			fails: []chat.Code{chat.CodeNotFound, chat.CodeTooMany, chat.CodeDiskFull}, outcomes: taken,
		},
		{
			Method: "GET", Path: "/documents", group: "Documents", summary: "List documents",
			params: append([]parameter{
				{in: "query", name: "namespace", schema: textOf(128), about: "Only of this namespace."},
				{in: "query", name: "state", schema: patterned(
					`^(?:(?:queued|parsing|indexing|ready|failed|cancelled)?(?:,|$))*$`,
				),
					about: "Only in these states, separated by commas: queued, parsing, indexing, ready, failed, " +
						"cancelled."},
				{in: "query", name: "sort", schema: oneOrNone("newest", "oldest", "title"), about: "The order."},
			}, pageParams("Part of a title or file name.", 1000, "50")...),
			fails:    []chat.Code{chat.CodeInvalid},
			outcomes: []outcome{{status: http.StatusOK, about: "One page of them.", body: api.DocumentList{}}},
		},
		{
			Method: "GET", Path: "/documents/:id", group: "Documents", summary: "Get a document's state", params: one,
			fails:    missing,
			outcomes: []outcome{{status: http.StatusOK, about: "The document.", body: api.DocumentInfo{}}},
		},
		{
			Method: "DELETE", Path: "/documents/:id", group: "Documents", summary: "Delete a document",
			about:  "It is gone at once and can be brought back for a minute.",
			params: one, fails: missing, outcomes: []outcome{{status: http.StatusNoContent, about: "Done."}},
		},
		{
			Method: "GET", Path: "/documents/:id/text", group: "Documents", summary: "Get a document's text",
			about:  "The one text that all offsets count in, as characters from 0.",
			params: one, fails: []chat.Code{chat.CodeNotFound, chat.CodeConflict},
			outcomes: []outcome{{status: http.StatusOK, about: "The text.", kind: "text/plain"}},
		},
		{
			Method: "GET", Path: "/documents/:id/file", group: "Documents", summary: "Get the file itself",
			about: "Always as an attachment.", params: one, fails: missing,
			outcomes: []outcome{
				{status: http.StatusOK, about: "The file.", kind: "*/*"},
				{status: http.StatusPartialContent, about: "The part that was asked for.", kind: "*/*"},
				{status: http.StatusNotModified, about: "It is what the reader has."},
				{status: http.StatusPreconditionFailed, about: "It changed."},
				{status: http.StatusRequestedRangeNotSatisfiable, about: "It has no such part.", kind: "text/plain"},
			},
		},
		{
			Method: "GET", Path: "/documents/:id/events", group: "Documents", summary: "Follow a document", params: one,
			about: "A document event with the document at each change, and document_done, the last, when it is " +
				"ready, failed or cancelled.",
			fails:    []chat.Code{chat.CodeNotFound, chat.CodeTooMany},
			outcomes: []outcome{{status: http.StatusOK, about: "The events.", kind: eventsKind}},
		},
		{
			Method: "GET", Path: "/documents/:id/pages/:page", group: "Documents", summary: "Get a page as a picture",
			params: []parameter{
				documentParam, {
					in: "path", name: "page", need: true, schema: patterned(`^[1-9][0-9]{0,5}\.png$`),
					about: "1.png, 2.png and so on.",
				},
				{in: "query", name: "width", schema: wholeSchema(
					100, api.MaxPageWidth, "1000",
				), about: "How wide, in pixels."},
				{in: "query", name: "dpr", schema: &jsonschema.Schema{
					Type: "number", Minimum: to(0.5), Maximum: to(4),
				}, about: "Pixels of the screen to one of width."},
				{
					in: "query", name: "v", schema: textSchema(),
					about: "The beginning of the document's sha256: the picture may then be kept for good.",
				},
			},
			about: "Pages are those of a PDF or a picture and, with FOOTNOTE_OFFICE_PAGES, those of an Office " +
				"file as it is printed, which takes seconds the first time. A page that takes too much time or " +
				"memory to draw is undrawable. It is not tried again for some minutes, but for a picture of at " +
				"most half the width.",
			fails: []chat.Code{
				chat.CodeInvalid, chat.CodeNotFound, chat.CodeConflict, chat.CodeUndrawable, chat.CodeUnavailable,
			},
			outcomes: []outcome{{status: http.StatusOK, about: "The picture.", kind: "image/png"}, {
				status: http.StatusNotModified, about: "It is what the reader has.",
			}},
		},
		{
			Method: "POST", Path: "/documents/:id/cancel", group: "Documents", summary: "Stop the work on a document",
			params: one, fails: busy, outcomes: changed,
		},
		{
			Method: "POST", Path: "/documents/:id/retry", group: "Documents", summary: "Try a document again",
			about: "One that failed or was stopped, one whose vectors failed, or one with pages that are pictures " +
				"and unread (meta.unread).", params: one, fails: busy,
			outcomes: changed,
		},
		{
			Method: "POST", Path: "/documents/:id/restore", group: "Documents",
			summary: "Bring back a document that was just deleted", params: one, fails: busy, outcomes: changed,
		},
		{
			Method: "GET", Path: "/watched", group: "Documents", summary: "List the folders that programs follow",
			about: "Each with the files that it leaves out, and why: what footnote watch, or the setting watch, told " +
				"of it. A folder that was not looked at for a week is gone.",
			outcomes: []outcome{{status: http.StatusOK, about: "The folders, by path.", body: api.WatchedList{}}},
		},
		{
			Method: "PUT", Path: "/watched", group: "Documents", summary: "Tell of a folder that is followed",
			about: "In the place of what was told of that folder in that namespace. The documents page shows it.",
			body:  api.WatchedFolder{}, fails: bodyFails,
			example: map[string]any{"folder": "/home/ada/papers", "files": 120, "left_out": []any{
				map[string]any{"path": "films/roof.mov", "reason": "Files that end with .mov can't be read."},
			}, "more": 0},
			outcomes: []outcome{{status: http.StatusNoContent, about: "Done."}},
		},
	}
}

func v1Operations() []Operation {
	return []Operation{
		{
			Method: "POST", Path: "/v1/chat/completions", group: "OpenAI-compatible", summary: "Ask as one asks OpenAI",
			about: "Footnotes are in the content as [N] and as annotations of type url_citation, whose indexes count " +
				"characters. While a run works, a stream has what it does as reasoning_content. " +
				"All fields that OpenAI's API has are taken, and what has no effect says so; they are refused only " +
				"where " +
				"the answer would be another one than the client takes it for. Further fields are let in and have no " +
				"effect. Rules in system messages are not followed, since answers come from the documents alone.",
			body: v1.Question{}, open: true, params: []parameter{onceParam},
			fails: slices.Concat(waitFails, []chat.Code{chat.CodeGuardrail}),
			example: map[string]any{"model": v1.ModelName, "messages": []any{
				map[string]any{"role": "user", "content": "When was the roof last repaired?"},
			}},
			outcomes: []outcome{
				{status: http.StatusOK, about: "The answer.", body: v1.Completion{}},
				{
					status: http.StatusOK,
					about: "With stream: chunks (V1Chunk) as server-sent events, ended by [DONE]; a failure comes " +
						"as {error}.",
					kind: eventsKind,
				},
			},
		},
		{
			Method: "GET", Path: "/v1/models", group: "OpenAI-compatible", summary: "List the models",
			outcomes: []outcome{{status: http.StatusOK, about: "There is one: footnote.", body: v1.ModelList{}}},
		},
		{
			Method: "GET", Path: "/v1/models/:model", group: "OpenAI-compatible", summary: "Get a model",
			fails: []chat.Code{chat.CodeNotFound},
			params: []parameter{
				{in: "path", name: "model", need: true, schema: textSchema(), about: "The model's name: footnote."},
			},
			outcomes: []outcome{{status: http.StatusOK, about: "The model.", body: v1.ModelInfo{}}},
		},
	}
}

func serviceOperations() []Operation {
	return []Operation{
		{
			Method: "POST", Path: "/mcp", group: "Service",
			summary: "Use search, fetch, read, list_documents and ask as tools of the Model Context Protocol",
			about: "For programs that bring their own model: streamable HTTP, without sessions. The protocol " +
				"describes its messages; tools/list describes the tools.",
			body: mcpserver.Message{}, open: true,
			example: map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": map[string]any{}},
			fails:   bodyFails,
			outcomes: []outcome{
				{
					status: http.StatusOK, about: "The answer to the message, its error included.",
					body: map[string]any{},
				},
				{
					status: http.StatusOK, about: "The same with what is told before it, as server-sent events.",
					kind: eventsKind,
				},
				{status: http.StatusAccepted, about: "A notification was taken."},
				{
					status: http.StatusBadRequest, about: "As the protocol words it, if the message has an id.",
					body: map[string]any{},
				},
				{
					status: http.StatusNotFound,
					about:  "There is no such method, in the protocol's version of July 2026 and later.",
					body:   map[string]any{},
				},
			},
		},
		{
			Method: "GET", Path: "/health", group: "Service", summary: "Ask whether everything works",
			about: "Each thing that the server depends on is asked; of the database, whether a question can be " +
				"stored. A model or a vector store that is down only degrades: search by words still works. So do a " +
				"reranker, the web search and a server of tools.",
			outcomes: []outcome{
				{status: http.StatusOK, about: "It serves: ok or degraded.", body: api.HealthReport{}},
				{status: http.StatusServiceUnavailable, about: "It can't serve: down.", body: api.HealthReport{}},
			},
		},
		{
			Method: "GET", Path: "/readyz", group: "Service", summary: "Ask whether new work should come here",
			outcomes: []outcome{
				{status: http.StatusOK, about: "It should.", body: api.Readiness{}},
				{status: http.StatusServiceUnavailable, about: "The server shuts down.", body: api.Readiness{}},
			},
		},
		{
			Method: "GET", Path: "/metrics", group: "Service", summary: "Get figures for Prometheus",
			outcomes: []outcome{
				{status: http.StatusOK, about: "Every name begins with footnote_.", kind: "text/plain"},
			},
		},
		{
			Method: "GET", Path: "/openapi.json", group: "Service", summary: "Get this description for programs",
			outcomes: []outcome{{status: http.StatusOK, about: "OpenAPI 3.1.", body: map[string]any{}}},
		},
		{
			Method: "GET", Path: "/docs", group: "Service", summary: "Read this description",
			outcomes: []outcome{{status: http.StatusOK, about: "A page.", kind: "text/html"}},
		},
	}
}
