// Package llm is the interface to language models: requests, streamed parts of replies, and errors. A Model turns a
// Request into a stream of Parts that ends with Done or with an *Error. Its adapters are in the packages below it.
// openai and anthropic are clients of servers, and httpllm has their shared code. textcalls adds tools to models
// without native tool calls. offline needs no server. Package llm imports none of them.
//
// To read a stream, range over its pairs, switch on the type of each Part, and stop at the first error. Never run a
// Call or use text as an answer before Done: until then, a truncated reply looks like a short one.
package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
)

// Model answers requests as streams. It is safe for concurrent use.
type Model interface {
	// Name returns the model's display name, like "gpt-4.1-mini" or "offline".
	Name() string

	// Stream sends req and yields the reply's parts as they arrive, see Part. A stream that ends without Done yields
	// an error as its last pair, always an *Error. A reply is complete only if the server has signalled its end.
	// Cancelling ctx or stopping the iteration closes the connection.
	Stream(ctx context.Context, req Request) iter.Seq2[Part, error]
}

// Role is the author of a message.
type Role string

// The roles of messages.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of the history.
type Message struct {
	Role      Role
	Text      string
	Calls     []Call // of an assistant
	CallID    string // of a tool's result: the call that it belongs to
	Reasoning string // of an assistant, raw; sent back only if the provider requires it
	Signature string // of an assistant: the provider's signature of the reasoning
	// of a user message: it is the program's, not a question; it withdraws the reply before it
	Aside bool
}

// Names of documents for text that was sent with a question, in a call of the program that reads it.
const (
	GivenDocument = "context"       // the answer may use only this text
	AddedDocument = "added_context" // used in addition to the library
)

// ChosenDocument begins the line of a system message that names the one document that a question is limited to, by
// its doc_id.
const ChosenDocument = "The user asks about one document only, with the doc_id "

// Call is a tool call. Arguments is a JSON object, or Malformed is the reason why it is not and the call must not
// run. The name is unnormalised and may need ToolNamed. Malformed is for the model, which reads it as the call's
// result and may retry.
type Call struct {
	ID        string
	Name      string
	Arguments json.RawMessage
	Malformed string // empty for a valid call
	// JSON that the provider sent with the call and requires back with it; nil if none
	Extra json.RawMessage
}

// ToolSpec describes a tool to a model. Adapters may cache its encoding by name, and compare description and schema
// to validate the cache.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, which are an object
}

// Request is one turn to complete. Models never modify it, so it can be sent again.
type Request struct {
	Messages    []Message
	Tools       []ToolSpec
	NoTools     bool // tools are described, but the reply must be text: an exhausted budget forces the answer
	Temperature *float64
	// the temperature is a default: a model that does not support it sends no Notice
	DefaultTemperature bool
	MaxTokens          int // 0: the provider's default
	Seed               *int64
	TopLogprobs        int // number of alternatives of the reply's first token in Done.First; 0: none
}

// Part is a part of a reply. Text, Quoted, Reasoning and Signature come in any number as they arrive, at most one
// Rethought, and each Call when it is complete. Exactly one Done comes at the end. Notices and Dropped come anywhere
// before Done, Readings before all other parts.
type Part interface{ part() }

// Text is the next chunk of the visible reply.
type Text string

// Quoted is a footnote in the visible reply, from a model that knows which words of a passage support the text
// before it. Other models write footnotes as text, and the words are searched.
type Quoted struct {
	Passage int      // its number n
	Words   string   // exactly as in the passage
	Matched []string // those of its words that match the question, as in the passage
}

// Marker returns the footnote marker as models write it in text.
func (q Quoted) Marker() string { return "[" + strconv.Itoa(q.Passage) + "]" }

// Reasoning is the next chunk of the model's reasoning, which is not part of the reply.
type Reasoning string

// Rethought marks all Text so far as reasoning: the reply begins after it. If a template writes the opening tag of a
// thought into the prompt, the reply has only the closing one: docs/decisions/model-servers.md.
type Rethought struct{}

// Signature is an opaque value that the provider requires back with the reasoning in the next turn of the same
// question.
type Signature string

// Notice is a message for users about an adapter's workaround. It is not part of the reply and may come anywhere
// before Done.
type Notice string

// Reading is the progress of reading the prompt, 0–1, if the server reports it.
type Reading float64

// Dropped is text that was removed from the reply, such as a turn in the user's name. Consecutive chunks with the
// same Message form one text.
type Dropped struct {
	Text    string
	Message string // describes the removed text and the reason, for users
}

