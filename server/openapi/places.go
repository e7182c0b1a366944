package openapi

import (
	"net/http"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"footnote/chat"
	"footnote/places/placestore"
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

var schedules = []string{
	string(
		placestore.OnRequest,
	), string(placestore.EveryHour), string(placestore.EveryDay), string(placestore.EveryWeek),
}

// placeFields says of the fields of places what their names don't.
var placeFields = map[string]field{
	"NewPlace.kind": {about: "One of GET /places/kinds.", need: true, Min: to(1), Max: to(100)},
	"NewPlace.name": {
		about: "The folder of its documents in the library; one is made if it is empty.",
		Max:   to(placestore.MaxNameLen),
	},
	"NewPlace.namespace": {about: `That of its documents; "default" if empty.`, pattern: namespaceForm, Max: to(128)},
	"NewPlace.settings":  {about: "By the names of the kind's fields, secrets too."},
	"NewPlace.schedule":  {about: "When it is looked at by itself.", values: schedules, initial: "day"},
	"PlaceChange.name": {
		about: "The folder of documents that are added from now on.", Min: to(1), Max: to(placestore.MaxNameLen),
	},
	"PlaceChange.schedule": {about: "When it is looked at by itself.", values: schedules},
	"PlaceChange.paused":   {about: "Whether it is not looked at."},
	"PlaceChange.settings": {about: "Those that change, by the names of the kind's fields."},

	"FollowedPlace.settings":     {about: "Without its secrets."},
	"FollowedPlace.secrets":      {about: "The settings that are kept as secrets. No answer holds them."},
	"FollowedPlace.schedule":     {about: "When it is looked at by itself."},
	"FollowedPlace.state":        {about: "waiting, looking, idle, failed, paused or removing."},
	"FollowedPlace.looked_at":    {about: "When the last look ended."},
	"FollowedPlace.succeeded_at": {about: "When the last look that went well ended."},
	"FollowedPlace.next_at":      {about: "When it is looked at next; left out: on request."},
	"FollowedPlace.failure":      {about: "Why the last look failed. The place is tried again by itself."},
	"FollowedPlace.note":         {about: "What else there is to know of the last look."},
	"FollowedPlace.items":        {about: "What the place has."},
	"FollowedPlace.refused":      {about: "Those that can't be documents."},
	"FollowedPlace.waiting":      {about: "Those that are yet to be fetched."},
	"FollowedPlace.last_look":    {about: "What the last look changed in the library."},
	"PlaceKinds.kinds":           {about: "In the order in which the page offers them."},
	"PlaceList.places":           {about: "Those of the user."},
	"PlaceKind.fields":           {about: "Its settings."},
	"PlaceKind.help":             {about: "What is read, and what that needs."},
	"PlaceField.help":            {about: "More about it."},
	"PlaceField.required":        {about: "It can't be left out."},
	"FollowedPlace.kind":         {about: "One of GET /places/kinds."},
	"PlaceReport.added":          {about: "New documents."},
	"PlaceReport.changed":        {about: "Documents with a new version."},
	"PlaceReport.removed":        {about: "Documents whose items are gone."},
	"PlaceItems.items":           {about: "Some of them, by key."},
	"PlaceReport.documents":      {about: "The first of these documents."},
	"PlaceDocument.what":         {about: "added, changed or removed."},
	"PlaceKind.name":             {about: "For kind of POST /places."},
	"PlaceField.name":            {about: "For settings of POST /places."},
	"PlaceField.example":         {about: "How a value looks."},
	"PlaceField.secret":          {about: "It is kept apart and never shown."},
	"PlaceField.lines":           {about: "It has several lines."},
	"PlaceItem.key":              {about: "What names it in its place."},
	"PlaceItem.link":             {about: "Where people open it."},
	"PlaceItem.refused":          {about: "Why it is not in the library, or not as it is now."},
}

// choiceSchema is a text that is one of some.
func choiceSchema(values ...any) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: values}
}
