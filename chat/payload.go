package chat

import (
	"encoding/json"
	"strconv"
)

// RunStarted is a run's first event.
type RunStarted struct {
	SessionID string `json:"session_id"`
	Question  string `json:"question"`
	Model     string `json:"model"`
	Mode      Mode   `json:"mode"`
	Toolset   string `json:"toolset"`
	Budget    Budget `json:"budget"`
}

// Mode says where an answer may come from.
type Mode string

// The modes: every document in scope, or only the context_text that came with the question.
const (
	ModeFullBook           Mode = "full_book"
	ModeContextConstrained Mode = "context_constrained"
)

// MostTurnsOrCalls bounds two budgets of a run: its turns of the model, and its calls that search or read.
const MostTurnsOrCalls = 50

// Budget bounds a run. A spent budget forces an answer from what there is. A request may raise the first two above the
// server's settings; time and tokens are the server's alone (budgetOf in agent/run).
type Budget struct {
	Steps          int `json:"steps"`           // turns of the model, not steps of the timeline
	RetrievalCalls int `json:"retrieval_calls"` // calls of tools that search or read
	Seconds        int `json:"seconds"`
	Tokens         int `json:"tokens"`
}

// Status is the state of a step. A pending call waits for a person's approval, a skipped one was denied or can't be
// made; neither has run. The parts of a plan use the same words.
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

// Action groups steps by what they do, for people and for icons. A tool names the action itself, so the page knows no
// list of tools.
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

// Step is one state of one reasoning step: a tool call or a phase. A tool call is emitted twice with one CallID, before
// and after. Phases use the same event without the tool fields. The later state replaces the earlier; what it leaves
// out (title, thought, parent, input) is taken over by Transcript.AddStep, so the second event is small.
type Step struct {
	CallID     string          `json:"call_id"`
	ParentID   string          `json:"parent_id,omitempty"` // the step that groups parallel calls
	Step       string          `json:"step"`                // tool or phase name
	ActionType Action          `json:"action_type"`
	Message    string          `json:"message"` // for people: "Searching for: roof" → "Found 3 documents"
	Title      string          `json:"title,omitempty"`
	Thought    string          `json:"thought,omitempty"`
	Timestamp  float64         `json:"timestamp"` // Unix seconds with fraction
	ToolName   string          `json:"tool_name,omitempty"`
	ToolInput  json.RawMessage `json:"tool_input,omitempty"`  // an object
	ToolOutput json.RawMessage `json:"tool_output,omitempty"` // an object; {"error": …} when the tool failed
	Status     Status          `json:"status"`
	ToolStatus Status          `json:"tool_status"` // always equal to Status
	Summary    string          `json:"summary,omitempty"`
	DurationMS int64           `json:"duration_ms"`
	OutputSize int             `json:"output_bytes"`
	Truncated  bool            `json:"truncated,omitempty"` // ToolOutput is cut; Full has all of it
	Cached     bool            `json:"cached,omitempty"`
	Tokens     *Tokens         `json:"tokens,omitempty"`
	Cost       *float64        `json:"cost,omitempty"` // of Tokens, when the model has a price
	Error      *StepError      `json:"error,omitempty"`
	Details    map[string]any  `json:"details"`

	// Capability is what the tool is for; empty for a phase and for tools of other servers.
	Capability Capability `json:"capability,omitempty"`
	// Label says what the tool does; nil where the message does.
	Label *Label `json:"label,omitempty"`
	// Result is what the call came to, once it is over.
	Result *StepResult `json:"result,omitempty"`

	// Full is the whole tool output when Truncated. The store keeps it beside the log (Store.StepOutput); it is not
	// in the event.
	Full json.RawMessage `json:"-"`

	// Acts says that the call may change something outside: once an Append of its beginning has returned, that
	// survives power loss. It is not in the event.
	Acts bool `json:"-"`
}

// Begins reports whether a call that may change something begins with this step. Stores wait for the disk for such an
// append: a crash that took it back would have the tool called twice (docs/decisions.md, “Events, runs and replicas”).
func (s Step) Begins() bool { return s.Acts && s.Status == StatusRunning }