// DroppedCall returns the Dropped part of a call that must not run.
func DroppedCall(c Call) Dropped {
	return Dropped{
		Text: c.Name + " " + string(c.Arguments) + "\n", Message: "Removed tool calls that are not allowed",
	}
}

// Finish is the reason why a reply ended. Servers use more values; each adapter maps them (finishKind, finishOf).
type Finish string

// The values of Finish.
const (
	FinishStop    Finish = "stop"
	FinishCalls   Finish = "tool_calls"
	FinishLength  Finish = "length" // cut off at the token limit: no call of this turn may run
	FinishFilter  Finish = "content_filter"
	FinishRefusal Finish = "refusal"
	FinishOther   Finish = "other"
)

// Done ends a reply.
type Done struct {
	Finish Finish
	Usage  *Usage // nil if the provider did not report it
	Found  *Found // of a model that only quotes; nil: the reply is not made of quotes
	// First holds the most likely first tokens of the reply, for a request with TopLogprobs. nil: the server
	// returned none.
	First []Logprob
}

// Logprob is a token with the natural logarithm of its probability.
type Logprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
}

// Found is the quality of the quotes of a model that only quotes.
type Found struct {
	Sure   float64 // 0–1: the measured share of such replies whose quotes contain the answer
	Likely bool    // the quotes probably contain the answer; else they are the closest passages
}

// Usage counts tokens as the provider reports them, with its own tokeniser. In includes cached tokens of the prompt.
type Usage struct{ In, Out int }

func (Text) part()      {}
func (Quoted) part()    {}
func (Reasoning) part() {}
func (Rethought) part() {}
func (Call) part()      {}
func (Done) part()      {}
func (Dropped) part()   {}
func (Notice) part()    {}
func (Reading) part()   {}
func (Signature) part() {}

// topLogprobs is the number of requested alternatives of a first token. OpenAI returns at most 20.
const topLogprobs = 20

// Verdict is a model's reply to a yes-or-no question.
type Verdict struct {
	Yes   bool
	Odds  float64 // log P(yes) − log P(no) of the first token; 0 unless Known
	Known bool    // the server returned log-probabilities
	Usage *Usage  // nil if the provider did not report it
}

// AskYesNo asks a model a yes-or-no question, at temperature 0 and with one token. The verdict follows from the
// log-probabilities; a word that is not among the alternatives gets the probability of the least likely one. Without
// log-probabilities the token itself decides. A reply that is neither yes nor no is an error, with the usage set.
func AskYesNo(ctx context.Context, m Model, messages []Message) (v Verdict, err error) {
	var said strings.Builder
	var done *Done
	for part, err := range m.Stream(ctx, Request{
		Messages: messages, NoTools: true, Temperature: new(float64), DefaultTemperature: true, MaxTokens: 1,
		TopLogprobs: topLogprobs,
	}) {
		if err != nil {
			return Verdict{}, err
		}
		switch p := part.(type) {
		case Text:
			said.WriteString(string(p))
		case Done:
			done = &p
		}
	}
	if done == nil {
		return Verdict{}, &Error{Kind: KindIncomplete, Message: "The model's reply was cut off."}
	}
	v.Usage = done.Usage
	if v.Odds, v.Known = yesNoOdds(done.First); v.Known {
		v.Yes = v.Odds > 0
		return v, nil
	}
	switch yesNoOf(said.String()) {
	case "yes":
		v.Yes = true
		return v, nil
	case "no":
		return v, nil
	}
	return v, fmt.Errorf("the model answered %.40q to a question that asks for yes or no", said.String())
}

// yesNoOdds returns log P(yes) − log P(no) from the alternatives of a token. known is false if neither is among
// them.
func yesNoOdds(first []Logprob) (odds float64, known bool) {
	var yes, no float64
	least := 0.0
	for _, alternative := range first {
		switch yesNoOf(alternative.Token) {
		case "yes":
			yes += math.Exp(alternative.Logprob)
		case "no":
			no += math.Exp(alternative.Logprob)
		}
		least = min(least, max(alternative.Logprob, leastLogprob))
	}
	if yes == 0 && no == 0 {
		return 0, false
	}
	unlisted := math.Exp(least)
	return math.Log(max(yes, unlisted)) - math.Log(max(no, unlisted)), true
}

// leastLogprob is the lower bound of log-probabilities: servers encode that of an impossible token as −9999 or −Inf.
const leastLogprob = -20

// yesNoOf normalises a token to "yes" or "no", in any case and with punctuation around it.
func yesNoOf(token string) string {
	return strings.ToLower(strings.Trim(token, " \t\r\n.,:;!*_\"'`▁Ġ"))
}
