package openapi

import (
	"reflect"

	"footnote/chat"
	"footnote/corpus"
	"footnote/server/runlog"
)

// codeWords says what each code means.
var codeWords = map[chat.Code]string{
	chat.CodeInvalid:      "The request can't be used as it is (invalid).",
	chat.CodeUnauthorized: "No key, a wrong one or a revoked one (unauthorized).",
	chat.CodeForbidden:    "Another site's page asked, or the server is not known under that name (forbidden).",
	chat.CodeNotFound:     "It is not there, or not yours: the two look the same (not_found).",
	chat.CodeConflict:     "Its state does not allow it (conflict).",
	chat.CodeTurnLimit: "The conversation has as many questions as it may have: leave session_id out to go on in " +
		"a new one (turn_limit).",
	chat.CodeTooLarge:    "Over a limit on size (too_large).",
	chat.CodeUnsupported: "A kind of body that is not understood (unsupported).",
	chat.CodeGuardrail:   "A guardrail refused the question or the answer (guardrail).",
	chat.CodeUndrawable:  "No picture can be made of the page: it is too complex, or damaged (undrawable).",
	chat.CodeKeyReused:   "The Idempotency-Key came before with another body (key_reused).",
	chat.CodeTooMany:     "Too much at once, or a limit of the user is reached: wait as Retry-After says (too_many).",
	chat.CodeDiskFull:    "Nothing more can be stored, by anybody or by this user (disk_full).",
	chat.CodeUnavailable: "The server or a store it needs can't serve now: try again as Retry-After says " +
		"(unavailable).",
	chat.CodeModelFailed: "The model's server failed (model_failed).",
	chat.CodeTimeout:     "A time limit passed (timeout).",
	chat.CodeInternal:    "Something went wrong on the server (internal).",
}

// enumValues lists the values of a named type that has a few.
func enumValues(t reflect.Type) []any {
	switch t {
	case reflect.TypeFor[chat.LimitName]():
		var names []any
		for _, l := range chat.AllLimits() {
			names = append(names, string(l.Name))
		}
		return names
	case reflect.TypeFor[runlog.CitationStyle]():
		return listValues(runlog.StyleSource, runlog.StyleNumeric)
	case reflect.TypeFor[corpus.SearchMode]():
		return listValues(corpus.ModeHybrid, corpus.ModeLexical, corpus.ModeSemantic)
	case reflect.TypeFor[corpus.State]():
		return listValues(corpus.States...)
	case reflect.TypeFor[corpus.Semantic]():
		return listValues(corpus.SemanticOff, corpus.SemanticPending, corpus.SemanticReady, corpus.SemanticFailed)
	case reflect.TypeFor[chat.Mode]():
		return listValues(chat.ModeFullBook, chat.ModeContextConstrained)
	case reflect.TypeFor[chat.Status]():
		return listValues(
			chat.StatusPending, chat.StatusRunning, chat.StatusComplete, chat.StatusError, chat.StatusCancelled,
			chat.StatusSkipped,
		)
	case reflect.TypeFor[chat.Action]():
		return listValues(chat.ActionPlanning, chat.ActionSearching, chat.ActionExploring, chat.ActionReading,
			chat.ActionAnalysing,
			chat.ActionSummarising, chat.ActionThinking, chat.ActionOpening, chat.ActionCalculating)
	case reflect.TypeFor[chat.StandingState]():
		return listValues(chat.StandingUnchanged, chat.StandingChanged, chat.StandingWaiting, chat.StandingAsking,
			chat.StandingPaused, chat.StandingFailed)
	case reflect.TypeFor[chat.GridState]():
		return listValues(chat.GridFilling, chat.GridStopped, chat.GridDone)
	case reflect.TypeFor[chat.CellState]():
		return listValues(
			chat.CellWaiting, chat.CellFound, chat.CellClosest, chat.CellAbsent, chat.CellFailed,
		)
	case reflect.TypeFor[chat.DifferenceKind]():
		return listValues(chat.DifferenceChanged, chat.DifferenceAdded, chat.DifferenceGone)
	case reflect.TypeFor[chat.Check]():
		return listValues(chat.CheckVerified, chat.CheckApproximate, chat.CheckNotFound)
	case reflect.TypeFor[chat.StopReason]():
		return listValues(
			chat.StopAnswered, chat.StopAnswerNow, chat.StopMaxSteps, chat.StopMaxRetrievalCalls, chat.StopMaxTokens,
			chat.StopUnusableCalls, chat.StopTimeout, chat.StopRefused,
		)
	case reflect.TypeFor[chat.RunStatus]():
		return listValues(chat.RunRunning, chat.RunCompleted, chat.RunCancelled, chat.RunFailed, chat.RunInterrupted,
			chat.RunGuardrailTriggered,
			chat.RunCitationValidationFailed)
	}
	return nil
}

