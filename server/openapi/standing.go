package openapi

import (
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio"
)

// FeedAddress is the response of POST /standing/feed.
//
// The page's handler has an identical type of its own.
type FeedAddress struct {
	URL string `json:"url"`
}

// Only GET /standing/feed/{token} needs no key: feed readers can't send one.
func standingRoutes() []Operation {
	return []Operation{
		route("GET /standing", "List kept questions").
			says("Newest first, each with what changed.").
			gives("The questions.", api.KeptList{}),
		route("POST /standing", "Keep a question").
			says(`That of a run that was answered, or one that was not asked yet. It is asked again when a document
			that its answer rests on has a new version or is deleted, or new passages come among the best for it: once
			for many changes at a time, at most 6 times in an hour, and when no other question of the user is being
			answered.`).
			takes(api.NewStanding{}, `{"question":"How long is the notice period?"}`).
			posts(needed("run_id", textSchema(), "The run whose question is kept.")).
			fails(chat.CodeNotFound, chat.CodeConflict, chat.CodeTooMany, chat.CodeDiskFull).
			ends(http.StatusCreated, "It is kept.", api.KeptQuestion{}).
			redirects(keptPage),
		route("GET /standing/:id", "Get a kept question").
			gives("The question.", api.KeptQuestion{}),
		route("PATCH /standing/:id", "Pause or resume a kept question, or note that its changes were seen").
			takes(api.StandingChange{}, `{"paused":true}`).
			gives("The question.", api.KeptQuestion{}).
			redirects(keptPage),
		route("DELETE /standing/:id", "Keep a question no longer").
			empty("Done.").
			redirects(keptPage),
		route("POST /standing/:id/ask", "Ask a kept question now").
			fails(chat.CodeConflict, chat.CodeTooMany).
			ends(http.StatusAccepted, "It is asked as soon as it can be.", api.KeptQuestion{}).
			redirects(keptPage),
		route("POST /standing/feed", "Make the address of a feed").
			says(`In the place of the one before. Whoever knows the address can read the changes of the user; only its
			hash is kept.`).
			gives("The address, this once.", FeedAddress{}).
			sends("The page with it, for a form.", httpio.TypeHTML),
		route("DELETE /standing/feed", "Take the feed's address back").
			empty("No address shows the changes.").
			redirects(keptPage),
		route("GET /standing/feed/:token", "Read the changes as a feed").
			says("Atom, the last 50 changes. No key is needed: the address names the user.").
			sends("The feed.", "application/atom+xml").
			ends(http.StatusNotModified, "As If-None-Match says it is.", nil),
		route("GET /standing/webhook", "Get the address that changes are sent to").
			says(`Also when it last took a message, why it last did not, how many changes wait, and how many were
			given up. The secret is not shown.`).
			fails(chat.CodeNotFound).
			gives("The webhook, and how it does.", api.WebhookState{}),
		route("PUT /standing/webhook", "Have changes sent to an address").
			says(`One address for each user, in the place of the one before, with a new secret, which is shown this
			once. Each change is sent as a POST of JSON, signed as the Standard Webhooks specification says
			(webhook-id, webhook-timestamp, webhook-signature). What is not taken with a status of 200 to 299 within
			10 s is sent again after 1 min, 5 min, 30 min, 2 h and 12 h. The first message says that the address was
			set.`).
			takes(api.NewWebhook{}, `{"url":"https://example.org/hook"}`).
			gives("The webhook, and how it does.", api.WebhookState{}),
		route("DELETE /standing/webhook", "Send no changes any more").
			empty("Done. What waited is not sent.").
			redirects(keptPage),
	}
}
