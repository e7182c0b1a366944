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
		route("GET /standing", "List monitored questions").
			says("Returns each question with its changes, newest first.").
			gives("The monitored questions.", api.KeptList{}),
		route("POST /standing", "Monitor a question").
			says(`Monitors the question of an answered run, or a new question. It reruns when a document cited by its
			answer has a new version or is deleted, or when new passages rank among the best for it. Changes are
			batched; it reruns at most 6 times per hour, and only while the user has no other active run.`).
			takes(api.NewStanding{}, `{"question":"How long is the notice period?"}`).
			posts(needed("run_id", textSchema(), "The run whose question to monitor.")).
			fails(chat.CodeNotFound, chat.CodeConflict, chat.CodeTooMany, chat.CodeDiskFull).
			ends(http.StatusCreated, "The question is monitored.", api.KeptQuestion{}).
			redirects(keptPage),
		route("GET /standing/:id", "Get a monitored question").
			gives("The monitored question.", api.KeptQuestion{}),
		route("PATCH /standing/:id", "Pause or resume a monitored question, or mark its changes as seen").
			takes(api.StandingChange{}, `{"paused":true}`).
			gives("The monitored question.", api.KeptQuestion{}).
			redirects(keptPage),
		route("DELETE /standing/:id", "Delete a monitored question").
			empty("The monitored question was deleted.").
			redirects(keptPage),
		route("POST /standing/:id/ask", "Run a monitored question now").
			fails(chat.CodeConflict, chat.CodeTooMany).
			ends(http.StatusAccepted, "The run is queued.", api.KeptQuestion{}).
			redirects(keptPage),
		route("POST /standing/feed", "Create a feed URL").
			says(`Replaces the previous URL. Anyone with the URL can read the user's changes; the server stores only its
			hash.`).
			gives("The feed URL, which is returned only once.", FeedAddress{}).
			sends("For a form: the page with the URL.", httpio.TypeHTML),
		route("DELETE /standing/feed", "Revoke the feed URL").
			empty("The feed URL was revoked.").
			redirects(keptPage),
		route("GET /standing/feed/:token", "Get changes as a feed").
			says("Returns the last 50 changes as an Atom feed. The token in the URL replaces the API key.").
			sends("The feed.", "application/atom+xml").
			ends(http.StatusNotModified, "The client's cached version is current.", nil),
		route("GET /standing/webhook", "Get the webhook").
			says(`Returns the webhook's URL, its last delivery and error, and the number of queued and undeliverable
			changes. The secret is not included.`).
			fails(chat.CodeNotFound).
			gives("The webhook and the state of its deliveries.", api.WebhookState{}),
		route("PUT /standing/webhook", "Set the webhook").
			says(`Each user has one webhook; a new one replaces it, with a new secret that is returned only once. Each
			change is delivered as a POST of JSON, signed by the Standard Webhooks specification (webhook-id,
			webhook-timestamp, webhook-signature). The receiver must respond with a status of 200 to 299 within 10 s.
			Failed deliveries are retried after 1 min, 5 min, 30 min, 2 h and 12 h. The first message confirms the
			URL.`).
			takes(api.NewWebhook{}, `{"url":"https://example.org/hook"}`).
			gives("The webhook and the state of its deliveries.", api.WebhookState{}),
		route("DELETE /standing/webhook", "Delete the webhook").
			empty("The webhook was deleted, with its queued changes.").
			redirects(keptPage),
	}
}
