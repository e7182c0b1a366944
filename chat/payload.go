package chat

import (
	"encoding/json"
	"strconv"

	"github.com/footnote/footnote/text/locale"
)

// RunStarted is a run's first event.
type RunStarted struct {
	SessionID string `json:"session_id"`
	Question  string `json:"question"`
	Model     string `json:"model"`
	// The allowed sources of the answer: every document in scope, or the given text alone.
	Mode    Mode   `json:"mode" api:"shared"`
	Toolset string `json:"toolset" api:"shared"` // The set of tools.
	Budget  Budget `json:"budget"`               // The run's budget.
}

// Mode restricts the sources of an answer.
type Mode string

// The modes: every document in scope, or only the request's context_text.
const (
	ModeFullBook           Mode = "full_book"
	ModeContextConstrained Mode = "context_constrained"
)

// MostTurnsOrCalls limits two budgets of a run: model turns, and calls to search and read tools.
const MostTurnsOrCalls = 50

// Budget limits a run. A spent budget forces an answer from the results so far. A request may raise the first two
// above the server's settings; only the server sets time and tokens (budgetOf in agent/run).
type Budget struct {
	// Model turns.
	Steps          int `json:"steps"`           // model turns, not steps of the timeline
	RetrievalCalls int `json:"retrieval_calls"` // Calls to search and read tools.
	Seconds        int `json:"seconds"`         // The time limit, in seconds.
	Tokens         int `json:"tokens"`          // The limit of model tokens.
}

// Status is the state of a step. A pending call waits for approval; a skipped one was denied or can't be made;
// neither has run. The parts of a plan have the same states.
type Status string

// The states of a step.
const (
	StatusPending   Status = "pending"
	StatusRunning   Status = "running"
	StatusComplete  Status = "complete"
	StatusError     Status = "error"
	StatusCancelled Status = "cancelled"
	StatusSkipped   Status = "skipped"
)

// Action groups steps by kind of work, for people and for icons. A tool names its action, so the page needs no list
// of tools.
type Action string

// The actions of a step.
const (
	ActionPlanning    Action = "planning"
	ActionSearching   Action = "searching"
	ActionExploring   Action = "exploring"
	ActionReading     Action = "reading"
	ActionAnalysing   Action = "analysing"
	ActionSummarising Action = "summarising"
	ActionThinking    Action = "thinking"
	ActionOpening     Action = "opening"
	ActionCalculating Action = "calculating"
)

// Step is one state of one reasoning step: a tool call or a phase. A tool call is emitted twice with one CallID,
// before and after. Phases use the same event without the tool fields; only a plan and dropped text have an output.
// The later state replaces the earlier. Transcript.AddStep copies its omitted fields (title, thought, parent,
// input), so the second event is small.
type Step struct {
	CallID     string  `json:"call_id"`             // The step ID in its run.
	ParentID   string  `json:"parent_id,omitempty"` // The step that groups parallel calls.
	Step       string  `json:"step"`                // The name of the tool or phase.
	ActionType Action  `json:"action_type"`         // The kind of work.
	Message    string  `json:"message"`             // for people: "Searching for: roof" → "Found 3 documents"
	Title      string  `json:"title,omitempty"`     // A heading for the step.
	Thought    string  `json:"thought,omitempty"`   // The model's reason for the step.
	Timestamp  float64 `json:"timestamp"`           // Unix seconds with a fraction.
	ToolName   string  `json:"tool_name,omitempty"` // The tool.
	// The tool's input.
	ToolInput json.RawMessage `json:"tool_input,omitempty"` // an object
	// The tool's output; {error} if it failed. A step named dropped has the output {text}: text that was removed
	// from the model's reply, with the reason in message. In the output of a search, similarity_score of a document
	// or chunk is the similarity of its best passage, 0 to 1, as in POST /search. Without an embedding model
	// retrieve_documentation has its word score, and other tools leave it out.
	ToolOutput json.RawMessage `json:"tool_output,omitempty"`
	Status     Status          `json:"status" api:"shared"` // The current state.
	// The same as status.
	ToolStatus Status `json:"tool_status"`
	Summary    string `json:"summary,omitempty" api:"shared"` // A human-readable result.
	DurationMS int64  `json:"duration_ms" api:"shared"`       // The duration, in milliseconds.
	OutputSize int    `json:"output_bytes"`                   // The size of the complete output.
	// Whether the output is truncated; GET /agent/runs/{id}/steps/{call}/output returns the complete output.
	Truncated bool    `json:"truncated,omitempty" api:"shared"`
	Cached    bool    `json:"cached,omitempty"`              // The output is cached from an earlier, equal call.
	Tokens    *Tokens `json:"tokens,omitempty" api:"shared"` // The model's tokens.
	// The cost of the model's tokens, in the currency of the prices; left out when the model has no price.
	Cost    *float64       `json:"cost,omitempty" api:"shared"`
	Error   *StepError     `json:"error,omitempty" api:"shared"` // The reason for the failure.
	Details map[string]any `json:"details"`                      // Further details, by the kind of step.
	// For translations: the forms of sentences with values, such as those of message and summary.
	Forms locale.Forms `json:"forms,omitempty"`

	// The tool's purpose: tools of one capability are interchangeable.
	//
	// Empty for a phase and for tools of other servers.
	Capability Capability `json:"capability,omitempty"`
	// A human-readable description of the call; absent if the message contains it.
	Label *Label `json:"label,omitempty"`
	// The call's result, in one form for all tools; null while it runs. tool_output is the tool's own output.
	Result *StepResult `json:"result,omitempty"`

	// Full is the complete tool output when Truncated. The store keeps it beside the log (Store.StepOutput); it is
	// not in the event.
	Full json.RawMessage `json:"-"`

	// Acts marks a call with possible side effects. When the Append of its start has returned, the record is durable
	// over power loss. It is not in the event.
	Acts bool `json:"-"`
}

