package openapi

import (
	"net/http"
	"slices"

	"footnote/chat"
	"footnote/server/api"
	"footnote/server/httpio"
)

// FeedAddress is the answer of POST /standing/feed.
type FeedAddress struct {
	URL string `json:"url"`
}

// standingOperations describe questions that are asked again when documents change.
func standingOperations() []Operation {
	missing := []chat.Code{chat.CodeNotFound}
	one := []parameter{{in: "path", name: "id", need: true, schema: textSchema(), about: "The kept question's id."}}
	kept := []outcome{{status: http.StatusOK, about: "The question.", body: api.KeptQuestion{}}}
	pageForm := outcome{status: http.StatusSeeOther, about: "The page of kept questions, for a form."}
	return []Operation{
		{
			Method: "GET", Path: "/standing", group: "Kept questions", summary: "List kept questions",
			about:    "Newest first, each with what changed.",
			outcomes: []outcome{{status: http.StatusOK, about: "The questions.", body: api.KeptList{}}},
		},
		{
			Method: "POST", Path: "/standing", group: "Kept questions", summary: "Keep a question",
			about: "That of a run that was answered, or one that was not asked yet. It is asked again when a " +
				"document " +
				"that its answer rests on has a new version or is deleted, or new passages come among the best for " +
				"it: " +
				"once for many changes at a time, at most 6 times in an hour, and when no other question of the user " +
				"is being answered.",
			body: api.NewStanding{}, example: map[string]any{"question": "How long is the notice period?"},
			form: []parameter{{
				name: "run_id", need: true, schema: textSchema(), about: "The run whose question is kept.",
			}},
			formKind: httpio.TypeForm,
			fails: slices.Concat(bodyFails, []chat.Code{
				chat.CodeNotFound, chat.CodeConflict, chat.CodeTooMany, chat.CodeDiskFull,
			}),
			outcomes: []outcome{{status: http.StatusCreated, about: "It is kept.", body: api.KeptQuestion{}}, pageForm},
		},
		{
			Method: "GET", Path: "/standing/:id", group: "Kept questions", summary: "Get a kept question", params: one,
			fails: missing, outcomes: kept,
		},
		{
			Method: "PATCH", Path: "/standing/:id", group: "Kept questions",
			summary: "Pause or resume a kept question, or note that its changes were seen",
			params:  one, body: api.StandingChange{}, example: map[string]any{"paused": true},
			fails: slices.Concat(bodyFails, missing), outcomes: kept,
		},
		{
			Method: "DELETE", Path: "/standing/:id", group: "Kept questions", summary: "Keep a question no longer",
			params: one, fails: missing, outcomes: []outcome{{status: http.StatusNoContent, about: "Done."}},
		},
		{
			Method: "POST", Path: "/standing/:id/ask", group: "Kept questions", summary: "Ask a kept question now",
			params: one, fails: []chat.Code{chat.CodeNotFound, chat.CodeConflict, chat.CodeTooMany},
			outcomes: []outcome{
				{status: http.StatusAccepted, about: "It is asked as soon as it can be.", body: api.KeptQuestion{}},
				pageForm,
			},
		},
		{
			Method: "POST", Path: "/standing/feed", group: "Kept questions", summary: "Make the address of a feed",
			about: "In the place of the one before. Whoever knows the address can read the changes of the user; only " +
				"its hash is kept.",
			outcomes: []outcome{
				{status: http.StatusOK, about: "The address, this once.", body: FeedAddress{}},
				{status: http.StatusOK, about: "The page with it, for a form.", kind: httpio.TypeHTML},
			},
		},
		{
			Method: "DELETE", Path: "/standing/feed", group: "Kept questions", summary: "Take the feed's address back",
			outcomes: []outcome{{status: http.StatusNoContent, about: "No address shows the changes."}},
		},
		{
			Method: "GET", Path: "/standing/feed/:token", group: "Kept questions",
			summary: "Read the changes as a feed",
			about:   "Atom, the last 50 changes. No key is needed: the address names the user.",
			params: []parameter{{
				in: "path", name: "token", need: true, schema: textSchema(), about: "The end of the feed's address.",
			}},
			fails: missing,
			outcomes: []outcome{
				{status: http.StatusOK, about: "The feed.", kind: "application/atom+xml"},
				{status: http.StatusNotModified, about: "As If-None-Match says it is."},
			},
		},
	}
}
