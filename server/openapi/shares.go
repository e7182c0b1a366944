package openapi

import (
	"net/http"

	"footnote/chat"
	"footnote/server/shares"
)

// shareOperations describe links to answers.
func shareOperations() []Operation {
	share := parameter{in: "path", name: "id", need: true, schema: textSchema(), about: "The link's id."}
	return []Operation{
		{
			Method: "POST", Path: "/agent/runs/:id/shares", group: "Runs", summary: "Make a link to an answer",
			about: "Whoever has the link reads the answer and its quotes, without a key: no document, no step. Its " +
				"address is told once; the server keeps only a hash of it. It ends at its time, when it is ended, " +
				"and with its conversation.",
			params: []parameter{runParam}, body: shares.ShareRequest{}, example: map[string]any{"days": 7},
			fails: append(bodyFails, chat.CodeNotFound, chat.CodeConflict, chat.CodeTooMany),
			outcomes: []outcome{{
				status: http.StatusCreated, about: "The link with its address.", body: shares.SharedLink{},
			}},
		},
		{
			Method: "GET", Path: "/shares", group: "Runs", summary: "List your links to answers, the latest first",
			outcomes: []outcome{{
				status: http.StatusOK, about: "Those that are open, without their addresses.", body: shares.ShareList{},
			}},
		},
		{
			Method: "DELETE", Path: "/shares/:id", group: "Runs", summary: "End a link to an answer",
			params: []parameter{share}, fails: []chat.Code{chat.CodeNotFound},
			outcomes: []outcome{{status: http.StatusNoContent, about: "It opens nothing any more."}},
		},
	}
}