// Begins reports whether the step starts a call with possible side effects. Stores sync such an append to disk:
// losing it in a crash would repeat the call (docs/decisions/event-log.md).
func (s Step) Begins() bool { return s.Acts && s.Status == StatusRunning }

// StepError is the error of a failed step.
type StepError struct {
	Code      Code   `json:"code" api:"shared"`    // The error code, which is stable.
	Message   string `json:"message" api:"shared"` // A human-readable message.
	Retryable bool   `json:"retryable"`            // Whether a retry may succeed.
	// For translations: the form of the message, if it has values.
	Forms locale.Forms `json:"forms,omitempty"`
}

// NewStepError returns the error of a step or a run.
func NewStepError(code Code, message locale.Message, retryable bool) *StepError {
	e := &StepError{Code: code, Retryable: retryable}
	e.Message = e.Forms.Say(message)
	return e
}

// Localised returns the message with its values.
func (e *StepError) Localised() locale.Message { return e.Forms.Of(e.Message) }

// Tokens counts the input and output tokens of a model.
type Tokens struct {
	In  int `json:"in"`  // Input tokens of the model.
	Out int `json:"out"` // Output tokens of the model.
}

// AnswerDelta is the next part of the answer's Markdown. Deltas are merged before they are stored.
type AnswerDelta struct {
	Text string `json:"text"` // The next part of the answer.
}

// AnswerReset turns the text since the last reset into the thought of the step CallID and frees its citation
// numbers. A model may write text before a tool call: the apparent answer was then the reason for the call.
type AnswerReset struct {
	// The step whose thought the text becomes. Drop the text since the last reset; its citation numbers are free
	// again.
	CallID string `json:"call_id"`
}

// Check is the result of matching a quote against the stored text. package cite computes it with corpus/quote.
type Check string

// The results of a quote check.
const (
	CheckVerified    Check = "verified"    // word for word
	CheckApproximate Check = "approximate" // one contiguous run at least 85 % alike
	CheckNotFound    Check = "not_found"   // Start and End are 0, Quote is empty
)

// Box is a rectangle on a page: [page, x0, y0, x1, y1], page from 1, coordinates 0–1 of the page from the top left.
// Fractions are independent of the size at which a page is rendered.
type Box [5]float64

