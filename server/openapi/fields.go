package openapi

import (
	"maps"

	"github.com/google/jsonschema-go/jsonschema"

	"footnote/chat"
	"footnote/corpus"
	"footnote/server/api"
)

// Patterns of texts. They are read alike by all engines of regular expressions.
const (
	notBlank    = `[^\s\x00]`
	sessionForm = `^[A-Za-z0-9_-]{1,128}$`
	maybeForm   = `^[A-Za-z0-9_-]{0,128}$` // empty: none
	// namespaceForm leaves out letters and digits of other scripts, which are taken as well: not all engines know them.
	namespaceForm = `^([^\s\x00-\x2c/:-@\[-^\x60{-\x7f.][^\s\x00-\x2c/:-@\[-^\x60{-\x7f]*)?$`
	dateForm      = `^([0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?)?$` // empty: none
	runForm       = `^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`
)

const stepResultAbout = "What the call came to, in one form for all tools; null while it runs. tool_output is what " +
	"the tool itself says of it."

// DescribedFields says of the fields what their types do not.
func DescribedFields() map[string]field {
	answerNotes := field{
		about: "What there is to know about the answer, in sentences: that another model answered instead, that " +
			"footnotes named no passage, that a sum is wrong or was not calculated, that sentences are unsupported, " +
			"why the confidence is 0.",
	}
	message := field{about: "The question.", need: true, pattern: notBlank, Min: to(1), Max: to(chat.MaxQuestion)}
	given := field{pattern: notBlank, Min: to(1), Max: to(chat.MaxContext)}
	session := field{
		about: "The conversation to go on with; an unknown id begins one, none makes a new id. Ids are unique " +
			"per user.",
		pattern: maybeForm,
	}
	fifty := field{Min: to(1), Max: to(50)}
	share := field{Min: to(0), Max: to(1)}
	described := map[string]field{
		"Question.message":            message,
		"Step.result":                 {about: stepResultAbout},
		"QueryStep.result":            {about: stepResultAbout},
		"Event_reasoning_step.result": {about: stepResultAbout},
		"Hit.url":                     {about: "Where to open it; without it, /d/{document_id}?p={chunk_id}."},
		"Question.session_id":         session,
		"Question.context_text":       given,
		"Question.document_ids": {
			about: "Only these documents. One that is not there is refused with 404.", Max: to(chat.MaxDocumentIDs),
		},
		"Question.namespace":         namedField,
		"AgentQuery.namespace":       namedField,
		"SearchQuery.namespace":      namedField,
		"SearchFilters.document_ids": {about: "Only these documents. One that is not there is refused with 404."},
		"Question.toolset":           toolsetField,
		"AgentQuery.history":         {pair: true},
		"AgentQuery.question":        message,
		"AgentQuery.session_id":      session,
		"AgentQuery.context":         given,
		"AgentQuery.toolset": {
			about: "The set of tools that the model has, with its limits and its temperature; none: react, unless " +
				"the settings name another than cursor.",
		},
		"AgentQuestion.citation_style": {
			about: "How footnotes are written: [Source N] with a list of sources at the end (source, also without " +
				"this field), or [N] (numeric). In a stream the pieces have [N] and the answer event the style, " +
				"source only if it is named. What names a style is read again in it: the run, its events and the " +
				"conversation.",
		},

		"RunConfig.temperature":         {Min: to(0), Max: to(2)},
		"RunConfig.max_steps":           fifty,
		"RunConfig.max_retrieval_calls": fifty,
		"RunConfig.retrieval_top_k":     fifty,
		"RunConfig.enabled_tools":       {Max: to(50)},
		"RunConfig.selection": {
			about:  "Who chooses the first tools; none: as the server is set.",
			values: []string{"model", "rules", "auto"},
		},

		"NewPage.url": {
			about: "The page's address: http or https. Its redirects are followed.", need: true,
			pattern: `^[Hh][Tt][Tt][Pp][Ss]?://`, Min: to(8), Max: to(2000),
		},
		"NewPage.namespace": {
			about: `Where to put the document; "default" if empty.`, pattern: namespaceForm, Max: to(128),
		},
		"NewPage.meta": {
			about: "About the document: author, date, tags and so on. A document that is there keeps its own.",
		},

		"SearchQuery.query": {
			about: "What to search for; what must stand word for word is in double quotes, and is looked for by its " +
				"words when nothing has it.", need: true, pattern: notBlank,
			Min: to(1), Max: to(chat.MaxQuestion),
		},
		"SearchQuery.top_k":     {initial: 5, Min: to(1), Max: to(50)},
		"SearchQuery.min_score": share,
		"SearchQuery.mode":      {about: "Which indexes answer: both, words or meaning.", initial: "hybrid"},
		"SearchFilters.title":   {about: "A part of the title or file name."},
		"SearchFilters.mime":    {about: "A media type, or its beginning, such as text/."},
		"SearchFilters.meta":    {about: "Fields of meta with the values they must have."},
		"SearchFilters.year": {
			about: "The year of the document's own date, which its meta has as date, year or published; a month or a " +
				"day of it as well.",
		},
		"SearchFilters.date_from": {
			about: "The document's own date is this or later: 2026-01-31, 2026-01 or 2026.", pattern: dateForm,
		},
		"SearchFilters.date_to": {
			about: "The document's own date is this or earlier; as date_from.", pattern: dateForm,
		},
		"SessionHistory.notes": {
			about: "What there is to know about the conversation, in sentences: how many of its turns can't be read, " +
				"because their stored rows are damaged.",
		},
		"SessionTitle.title": {about: "The new title.", need: true, pattern: notBlank, Min: to(1), Max: to(200)},
		"NewStanding.run_id": {about: "The run whose question is kept; none: question says it.", pattern: maybeForm},
		"NewStanding.question": {
			about: "A question that was not asked yet; it is asked at once.", Max: to(chat.MaxQuestion),
		},
		"NewStanding.namespace":    namedField,
		"NewStanding.document_ids": {about: "Only these documents.", Max: to(chat.MaxDocumentIDs)},
		"StandingChange.paused":    {about: "Do not ask it again, or do so from now on."},
		"StandingChange.seen":      {about: "true: what changed was looked at."},
		"Change.at":                {about: "When it was found."},
		"Difference.kind":          {about: "Whether a quote has other words now, was added, or is gone."},
		"KeptList.questions":       {about: "The kept questions."},
		"KeptQuestion.id":          {about: "The kept question's id."},
		"KeptQuestion.run_id":      {about: "The run of the last answer; empty before the first."},
		"KeptQuestion.session_id":  {about: "The conversation that holds the runs that asked it again."},
		"WatchedFolder.namespace": {
			about: `That of the folder's documents; "default" if empty.`, pattern: namespaceForm, Max: to(128),
		},
		"WatchedFolder.folder": {
			about: "Its path on the machine of the program.", need: true, pattern: notBlank, Min: to(1),
			Max: to(corpus.MaxFolder),
		},
		"WatchedFolder.files":    {about: "How many files are followed.", Min: to(0), Max: to(1 << 40)},
		"WatchedFolder.left_out": {about: "The files and folders that are not followed.", Max: to(corpus.MaxLeftOut)},
		"WatchedFolder.more":     {about: "How many further ones there are.", Min: to(0), Max: to(1 << 40)},
		"FileLeftOut.path": {
			about: "Where it is below the folder.", need: true, pattern: notBlank,
			Min: to(1), Max: to(corpus.MaxFolder),
		},
		"FileLeftOut.reason": {
			about: "Why it is not followed.", need: true, pattern: notBlank, Min: to(1), Max: to(corpus.MaxReason),
		},

		"Watched.namespace": {about: "That of the folder's documents."},
		"LeftOut.path":      {about: "Where it is below the folder."},
		"LeftOut.reason":    {about: "Why it is not followed."},

		"Judgement.rating": {
			about: "What the reader thinks of the answer.", need: true, values: []string{"up", "down"},
		},
		"Judgement.reason": {
			about: "With up: accurate, complete, well_sourced, clear; with down: wrong, incomplete, wrong_sources, " +
				"off_topic, unclear.",
		},
		"Judgement.comment": {about: "In the reader's own words.", Max: to(chat.MaxComment)},
		"OtherInput.input":  {about: "The tool's arguments.", need: true},
		"Approval.input":    {about: "Other arguments for the tool; as the model chose them if left out."},
		"OtherWords.message": {
			about: "The question.", need: true, pattern: notBlank, Min: to(1), Max: to(chat.MaxQuestion),
		},
		"SendNow.finish": {
			about: "What happens to the run under way.", initial: "cancel", values: []string{"cancel", "answer_now"},
		},
		"Evidence.format":         {about: "The file's form: footnote-evidence/1."},
		"Evidence.digest":         {about: "SHA-256 of the same JSON, compact, with an empty digest."},
		"Evidence.asked_at":       {about: "When the question was asked."},
		"Evidence.answered_at":    {about: "When the run ended."},
		"EvidenceStep.tool":       {about: "The tool that was called."},
		"EvidenceStep.input":      {about: "Its arguments."},
		"EvidenceStep.at":         {about: "When the step ended."},
		"EvidenceReport.ok":       {about: "Nothing is wrong with the file, and every quote is verified."},
		"EvidenceReport.problems": {about: "What is wrong with the file itself, as sentences."},
		"FeedbackList.feedback":   {about: "What was said, last changed first."},
		"ShareRequest.days":       {about: "How many days it is open, from 1 to 30; 7 without it."},
		"ShareList.shares":        {about: "Those that are open, the latest first."},
		"SharedLink.url":          {about: "Where the answer is read. It is told only here."},
		"Feedback.rating":         {about: "What the reader thinks of the answer."},
		"Feedback.reason":         {about: "Why, from a few."},
		"Feedback.comment":        {about: "Why, in the reader's own words."},
		"WaitingList.queue":       {about: "What waits, in the order in which it will be sent."},
		"WaitingQuestion.problem": {about: "Why it could not be sent. It waits until it is changed or removed."},
		"McpMessage.jsonrpc":      {about: "Always 2.0.", need: true, values: []string{"2.0"}},
		"McpMessage.method": {
			about: "What is asked for: tools/list, tools/call, initialize, … A message without one answers a request " +
				"of ours, and we make none.",
		},
		"EvidenceFile.file":  {about: "The whole text of an exported file.", need: true},
		"SessionHead.run_id": {about: "The run at the end of the branch to show.", need: true, pattern: runForm},

		"AgentAnswer.status":       apiStatusField,
		"GroundedResponse.status":  apiStatusField,
		"AgentResponse.status":     apiStatusField,
		"AgentResponse.id":         {about: "The run's id: GET /agent/runs/{id} has all of it."},
		"Judged.confidence":        share,
		"Judged.notes":             answerNotes,
		"Answer.notes":             answerNotes,
		"GroundedResponse.sources": {about: "The footnotes with their quotes, in order of their numbers."},
		"SearchResult.score":       share,
		"Message.role":             {values: []string{api.RoleSystem, api.RoleUser, api.RoleAssistant, api.RoleTool}},
		"Message.tool_calls":       {about: "What the assistant asked tools for."},
		"Message.name":             {about: "The tool that speaks."},
		"Message.call_id":          {about: "The call that the tool answers."},
		"ToolCall.id":              {about: "The step's call_id."},
		"ToolCall.name":            {about: "The tool."},
		"ToolCall.arguments":       {about: "Its arguments, an object."},
		"AgentTrace.query":         {about: "The query."},
		"SearchTrace.query":        {about: "The query."},
		"HealthReport.commit":      {about: "The commit that the server was built from; left out where not known."},
		"HealthReport.date":        {about: "When that was committed."},
		"HealthReport.status":      {values: []string{"ok", "degraded", "down"}},
		"CheckResult.status":       {values: []string{"ok", "failed"}},
		"Readiness.status":         {values: []string{"ready", "draining"}},
		"Problem.type":             {about: "Always about:blank."},
		"Problem.title":            {about: "The status in words."},
		"Problem.status":           {about: "The HTTP status."},
		"Failure.code":             {about: "Why the file could not be read."},
		"DocumentInfo.error":       {about: "Why the file could not be read."},
		"Step.timestamp":           {about: "When, in Unix seconds with a fraction."},
		"Step.title":               {about: "A heading for the step."},
		"Step.parent_id":           {about: "The step that groups parallel calls."},
		"Source.number":            {about: "Of its first footnote; 0 when it is not cited."},
		"Trace.parent_id":          {about: "The run before it on its branch."},
		"Trace.text":               {about: "The answer as far as it is written."},
		"Trace.answer":             {about: "The whole answer; null until there is one."},
		"Trace.steps":              {about: "The last state of each step, in the order they began."},
		"AnswerReset.call_id": {
			about: "The step that takes the text over: it was a thought. Drop the text since the last reset; its " +
				"numbers are free again.",
		},
		"AnswerDelta.text": {about: "The next piece of the answer."},
		"Budget.steps":     {about: "Turns of the model."},
		"Trace.tokens":     {about: "Tokens of the model, of all steps and the answer."},
		"Trace.cost": {
			about: "What all of them cost, in the currency of the prices; left out when the model has no price.",
		},
		"Trace.latency_ms":    {about: "How long the run took, or has taken so far, in milliseconds."},
		"Budget.tokens":       {about: "Tokens of the model in all."},
		"Retrieval.query":     {about: "What was searched for, or which document was read."},
		"Retrieval.tool_name": {about: "The tool that searched or read."},
		"RetrieveResponse.strategy": {
			about: "Who searched how: agentic (the steps say with which tools), or hybrid, lexical, semantic for a " +
				"plain search.",
		},
		"RejectedFile.detail": {about: "Why it was not taken, as a sentence."},
	}
	maps.Copy(described, clientFields())
	maps.Copy(described, v1Fields())
	maps.Copy(described, responseFields())
	maps.Copy(described, modelFields)
	maps.Copy(described, placeFields)
	maps.Copy(described, tableFields)
	return described
}

var (
	namedField = field{
		about:   "Only documents of this namespace; none: of all. One without documents is refused with 404.",
		pattern: namespaceForm, Max: to(128),
	}
	toolsetField   = field{about: "The set of tools that the model has; none: the server's own."}
	apiStatusField = field{
		values: []string{"success", "cancelled", "guardrail_triggered", "citation_validation_failed"},
		about:  "How the run ended.",
	}
)

func to(n float64) *float64 { return &n }

func textSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }

func textOf(most int) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", MaxLength: &most} }

func patterned(pattern string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: pattern}
}

func wholeSchema(low, high float64, initial string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "integer", Minimum: &low, Maximum: &high}
	if initial != "" {
		s.Default = []byte(initial)
	}
	return s
}

// oneOrNone is one of the values, or empty, which is the same as none.
func oneOrNone(values ...string) *jsonschema.Schema { return oneOf(append(values, "")...) }

func oneOf(values ...string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: listValues(values...)}
}
