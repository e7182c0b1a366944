package openapi

import (
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/export"
	"github.com/footnote/footnote/server/httpio"
)

// A conversation has two addresses that grew apart: /agent/session/{id} reads and exports it, /sessions/{id} changes
// it, and both delete it.
func conversationRoutes() []Operation {
	return []Operation{
		route("GET /agent/session/:id/export", "Get a conversation's answers as a file").
			says(`The branch that is shown, its 200 newest answers at most. Footnotes are numbered through. bib, csl
			and ris are the sources of all answers, each once.`).
			with(query("format", oneOrNone("md", "html", "docx", "bib", "csl", "ris"),
				"Which kind of file; md without it.")).
			fails(chat.CodeConflict).
			sends("The file, by its format.", "text/markdown").
			sends("The file, by its format.", httpio.TypeHTML).
			also(filesOf(export.MediaTypes, "The file, by its format.", "docx", "bib", "csl", "ris")...),
		route("GET /sessions/:id/queue", "List the questions that wait").
			gives("In the order in which they will be sent.", api.WaitingList{}),
		route("POST /sessions/:id/queue", "Let a question wait until the run under way is over").
			says(`The server sends it then, whoever looks; at once if nothing is under way. At most 10 wait. A repeat
			with the same Idempotency-Key gets the question that waits, or its run's id once it was sent, whatever
			became of its documents.`).
			takes(ask.Question{}, `{"message":"And the walls?"}`).
			posts(needed("message", patterned(notBlank), "The question.")).
			with(onceParam).
			fails(chat.CodeConflict, chat.CodeKeyReused).
			ends(http.StatusAccepted, "It waits, or was sent.", api.WaitingQuestion{}).
			also(forThePage...),
		route("PATCH /sessions/:id/queue/:item", "Change a waiting question").
			takes(api.OtherWords{}, `{"message":"And the cellar walls?"}`).
			empty("Done.").
			also(forThePage...),
		route("DELETE /sessions/:id/queue/:item", "Remove a waiting question").
			empty("Done.").
			also(forThePage...),
		route("POST /sessions/:id/queue/:item/send", "Send a waiting question now").
			says("It goes first, and the run under way ends: cancelled, or with an answer from what it has.").
			takes(api.SendNow{}, `{"finish":"answer_now"}`).
			fails(chat.CodeConflict).
			empty("Done.").
			also(forThePage...),
		route("GET /agent/session/:id", "Get a conversation's last 50 messages").
			with(query("tools", oneOf("false", "true"), "true: with the rules that models are told as the "+
				"first message, and with the calls of tools and what they gave between question and answer.")).
			gives("The messages of the branch that is shown, oldest first.", api.SessionHistory{}),
		route("DELETE /agent/session/:id", "Delete a conversation").
			says("It is gone at once and can be brought back for a minute.").
			empty("Done."),
		route("GET /sessions", "List conversations, latest first").
			with(pageParams("Part of a title or question.", "")...).
			gives("One page of them.", api.SessionList{}),
		route("PATCH /sessions/:id", "Rename a conversation").
			takes(api.SessionTitle{}, `{"title":"The roof"}`).
			empty("Done."),
		route("DELETE /sessions/:id", "Delete a conversation").
			says("The same as DELETE /agent/session/{id}.").
			empty("Done."),
		route("POST /sessions/:id/restore", "Bring back a conversation that was just deleted").
			empty("Done."),
		route("POST /sessions/:id/head", "Show another branch of a conversation").
			takes(api.SessionHead{}, `{"run_id":"0193e4a0-0000-7000-8000-000000000000"}`).
			empty("Done."),
	}
}