func listValues[T ~string](values ...T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// words says what a field of a name means wherever it comes. DescribedFields has those that mean something else
// somewhere.
var words = map[string]string{
	"after":         "The quote as it is now; null of what is gone.",
	"asked_at":      "When it was last asked again; null: it was not.",
	"before":        "The quote as it was; null of what was added.",
	"before_run_id": "The run of the answer before.",
	"changes":       "What was different, newest first, at most 20.",
	"differences":   "What is different, what changed first.",
	"marks":         "The words of the quote that differ, as [from, to) in its characters.",
	"now":           "What it says now, words of the quote; left out where that is more than one stretch.",
	"removed":       "The document is there no more.",
	"rests_on":      "The documents that the last answer rests on.",
	"failed_at":     "When the address last did not take a message; null: it took the last one.",
	"lost":          "Changes that were given up since the address was set.",
	"secret":        "What signs the messages, whsec_ and base64; only in the answer that makes it.",
	"sent_at":       "When the address last took a message; null: it took none yet.",
	"set_at":        "When the address was set.",
	"waiting":       "Changes that wait to be sent.",
	"trouble":       "Why it did not work the last time.",
	"unseen":        "Something changed since its user looked.",
	"was":           "What it said before, words of the quote.",
	"action_type":   "What kind of work the step is.",
	"added_after":   "Only documents added after this time, or after the beginning of this day in UTC.",
	"added_before":  "Only documents added before this time, or before this day in UTC.",
	"agent_trace":   "How the passages were found.",
	"annotations":   "The footnotes of the content, in order.",
	"answer":        "The answer, in Markdown with footnotes.",
	"avg_similarity": "The average similarity of the results whose similarity is known; where there are no " +
		"vectors, the average score. 0 when no result has either.",
	"block_id": "The block of the document that the quote begins in.",
	"boxes": "Where the quote stands on pages: [page, x0, y0, x1, y1], page from 1, the others " +
		"0 to 1 from the top left.",
	"budget":     "What the run may use.",
	"bytes":      "The file's size.",
	"cached":     "The output is of an earlier, equal call.",
	"call_id":    "The step's id in its run.",
	"expires_at": "When it ends.",
	"files":      "How many files are followed.",
	"folder":     "The folder's path on the machine of the program that follows it.",
	"folders":    "The folders.",
	"left_out":   "The files and folders that are not followed, the first ones.",
	"looked_at":  "When the program last told of it.",
	"opened_at":  "When it was opened last; left out while it never was.",
	"opens":      "How often it was opened.",
	"params":     "What goes with the method.",
	"source_url": "Where the document is on the web: the page that was read, or meta.source_url; " +
		"http or https. Left out when there is none.",
	"check": "How well the quote was found in the document's text: word for word, nearly so, or " +
		"not at all.",
	"checks":            "Each dependency by its name.",
	"choices":           "Always one.",
	"chunk_id":          "The passage's id.",
	"chunks":            "The passages found, best first.",
	"citation_style":    "How footnotes are written: [Source N] with a list of sources at the end, or [N].",
	"citations":         "The footnotes, in order of their numbers.",
	"cited":             "Whether the answer cites it.",
	"claimed":           "The model's wording of the quote, when it gave one.",
	"code":              "What kind of failure it is; stable.",
	"completion_tokens": "Tokens that came from the model.",
	"confidence": "The share of sentences that passages bear out, 0 to 1, less where quotes are not " +
		"word for word; the model's own number where it judged the answer and gave a lower one.",
	"config":          "Settings for this run alone.",
	"content":         "The text.",
	"content_snippet": "The quoted words of the document.",
	"context": "Text that the answer may rest on besides the documents, which are searched as " +
		"always. What rests on it alone has no footnote.",
	"context_text": "Answer from this text alone: nothing is searched. The context of POST " +
		"/agent/query is another thing: text besides the documents.",
	"cost": "What the model's tokens cost, in the currency of the prices; left out when the " +
		"model has no price.",
	"coverage":       "What the run looked at.",
	"created":        "When, in Unix seconds.",
	"created_at":     "When it was made.",
	"data":           "The models: one.",
	"delta":          "What is new.",
	"detail":         "A sentence for people.",
	"details":        "More about the step, by its kind.",
	"document_id":    "The document's id; the tools call it doc_id.",
	"document_ids":   "Only in these documents; none: in all.",
	"documents":      "The documents.",
	"done":           "How far it is.",
	"duplicate_of":   "The document that has the same bytes already.",
	"duration_ms":    "How long it took, in milliseconds.",
	"empty_searches": "What was searched for without finding anything.",
	"enabled_tools":  "Only these tools, from any toolset.",
	"enable_query_decomposition": "Have the model split the question into parts, which costs a call of it. Left out, " +
		"it is on in POST /agent/query and with the toolset react, with the toolset strategy for questions that are " +
		"not simple, and elsewhere rules split complex questions. Without a model rules do it.",
	"enable_self_evaluation": "Have the model judge whether its answer fully addresses the question and which of " +
		"its sentences the texts it rests on do not say, which costs a call of it; a confidence below 0.5 sends it " +
		"searching again while the budget lasts. Left out, it is on in POST /agent/query and with the toolsets react " +
		"and strategy, and elsewhere rules judge. False leaves self_evaluation out.",
	"end":                 "Behind the last character, in characters of the document's text.",
	"end_index":           "Behind the footnote's last character, in characters of the content.",
	"ended_at":            "When it ended.",
	"error":               "Why it failed.",
	"execution_time":      "How long it took, in seconds.",
	"iteration":           "The turn it belongs to, from 1: calls side by side are one.",
	"iterations":          "Turns with calls; calls side by side are one.",
	"num_results":         "What was found: passages, documents, or the one that was read.",
	"parameters":          "The call's arguments, an object.",
	"plan":                "What was thought before the first call.",
	"reasoning":           "What the question was taken for and why these tools were chosen, line by line.",
	"tool_calls":          "The calls, in order.",
	"tool_results":        "How each call ended, in the same order.",
	"events":              "The address of the run's events as JSON.",
	"filename":            "The file's name.",
	"filters":             "Only in documents of this kind.",
	"finish_reason":       "Why the text ends: stop.",
	"follow_ups":          "Up to three questions to ask next.",
	"history":             "Earlier turns as [question, answer], oldest first.",
	"id":                  "Its id.",
	"in":                  "Tokens that went to the model.",
	"include_usage":       "Send what was used in a last chunk.",
	"index":               "Always 0.",
	"language":            "Its language (ISO 639-1), when it was recognised.",
	"last":                "The number of the log's last event.",
	"last_seq":            "The number of the last event it is made from.",
	"latency_ms":          "How long it took, in milliseconds.",
	"llm_tokens_used":     "Tokens that went to the model and came from it.",
	"logprobs":            "Always null.",
	"max_retrieval_calls": "Calls of tools that search or read.",
	"max_steps":           "Turns of the model.",
	"message":             "A sentence for people.",
	"messages":            "The messages, oldest first.",
	"meta":                "What is known about the document: author, date, tags and so on.",
	"metadata":            "Where the passage stands.",
	"mime":                "The file's media type.",
	"min_score": "Leave out passages whose similarity is below: from 0.7 on a passage probably answers, " +
		"whatever the embedding model. Has no effect in a search by words or while there are no vectors, and says so.",
	"mode":          "Where the answer may come from: every document in scope, or the given text alone.",
	"model":         "The model's name.",
	"namespace":     "The namespace; without one documents go to \"default\" and searches go everywhere.",
	"next":          "The cursor of the next page; absent at the end.",
	"notes":         "What there is to know about the search, in sentences.",
	"number":        "The footnote's number in the answer.",
	"object":        "What this object is.",
	"opened":        "Documents opened.",
	"out":           "Tokens that came from the model.",
	"output_bytes":  "The whole output's size.",
	"owned_by":      "Always footnote.",
	"page":          "The page, from 1; 0 or absent for formats without pages.",
	"place":         "Where it stands, in words: “p. 4”, “slide 7”, “Invoices, row 12”, “line 40”.",
	"pages":         "How many pages it has; 0 for formats without pages.",
	"pages_read":    "Pages read.",
	"param":         "Always null: the message names the field.",
	"parent_id":     "What it belongs to or follows.",
	"passages":      "How many passages it was cut into.",
	"path":          "Its path in its namespace.",
	"progress":      "How far the work on it is.",
	"prompt_tokens": "Tokens that went to the model.",
	"query":         "What was searched for.",
	"question":      "The question.",
	"quote": "The cited words, exactly as they stand in the document; empty when they were " +
		"not found.",
	"rank":              "The place in the list, from 1.",
	"reasoning_content": "What is being done, as a line for people.",
	"refusal":           "Always null: that the documents hold no answer is an answer.",
	"rejected":          "The files that were not taken, with the reason.",
	"relevance":         "How the quote supports the answer, in words.",
	"limit":             "The limit that is reached: one of x-limits.",
	"retry_at":          "When the limit has room again, if that is known.",
	"request_id":        "The request's id, for whoever looks into the log.",
	"require_citations": "Every claim needs a footnote.",
	"rerank": "Look at twice as many results a second time and keep the best. Their score is " +
		"what that look came to. A search by meaning alone has its order already.",
	"rerank_results": "Put what searches find in order once more: by a reranker if the server has one, else by a " +
		"closer look at the words. Without it: only if there is a reranker.",
	"renamed_from":      "The name that the file came under, if it is kept under another one.",
	"response":          "The answer, in Markdown with footnotes in the style asked for.",
	"results":           "The passages found, best first.",
	"results_count":     "How many results there were.",
	"retrieval_calls":   "Calls of tools that search or read.",
	"retrieval_history": "What was searched and read for these messages, oldest first.",
	"retrieval_mode":    "Where the answer may come from: every document in scope, or the given text alone.",
	"retrieval_top_k":   "How many passages a search gives.",
	"retryable":         "Whether trying again may help.",
	"role":              "Who speaks.",
	"routes":            "Of a request that fits no route: those that there are near its address.",
	"run_id":            "The run's id: GET /agent/runs/{id} has all of it.",
	"running":           "Whether a run is under way.",
	"score":             "How well it fits, 0 to 1.",
	"searched":          "Documents in scope.",
	"seconds":           "Time.",
	"section":           "The headings above it, joined by ›.",
	"seed": "Passed on to the model: the same seed gives the same result where the model can. " +
		"A model that takes none gets none, and a step says so.",
	"self_evaluation": "What the model says of its answer and its confidence, if it judged it, and how " +
		"well passages back the answer.",
	"semantic": "Whether it can be found by meaning: failed after the server died three times " +
		"while it made the vectors; POST /documents/{id}/retry tries again.",
	"session_id":  "The conversation's id: what pages call a conversation the API calls a session.",
	"sessions":    "The conversations, latest first.",
	"sha256":      "Of the file's bytes, in hex.",
	"sibling":     "The run whose place the new one shares: to ask again, or in other words.",
	"sources":     "The documents behind the answer.",
	"stage":       "What is being done: queued, parsing, indexing, embedding or ready.",
	"start":       "The first character, in characters of the document's text.",
	"start_index": "The footnote's first character, in characters of the content.",
	"started_at":  "When it began.",
	"state":       "How far the document is; ready means that its text can be searched.",
	"status":      "How it stands.",
	"step":        "The name of the tool or phase.",
	"steps":       "What was done, in order.",
	"steps_used":  "Turns of the model.",
	"finding": "Of an answer made of quotes alone: found, they are likely to hold what was asked; closest, " +
		"they may not.",
	"matched": "Words of the quote that the question asks with, as they stand there; only of answers that are " +
		"quotes.",
	"stop_reason":    "Why the work ended.",
	"strategy":       "How it was searched.",
	"stream":         "The address of the run's events as pieces of the page.",
	"stream_options": "Settings of the stream.",
	"summary":        "What came of it, for people.",
	"temperature":    "The model's, 0 to 2. A step says so when the model takes none, or less.",
	"text":           "The text.",
	"thought":        "Why the model does it.",
	"timestamp":      "When.",
	"title":          "The title.",
	"tokens":         "Tokens of the model.",
	"tool_input":     "The tool's input.",
	"tool_name":      "The tool.",
	"tool_output":    "The tool's output; {error} when it failed.",
	"tool_status":    "The same as status.",
	"toolset":        "The set of tools.",
	"top_k": "How many passages to find; max_results of the tool search_documents counts " +
		"documents instead.",
	"total":                 "How many there are.",
	"total_latency_ms":      "How long it took, in milliseconds.",
	"total_results":         "How many results there are.",
	"total_retrieval_calls": "Calls of tools that searched or read.",
	"total_steps": "How many steps there are, phases that call no tool included; steps_used is what " +
		"max_steps limits.",
	"total_tokens": "All tokens.",
	"truncated":    "The output is cut; GET /agent/runs/{id}/steps/{call}/output has all of it.",
	"turn_count":   "Questions asked.",
	"type":         "What this is.",
	"unsupported": "Sentences of the answer that their footnotes do not back, those that state " +
		"something without one, and those that the model finds in none of the texts it rests on when it judges its " +
		"answer. Sentences in other words than their passages are not among them: they count half in confidence.",
	"updated_at":   "When it last changed.",
	"url":          "Where to read it.",
	"url_citation": "Where a footnote stands and what it points to.",
	"usage":        "What was used.",
	"verbose_logging": "Write the steps of this run to the server's log at its usual level, rather than " +
		"only when the log is set to debug. The steps themselves are the same.",
	"action":      "What was done, and why.",
	"observation": "What came of it.",
	"result":      "What it returned; null while there is nothing.",
	"success":     "It ended, and without an error.",
	"step_number": "Its place, from 1.",
	"tool":        "The tool, or the phase of a step that calls none.",
	"version":     "The server's version.",
	"capability":  "What the tool is for: tools of one capability can stand in for each other.",
	"label":       "What the tool does, in words for people; left out where the message says it.",
	"doing":       "What is being done while the call runs, as in \"Searching for\".",
	"noun":        "What one call is called where calls are counted.",
	"argument":    "The tool's argument that names what it is about.",
	"form":        "What that is: words in quotes, a pattern or formula, or the title of a document.",
	"depends_on":  "The parts that have to be searched first, by their places in the list, from 0.",
	"facts":       "What has no field of its own, by name.",
	"failure":     "Why the call did not do what it was asked for.",
	"formula":     "What was calculated.",
	"found":       "How many results there are, those that are not listed too.",
	"hits": "The passages or documents found or read: the first 50 in full, of further ones " +
		"only which passages they are.",
	"matches": "Where the snippet answers the query, in characters of it.",
	"n":       "The passage's number in the run.",
	"name":    "The name.",
	"note":    "Why there is nothing to open.",
	"outline": "The document's headings, indented by their levels.",
	"part": "Which part: the number of a reading page from 1, or the first passage of a " +
		"reading that was about something.",
	"parts":      "The parts of a plan.",
	"similarity": "Nearness in meaning, 0 to 1, where it is known: from 0.7 on a passage probably answers.",
	"snippet":    "The beginning of the text, or the part of it that answers the query.",
	"sub":        "It stands in the document of the hit before it.",
	"value":      "The value.",
	"table": "What a table was asked for: rows of it, or what was computed of groups of rows; the first 20 rows and " +
		"12 columns.",
	"columns": "The names of the columns.",
	"rows":    "The cells of each row, in the order of the columns.",
	"links":   "Where each row stands in its document, in the order of the rows.",
	"more":    "How many there are that are not listed.",
	"totals":  "What was computed, as the table writes it.",
	"used":    "How many rows of the document it comes from; url opens the document at them.",
	"words":   "The words, as the model wrote them.",
}