// StepError says why a step failed.
type StepError struct {
	Code      Code   `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// Tokens counts what went to a model and came from it.
type Tokens struct {
	In  int `json:"in"`
	Out int `json:"out"`
}

// AnswerDelta is the next piece of the answer's Markdown. Deltas are merged before they are stored.
type AnswerDelta struct {
	Text string `json:"text"`
}

// AnswerReset says that the text since the last reset was a thought: it belongs to the step CallID, and its citation
// numbers are free again. A model may write words before it decides to call a tool: what looked like an answer was then
// the reason for the call.
type AnswerReset struct {
	CallID string `json:"call_id"`
}

// Check says how well a quote was found in the stored text. package ground computes it with corpus/quote.
type Check string

// The results of a quote check.
const (
	CheckVerified    Check = "verified"    // word for word
	CheckApproximate Check = "approximate" // one contiguous run at least 85 % alike
	CheckNotFound    Check = "not_found"   // Start and End are 0, Quote is empty
)

// Box is a rectangle on a page: [page, x0, y0, x1, y1], page from 1, coordinates 0–1 of the page from the top left.
// Fractions of the page need no unit and fit every size at which a page is drawn.
type Box [5]float64

// Citation ties a number of the answer to words of a document. It precedes the delta that holds its "[". It has all
// that a footnote needs, so that an answer can still be shown after its document is gone.
type Citation struct {
	Number     int    `json:"number"`
	DocumentID string `json:"document_id"`
	ChunkID    string `json:"chunk_id"`
	BlockID    string `json:"block_id"`
	Title      string `json:"title"`
	Filename   string `json:"filename,omitempty"`
	SourceURL  string `json:"source_url,omitempty"` // where the document is on the web
	Section    string `json:"section"`              // heading path, joined by " › "
	Page       int    `json:"page,omitempty"`
	Place      string `json:"place,omitempty"`   // in words, see corpus.Place; earlier versions left it out
	Quote      string `json:"quote"`             // always the stored slice text[start:end]
	Claimed    string `json:"claimed,omitempty"` // the model's wording, when it gave one
	// Matched are words of the quote that the question asks with, as they stand there; only of answers that are quotes.
	Matched []string `json:"matched,omitempty"`
	Start   int      `json:"start"` // rune offsets in the document's text
	End     int      `json:"end"`
	Boxes   []Box    `json:"boxes"`
	URL     string   `json:"url"` // /d/{id}?c={run}.{number}
	Check   Check    `json:"check"`
	Score   float64  `json:"score"`  // 0–1
	SHA256  string   `json:"sha256"` // of the document version the offsets belong to
}

// PlaceWords is the place in words, empty without one.
func (c Citation) PlaceWords() string {
	if c.Place == "" && c.Page > 0 {
		return "p. " + strconv.Itoa(c.Page)
	}
	return c.Place
}

// Source is one document behind an answer, cited or only read.
type Source struct {
	Number     int    `json:"number"` // of its first citation; 0 when not cited
	DocumentID string `json:"document_id"`
	Title      string `json:"title"`
	Filename   string `json:"filename,omitempty"`
	SourceURL  string `json:"source_url,omitempty"` // where the document is on the web
	Section    string `json:"section"`
	URL        string `json:"url"`
	Cited      bool   `json:"cited"`
}

// Coverage says what a run looked at. An empty search is a finding as well: it tells a reader where nothing was.
type Coverage struct {
	Searched      int      `json:"searched"` // documents in scope of the searches; 0 when none was completed
	Opened        int      `json:"opened"`
	PagesRead     int      `json:"pages_read"`
	EmptySearches []string `json:"empty_searches"`
}

// StopReason says why an agent stopped working and answered. It is no failure: a run that fails has a RunDone with an
// error and may have no Answer at all.
type StopReason string

// The reasons to stop.
const (
	StopAnswered          StopReason = "answered"
	StopAnswerNow         StopReason = "answer_now"
	StopMaxSteps          StopReason = "max_steps"
	StopMaxRetrievalCalls StopReason = "max_retrieval_calls"
	StopMaxTokens         StopReason = "max_tokens"     // the run's budget of tokens is spent
	StopUnusableCalls     StopReason = "unusable_calls" // the model's calls could not be read, again and again
	StopTimeout           StopReason = "timeout"
	StopRefused           StopReason = "refused"
)

// Answer is the whole answer. Everything shown about it later is made from this event and the citations.
type Answer struct {
	Markdown  string     `json:"answer"`
	Citations []Citation `json:"citations"`
	Sources   []Source   `json:"sources"`
	// sentences that the passages behind their citations don't support, and factual ones without a citation that
	// nothing else supports. They come without their [N].
	Unsupported []string `json:"unsupported"`
	// 0–1: the share of the factual sentences that are supported. Quotes that are not word for word take up to a
	// fifth off. Without quotes the whole fifth is off, sentences are compared with the given text, the conversation,
	// what tools returned or the passages, and one in another language counts half.
	Confidence     float64    `json:"confidence"`
	SelfEvaluation string     `json:"self_evaluation,omitempty"`
	Coverage       Coverage   `json:"coverage"`
	StepsUsed      int        `json:"steps_used"`
	Tokens         Tokens     `json:"tokens"`
	Cost           *float64   `json:"cost,omitempty"`
	LatencyMS      int64      `json:"latency_ms"`
	StopReason     StopReason `json:"stop_reason"`
	// Finding says of an answer made of quotes alone whether they are likely to answer; empty of other answers.
	Finding   Finding  `json:"finding,omitempty"`
	Notes     []string `json:"notes,omitempty"`      // what there is to know about the answer, in sentences
	FollowUps []string `json:"follow_ups,omitempty"` // up to 3 questions made from what was read
}

// Finding says what the quotes of an answer are. llm/offline decides it by a measured share; docs/quality.md has the
// figures.
type Finding string

// The findings.
const (
	FindingFound   Finding = "found"   // they are likely to hold what was asked
	FindingClosest Finding = "closest" // they are the closest there is, and may not answer
)

// Reset tells a reader that its position is beyond the end: start over. Last is the log's last number.
type Reset struct {
	Last int64 `json:"last"`
}

// RunStatus is the state of a run. A run is interrupted when its server is stopped before the answer is done; its user
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

	// calls that were charged to the budget of searches and readings
	RetrievalCalls int `json:"retrieval_calls,omitempty"`
	// of a run without an answer, as Answer has them, and so are the next two
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
