package openapi

import (
	"net/http"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"footnote/chat"
	"footnote/server/api"
)

func placeOperations() []Operation {
	placeParam := parameter{in: "path", name: "id", need: true, schema: textSchema(), about: "The place's id."}
	one, missing := []parameter{placeParam}, []chat.Code{chat.CodeNotFound}
	changed := slices.Concat(bodyFails, []chat.Code{chat.CodeNotFound, chat.CodeConflict})
	return []Operation{
		{
			Method: "GET", Path: "/places", group: "Documents", summary: "List places that are followed",
			about: "Web pages, servers of files, mail folders and so on: each with its state, when it was looked at, " +
				"and what that changed.",
			outcomes: []outcome{{status: http.StatusOK, about: "The places, by name.", body: api.PlaceList{}}},
		},
		{
			Method: "POST", Path: "/places", group: "Documents", summary: "Follow a place",
			about: "Its settings are those that GET /places/kinds lists. The place is reached with them first, which " +
				"takes up to a minute; if that fails, nothing is kept. Then it is looked at in the background.",
			body: api.NewPlace{}, example: map[string]any{
				"kind": "webpages", "settings": map[string]any{
					"urls": "https://example.org/terms\nhttps://example.org/prices",
				}, "schedule": "day",
			},
			fails: slices.Concat(bodyFails, []chat.Code{
				chat.CodeNotFound, chat.CodeConflict, chat.CodeTooMany, chat.CodeDiskFull,
			}),
			outcomes: []outcome{{status: http.StatusCreated, about: "It is followed.", body: api.FollowedPlace{}}},
		},
		{
			Method: "GET", Path: "/places/kinds", group: "Documents", summary: "List kinds of places",
			outcomes: []outcome{
				{status: http.StatusOK, about: "The kinds and their settings.", body: api.PlaceKinds{}},
			},
		},
		{
			Method: "GET", Path: "/places/:id", group: "Documents", summary: "Get a place",
			params: one, fails: missing,
			outcomes: []outcome{{status: http.StatusOK, about: "The place.", body: api.FollowedPlace{}}},
		},
		{
			Method: "PATCH", Path: "/places/:id", group: "Documents", summary: "Change, pause or resume a place",
			about: "What is left out stays, and so does a secret that is empty. Other settings are tried first.",
			body:  api.PlaceChange{}, example: map[string]any{"paused": true}, params: one, fails: changed,
			outcomes: []outcome{{status: http.StatusOK, about: "As it is now.", body: api.FollowedPlace{}}},
		},
		{
			Method: "DELETE", Path: "/places/:id", group: "Documents", summary: "Stop following a place",
			about: "In the background. Documents that the user added stay in any case.",
			params: []parameter{placeParam, {
				in: "query", name: "documents", schema: choiceSchema("keep", "delete"),
				about: "What becomes of the place's documents.",
			}},
			fails:    []chat.Code{chat.CodeInvalid, chat.CodeNotFound, chat.CodeConflict},
			outcomes: []outcome{{status: http.StatusNoContent, about: "It is not followed any more."}},
		},
		{
			Method: "POST", Path: "/places/:id/look", group: "Documents", summary: "Look at a place now",
			params: one, fails: []chat.Code{chat.CodeNotFound, chat.CodeConflict},
			outcomes: []outcome{{
				status: http.StatusAccepted, about: "It is looked at as soon as a worker is free.",
				body: api.FollowedPlace{},
			}},
		},
		{
			Method: "GET", Path: "/places/:id/items", group: "Documents", summary: "List what a place has",
			about: "Each item with its document, or why it has none.",
			params: []parameter{
				placeParam,
				{in: "query", name: "state", schema: choiceSchema("refused"), about: "Only those that were refused."},
				{in: "query", name: "limit", schema: wholeSchema(1, 1000, "100"), about: "How many at most."},
				{in: "query", name: "cursor", schema: textSchema(), about: "next of the page before."},
			},
			fails:    []chat.Code{chat.CodeInvalid, chat.CodeNotFound},
			outcomes: []outcome{{status: http.StatusOK, about: "The items, by key.", body: api.PlaceItems{}}},
		},
	}
}

// choiceSchema is a text that is one of some.
func choiceSchema(values ...any) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: values}
}
