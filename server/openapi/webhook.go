package openapi

import (
	"net/http"

	"footnote/chat"
	"footnote/server/api"
)

// webhookOperations describe the address that changes of kept questions are sent to.
func webhookOperations() []Operation {
	state := []outcome{{status: http.StatusOK, about: "The webhook, and how it does.", body: api.WebhookState{}}}
	return []Operation{
		{
			Method: "GET", Path: "/standing/webhook", group: "Kept questions",
			summary: "Get the address that changes are sent to",
			about: "Also when it last took a message, why it last did not, how many changes wait, and how many " +
				"were given up. The secret is not shown.",
			fails: []chat.Code{chat.CodeNotFound}, outcomes: state,
		},
		{
			Method: "PUT", Path: "/standing/webhook", group: "Kept questions",
			summary: "Have changes sent to an address",
			about: "One address for each user, in the place of the one before, with a new secret, which is shown " +
				"this once. Each change is sent as a POST of JSON, signed as the Standard Webhooks specification " +
				"says " +
				"(webhook-id, webhook-timestamp, webhook-signature). What is not taken with a status of 200 to 299 " +
				"within 10 s is sent again after 1 min, 5 min, 30 min, 2 h and 12 h. The first message says that the " +
				"address was set.",
			body: api.NewWebhook{}, example: map[string]any{"url": "https://example.org/hook"},
			fails: bodyFails, outcomes: state,
		},
		{
			Method: "DELETE", Path: "/standing/webhook", group: "Kept questions", summary: "Send no changes any more",
			outcomes: []outcome{{status: http.StatusNoContent, about: "Done. What waited is not sent."}},
		},
	}
}
