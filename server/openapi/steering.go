package openapi

import (
	"net/http"
	"slices"
	"strings"

	"footnote/chat"
	"footnote/export"
	"footnote/server/api"
	"footnote/server/ask"
	"footnote/server/httpio"
)

// steeringOperations describe feedback, exports, waiting questions and runs from a step.
func steeringOperations() []Operation {
	missing := []chat.Code{chat.CodeNotFound}
	broken := []chat.Code{chat.CodeInvalid, chat.CodeNotFound}
	changed := slices.Concat(bodyFails, []chat.Code{chat.CodeNotFound, chat.CodeConflict})
	item := parameter{in: "path", name: "item", need: true, schema: textSchema(), about: "The waiting question's id."}
	pageForm := outcome{status: http.StatusSeeOther, about: "The conversation's page, for a form."}
	pagePiece := outcome{status: http.StatusOK, about: "A piece of the page, for its script.", kind: httpio.TypeHTML}
	return []Operation{
		{
			Method: "POST", Path: "/agent/runs/:id/steps/:call/rerun", group: "Runs",
			summary: "Go through a run again from a tool call with another input",
			about: "Makes a new version of the answer: the steps before the call come from the log, the call is made " +
				"with the input given, which must fit the tool's " +
				"schema, and the model goes on from there. Both versions are kept.",
			params: []parameter{runParam, {
				in: "path", name: "call", need: true, schema: textSchema(), about: "The step's call_id.",
			}, onceParam},
			body: api.OtherInput{}, example: map[string]any{"input": map[string]any{"query": "roof repair"}},
			form:     []parameter{{name: "input", need: true, schema: textSchema(), about: "The input as JSON."}},
			formKind: httpio.TypeForm,
			fails:    slices.Concat(changed, []chat.Code{chat.CodeKeyReused, chat.CodeTooMany, chat.CodeDiskFull}),
			outcomes: []outcome{
				{status: http.StatusAccepted, about: "The new run is under way.", body: api.Accepted{}},
				{status: http.StatusOK, about: "The same, for the page's script."}, pageForm,
			},
		},
		{
			Method: "POST", Path: "/agent/runs/:id/feedback", group: "Runs", summary: "Say what an answer is worth",
			about:  "Takes the place of what the same user said before.",
			params: []parameter{runParam}, body: api.Judgement{}, example: map[string]any{
				"rating": "down", "reason": "wrong_sources", "comment": "The survey of 2023 was meant.",
			},
			form: []parameter{
				{name: "rating", need: true, schema: oneOf("up", "down", "none"), about: "none withdraws it."},
				{name: "reason", schema: textSchema(), about: "As in JSON."},
				{name: "comment", schema: textOf(chat.MaxComment), about: "As in JSON."},
			},
			formKind: httpio.TypeForm, fails: changed,
			outcomes: []outcome{{status: http.StatusOK, about: "As it is stored.", body: chat.Feedback{}}, {
				status: http.StatusNoContent, about: "Withdrawn by a form.",
			}, pageForm},
		},
		{
			Method: "DELETE", Path: "/agent/runs/:id/feedback", group: "Runs",
			summary: "Withdraw what was said of an answer", params: []parameter{runParam}, fails: missing,
			outcomes: []outcome{{status: http.StatusNoContent, about: "There is none now."}},
		},
		{
			Method: "GET", Path: "/feedback", group: "Runs",
			summary: "List what was said of answers, last changed first",
			params: []parameter{
				{in: "query", name: "rating", schema: oneOrNone("up", "down"), about: "Only these."},
				{in: "query", name: "limit", schema: wholeSchema(1, chat.MaxPage, ""), about: "How many at most."},
				{in: "query", name: "cursor", schema: textSchema(), about: "next of the page before."},
				{in: "query", name: "format", schema: oneOrNone(
					"json", "csv", "jsonl",
				), about: "csv and jsonl give all of it as a file."},
			},
			fails: []chat.Code{chat.CodeInvalid},
			outcomes: []outcome{
				{status: http.StatusOK, about: "One page of it.", body: api.FeedbackList{}},
				{status: http.StatusOK, about: "All of it as a file.", kind: "text/csv"},
				{status: http.StatusOK, about: "All of it as a file.", kind: "application/jsonl"},
			},
		},
		{
			Method: "GET", Path: "/agent/runs/:id/export", group: "Runs",
			summary: "Get an answer with all it rests on as a file",
			about: "json, md and html hold question, answer, quotes with their document's hash and place, and the " +
				"steps; their data can be checked again with POST /evidence/verify or footnote verify. docx is a " +
				"Word " +
				"document whose footnotes are Word's own; bib, csl and ris are the sources for reference managers.",
			params: []parameter{runParam, {
				in: "query", name: "format", schema: oneOrNone("json", "md", "html", "docx", "bib", "csl", "ris"),
				about: "Which kind of file; json without it.",
			}},
			fails: []chat.Code{chat.CodeInvalid, chat.CodeNotFound, chat.CodeConflict},
			outcomes: append(
				[]outcome{{status: http.StatusOK, about: "The file.", body: chat.Evidence{}}},
				fileOutcomes()...),
		},
		{
			Method: "GET", Path: "/agent/session/:id/export", group: "Conversations",
			summary: "Get a conversation's answers as a file",
			about: "The branch that is shown, its 200 newest answers at most. Footnotes are numbered through. bib, " +
				"csl " +
				"and ris are the sources of all answers, each once.",
			params: []parameter{sessionParam, {
				in: "query", name: "format", schema: oneOrNone("md", "html", "docx", "bib", "csl", "ris"),
				about: "Which kind of file; md without it.",
			}},
			fails:    []chat.Code{chat.CodeInvalid, chat.CodeNotFound, chat.CodeConflict},
			outcomes: fileOutcomes(),
		},
		{
			Method: "POST", Path: "/evidence/verify", group: "Runs",
			summary: "Check an exported answer against the documents as they are now",
			about: "The body is the text of an exported file of any kind in the field file. An exported JSON file " +
				"is taken as it is, too.",
			body: api.EvidenceFile{}, example: map[string]any{"file": EvidenceExample}, fails: bodyFails,
			outcomes: []outcome{
				{status: http.StatusOK, about: "What became of each quote.", body: chat.EvidenceReport{}},
			},
		},
		{
			Method: "GET", Path: "/sessions/:id/queue", group: "Conversations",
			summary: "List the questions that wait", params: []parameter{sessionParam}, fails: broken,
			outcomes: []outcome{
				{status: http.StatusOK, about: "In the order in which they will be sent.", body: api.WaitingList{}},
			},
		},
		{
			Method: "POST", Path: "/sessions/:id/queue", group: "Conversations",
			summary: "Let a question wait until the run under way is over",
			about: "The server sends it then, whoever looks; at once if nothing is under way. At most 10 wait. A " +
				"repeat with the same Idempotency-Key gets the " +
				"question that waits, or its run's id once it was sent, whatever became of its documents.",
			params: []parameter{sessionParam, onceParam},
			body:   ask.Question{}, example: map[string]any{"message": "And the walls?"},
			form:     []parameter{{name: "message", need: true, schema: patterned(notBlank), about: "The question."}},
			formKind: httpio.TypeForm, fails: slices.Concat(changed, []chat.Code{chat.CodeKeyReused}),
			outcomes: []outcome{{
				status: http.StatusAccepted, about: "It waits, or was sent.", body: api.WaitingQuestion{},
			}, pagePiece, pageForm},
		},
		{
			Method: "PATCH", Path: "/sessions/:id/queue/:item", group: "Conversations",
			summary: "Change a waiting question", params: []parameter{sessionParam, item},
			body: api.OtherWords{}, example: map[string]any{"message": "And the cellar walls?"},
			fails:    slices.Concat(bodyFails, missing),
			outcomes: []outcome{{status: http.StatusNoContent, about: "Done."}, pagePiece, pageForm},
		},
		{
			Method: "DELETE", Path: "/sessions/:id/queue/:item", group: "Conversations",
			summary: "Remove a waiting question", params: []parameter{sessionParam, item}, fails: broken,
			outcomes: []outcome{{status: http.StatusNoContent, about: "Done."}, pagePiece, pageForm},
		},
		{
			Method: "POST", Path: "/sessions/:id/queue/:item/send", group: "Conversations",
			summary: "Send a waiting question now",
			about:   "It goes first, and the run under way ends: cancelled, or with an answer from what it has.",
			params:  []parameter{sessionParam, item}, body: api.SendNow{},
			example: map[string]any{"finish": "answer_now"}, fails: changed,
			outcomes: []outcome{{status: http.StatusNoContent, about: "Done."}, pagePiece, pageForm},
		},
	}
}

// EvidenceExample is the smallest file that can be checked.
const EvidenceExample = `{"format":"footnote-evidence/1",` +
	`"digest":"1876ac35de75e7d89ba938fddcd3b45dd8fc5db0b5314364649da0e0fe14a1bd",` +
	`"run_id":"0193e4a0-0000-7000-8000-000000000000","question":"Is the roof sound?","answer":"Yes.",` +
	`"model":"offline","status":"completed","asked_at":"2026-11-21T09:00:00Z","answered_at":"2026-11-21T09:00:00Z",` +
	`"citations":[],"unsupported":[],"steps":[]}`

// fileOutcomes are the files that answers are exported as.
func fileOutcomes() (list []outcome) {
	kinds := []string{"text/markdown", httpio.TypeHTML}
	for _, format := range []string{"docx", "bib", "csl", "ris"} {
		kind, _, _ := strings.Cut(export.MediaTypes[format], ";")
		kinds = append(kinds, kind)
	}
	for _, kind := range kinds {
		list = append(list, outcome{status: http.StatusOK, about: "The file, by its format.", kind: kind})
	}
	return list
}