// Citation links a number of the answer to words of a document. It precedes the delta with its "[". It has all data
// for a footnote, so that an answer can still be shown after its document was deleted.
type Citation struct {
	Number     int    `json:"number" api:"shared"`             // The footnote's number in the answer.
	DocumentID string `json:"document_id" api:"shared"`        // The document ID, called doc_id by the tools.
	ChunkID    string `json:"chunk_id" api:"shared"`           // The passage ID.
	BlockID    string `json:"block_id" api:"shared"`           // The block of the document in which the quote starts.
	Title      string `json:"title" api:"shared"`              // The title.
	Filename   string `json:"filename,omitempty" api:"shared"` // The file's name.
	// The URL of the document's web page, or meta.source_url; http or https. Absent if it has none.
	SourceURL string `json:"source_url,omitempty" api:"shared"`
	Section   string `json:"section" api:"shared"`        // The headings above it, joined by ›.
	Page      int    `json:"page,omitempty" api:"shared"` // The page, from 1; 0 or absent for formats without pages.
	// The position, as text: “p. 4”, “slide 7”, “Invoices, row 12”, “line 40”.
	Place string `json:"place,omitempty" api:"shared"` // see corpus.Place; earlier versions left it out
	// The cited words, exactly as in the document; empty when they were not found.
	Quote   string `json:"quote" api:"shared"`             // always the stored slice text[start:end]
	Claimed string `json:"claimed,omitempty" api:"shared"` // The model's wording of the quote, when it gave one.
	// The quote's words that match the question, as in the quote; only in answers that consist of quotes.
	Matched []string `json:"matched,omitempty"`
	// The start offset, in characters of the document's text.
	Start int `json:"start" api:"shared"` // rune offsets in the document's text
	// The end offset (exclusive), in characters of the document's text.
	End int `json:"end" api:"shared"`
	// The quote's boxes on pages: [page, x0, y0, x1, y1], page from 1, the others 0 to 1 from the top left.
	Boxes []Box `json:"boxes"`
	// The URL to open.
	URL string `json:"url" api:"shared"` // /d/{id}?c={run}.{number}
	// The result of matching the quote against the document's text: word for word, nearly so, or not at all.
	Check Check   `json:"check" api:"shared"`
	Score float64 `json:"score" api:"shared"` // The score of the match, 0 to 1.
	// SHA-256 of the file's bytes, in hex.
	SHA256 string `json:"sha256" api:"shared"` // of the document version the offsets belong to
	// Whether Footnote added the footnote, because a retrieved passage supports the sentence, where the model set none.
	Added bool `json:"added,omitempty" api:"shared"`
}

// PlaceWords returns the place as text, empty without one.
func (c Citation) PlaceWords() string {
	if c.Place == "" && c.Page > 0 {
		return "p. " + strconv.Itoa(c.Page)
	}
	return c.Place
}

// Source is a document of an answer, cited or only read.
type Source struct {
	Number     int    `json:"number"` // The number of its first footnote; 0 if it is not cited.
	DocumentID string `json:"document_id"`
	Title      string `json:"title"`
	Filename   string `json:"filename,omitempty"`
	SourceURL  string `json:"source_url,omitempty"` // its web address
	Section    string `json:"section"`
	URL        string `json:"url"`
	Cited      bool   `json:"cited"` // Whether the answer cites it.
}

// Coverage is the extent of a run's search. Empty searches are results as well: they show where nothing was found.
type Coverage struct {
	// Documents in scope.
	Searched      int      `json:"searched"`       // documents in scope of the searches; 0 if none completed
	Opened        int      `json:"opened"`         // Documents opened.
	PagesRead     int      `json:"pages_read"`     // Pages read.
	EmptySearches []string `json:"empty_searches"` // The queries of searches without results.
}

// StopReason is the reason why an agent stopped and answered. It is no failure: a failed run has a RunDone with an
// error and may have no Answer.
type StopReason string

// The reasons to stop.
const (
	StopAnswered          StopReason = "answered"
	StopAnswerNow         StopReason = "answer_now"
	StopMaxSteps          StopReason = "max_steps"
	StopMaxRetrievalCalls StopReason = "max_retrieval_calls"
	StopMaxTokens         StopReason = "max_tokens"     // the run's token budget is spent
	StopUnusableCalls     StopReason = "unusable_calls" // the model's calls repeatedly failed to parse
	StopTimeout           StopReason = "timeout"
	StopRefused           StopReason = "refused"
	StopLength            StopReason = "length" // the model's reply was truncated at its token limit
)

