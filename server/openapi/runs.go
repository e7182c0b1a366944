package openapi

import (
	"net/http"
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/export"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/server/shares"
)

// A run is its user's alone: to others it is not there (404), as if it had never been.
func runRoutes() []Operation {
	return []Operation{
		route("GET /agent/runs/:id", "Get everything about a run").
			says("Every step with its thought, input, output and time; the answer; what was used.").
			gives("The run as it stands.", runlog.Trace{}),
		// Its events are components of this document, named Event_ and the kind.
		route("GET /agent/runs/:id/events", "Follow a run").
			says(`Server-sent events named like the schemas Event_*, with their numbers as ids; run_done is the last.
			What was sent once is sent again byte for byte.`).
			with(afterParams...).
			fails(chat.CodeTooMany).
			streams("The events.").
			empty("The run is over and the reader has it all."),
		route("POST /agent/runs/:id/cancel", "Stop a run").
			fails(chat.CodeConflict).
			also(steered...),
		route("POST /agent/runs/:id/answer-now", "Make a run answer from what it has").
			fails(chat.CodeConflict).
			also(steered...),
		route("GET /agent/runs/:id/steps/:call/output", "Get a step's whole output").
			gives("What the tool gave.", map[string]any{}),
		route("POST /agent/runs/:id/steps/:call/approve", "Let a call that waits for approval run").
			says(`Without a body, or without an input in it, the call runs as the model asked for it; else it runs
			with the input, and the model is told.`).
			takes(api.Approval{}, `{"input":{"query":"slate roofs"}}`).
			fails(chat.CodeConflict).
			also(steered...),
		route("POST /agent/runs/:id/steps/:call/deny", "Keep a call that waits for approval from running").
			fails(chat.CodeConflict).
			also(steered...),
		route("POST /agent/runs/:id/steps/:call/rerun", "Go through a run again from a tool call with another input").
			says(`Makes a new version of the answer: the steps before the call come from the log, the call is made
			with the input given, which must fit the tool's schema, and the model goes on from there. Both versions
			are kept.`).
			takes(api.OtherInput{}, `{"input":{"query":"roof repair"}}`).
			posts(needed("input", textSchema(), "The input as JSON.")).
			with(onceParam).
			fails(chat.CodeConflict, chat.CodeKeyReused, chat.CodeTooMany, chat.CodeDiskFull).
			ends(http.StatusAccepted, "The new run is under way.", api.Accepted{}).
			gives("The same, for the page's script.", nil).
			redirects("The conversation's page, for a form."),
		route("POST /agent/runs/:id/feedback", "Say what an answer is worth").
			says("Takes the place of what the same user said before.").
			takes(api.Judgement{}, `{
				"rating": "down", "reason": "wrong_sources", "comment": "The survey of 2023 was meant."
			}`).
			posts(needed("rating", oneOf("up", "down", "none"), "none withdraws it."),
				formField("reason", textSchema(), "As in JSON."),
				formField("comment", textOf(chat.MaxComment), "As in JSON.")).
			fails(chat.CodeConflict).
			gives("As it is stored.", chat.Feedback{}).
			empty("Withdrawn by a form.").
			redirects("The conversation's page, for a form."),
		route("DELETE /agent/runs/:id/feedback", "Withdraw what was said of an answer").
			empty("There is none now."),
		route("GET /feedback", "List what was said of answers, last changed first").
			with(
				query("rating", oneOrNone("up", "down"), "Only these."), limitParam(""), cursorParam,
				query("format", oneOrNone("json", "csv", "jsonl"), "csv and jsonl give all of it as a file.")).
			gives("One page of it.", api.FeedbackList{}).
			sends("All of it as a file.", "text/csv").
			sends("All of it as a file.", "application/jsonl"),
		route("GET /agent/runs/:id/export", "Get an answer with all it rests on as a file").
			says(`json, md and html hold question, answer, quotes with their document's hash and place, and the steps;
			their data can be checked again with POST /evidence/verify or footnote verify. docx is a Word document
			whose footnotes are Word's own; bib, csl and ris are the sources for reference managers.`).
			with(query("format", oneOrNone("json", "md", "html", "docx", "bib", "csl", "ris"),
				"Which kind of file; json without it.")).
			fails(chat.CodeConflict).
			gives("The file.", chat.Evidence{}).
			sends("The file, by its format.", "text/markdown").
			sends("The file, by its format.", httpio.TypeHTML).
			also(filesOf(export.MediaTypes, "The file, by its format.", "docx", "bib", "csl", "ris")...),
		route("POST /evidence/verify", "Check an exported answer against the documents as they are now").
			says(`The body is the text of an exported file of any kind in the field file. An exported JSON file is
			taken as it is, too.`).
			takes(api.EvidenceFile{}, `{"file":`+strconv.Quote(EvidenceExample)+`}`).
			gives("What became of each quote.", chat.EvidenceReport{}),
		route("POST /agent/runs/:id/shares", "Make a link to an answer").
			says(`Whoever has the link reads the answer and its quotes, without a key: no document, no step. Its
			address is told once; the server keeps only a hash of it. It ends at its time, when it is ended, and with
			its conversation.`).
			takes(shares.ShareRequest{}, `{"days":7}`).
			fails(chat.CodeConflict, chat.CodeTooMany).
			ends(http.StatusCreated, "The link with its address.", shares.SharedLink{}),
		route("GET /shares", "List your links to answers, the latest first").
			gives("Those that are open, without their addresses.", shares.ShareList{}),
		route("DELETE /shares/:id", "End a link to an answer").
			empty("It opens nothing any more."),
	}
}

// EvidenceExample is the smallest file that can be checked.
// Besides the description, tests send it, so it must stay a file that is read.
const EvidenceExample = `{"format":"footnote-evidence/1",` +
	`"digest":"1876ac35de75e7d89ba938fddcd3b45dd8fc5db0b5314364649da0e0fe14a1bd",` +
	`"run_id":"0193e4a0-0000-7000-8000-000000000000","question":"Is the roof sound?","answer":"Yes.",` +
	`"model":"offline","status":"completed","asked_at":"2026-11-21T09:00:00Z","answered_at":"2026-11-21T09:00:00Z",` +
	`"citations":[],"unsupported":[],"steps":[]}`