// Answer is the complete answer. All later views of it are derived from this event and the citations.
type Answer struct {
	Markdown  string     `json:"answer" api:"shared"`    // The answer, in Markdown with footnotes.
	Citations []Citation `json:"citations" api:"shared"` // The footnotes, in order of their numbers.
	Sources   []Source   `json:"sources" api:"shared"`   // The documents of the answer.
	// Sentences of the answer that their footnotes do not support, factual ones without a footnote, and those that
	// the model finds in none of the sources when it judges its answer. Sentences that paraphrase their passages are
	// not included: they count half in confidence.
	//
	// They are without their [N].
	Unsupported []string `json:"unsupported" api:"shared"`
	// The share of sentences supported by passages, 0 to 1, reduced for quotes that are not word for word. If the
	// model judged the answer, its own number lowers the confidence to that number, or raises it by at most 0.1 if
	// no sentence is unsupported.
	//
	// Only factual sentences count. Quotes that are not word for word take up to a fifth off. Without quotes the
	// whole fifth is off, sentences are compared with the given text, the conversation, tool outputs or the
	// passages, and one in another language counts half.
	Confidence float64 `json:"confidence" api:"shared"`
	// The model's judgement of its answer and its confidence, if it judged it, and how well passages support the
	// answer.
	SelfEvaluation string     `json:"self_evaluation,omitempty" api:"shared"`
	Coverage       Coverage   `json:"coverage"`                // The extent of the run's search.
	StepsUsed      int        `json:"steps_used" api:"shared"` // Model turns.
	Tokens         Tokens     `json:"tokens"`
	Cost           *float64   `json:"cost,omitempty"`
	LatencyMS      int64      `json:"latency_ms" api:"shared"`  // The duration, in milliseconds.
	StopReason     StopReason `json:"stop_reason" api:"shared"` // The reason why the run stopped.
	// For an answer that consists of quotes: found, they probably contain the answer; closest, they may not.
	//
	// Empty for other answers.
	Finding Finding `json:"finding,omitempty"`
	// Notes on the answer, in sentences: that another model answered as a fallback, that footnotes cited no passage,
	// that a sum is wrong or was not calculated, that sentences are unsupported, why the confidence is 0.
	Notes []string `json:"notes,omitempty"`
	// For translations: the forms of notes with values.
	Forms locale.Forms `json:"forms,omitempty"`
	// Up to three suggested follow-up questions.
	FollowUps []string `json:"follow_ups,omitempty"`
}

// Finding classifies the quotes of an answer. agent/llm/offline decides it by a measured share; docs/quality.md has
// the figures.
//
//api:open
type Finding string

// The findings.
const (
	FindingFound   Finding = "found"   // they probably contain the answer
	FindingClosest Finding = "closest" // they are the closest passages and may not contain it
)

// Reset tells a reader to start over: its position is beyond the log's end. Last is the log's last sequence number.
type Reset struct {
	Last int64 `json:"last"` // The sequence number of the log's last event.
}

// RunStatus is the state of a run. A run is interrupted if its server stops before the answer is complete; its user
// may continue it.
type RunStatus string

// The states of a run; all but RunRunning are final.
const (
	RunRunning                  RunStatus = "running"
	RunCompleted                RunStatus = "completed"
	RunCancelled                RunStatus = "cancelled"
	RunFailed                   RunStatus = "failed"
	RunInterrupted              RunStatus = "interrupted"
	RunGuardrailTriggered       RunStatus = "guardrail_triggered"
	RunCitationValidationFailed RunStatus = "citation_validation_failed"
)

// RunDone is always the last event of a run.
type RunDone struct {
	Status RunStatus  `json:"status"`
	Error  *StepError `json:"error,omitempty"`

	// Calls to search and read tools.
	//
	// Only those charged to the budget.
	RetrievalCalls int `json:"retrieval_calls,omitempty"`
	// for a run without an answer, as in Answer, like the next two
	StepsUsed int      `json:"steps_used,omitempty"`
	Tokens    *Tokens  `json:"tokens,omitempty"`
	Cost      *float64 `json:"cost,omitempty"`
}

// Kind returns KindRunStarted.
func (RunStarted) Kind() Kind { return KindRunStarted }

// Kind returns KindReasoningStep.
func (Step) Kind() Kind { return KindReasoningStep }

// Kind returns KindAnswerDelta.
func (AnswerDelta) Kind() Kind { return KindAnswerDelta }

// Kind returns KindAnswerReset.
func (AnswerReset) Kind() Kind { return KindAnswerReset }

// Kind returns KindCitation.
func (Citation) Kind() Kind { return KindCitation }

// Kind returns KindAnswer.
func (Answer) Kind() Kind { return KindAnswer }

// Kind returns KindReset.
func (Reset) Kind() Kind { return KindStartOver }

// Kind returns KindRunDone.
func (RunDone) Kind() Kind { return KindRunDone }
