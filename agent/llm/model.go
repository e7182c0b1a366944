// Package llm is the port to language models: what a request is, which parts a reply streams, and how a failure is
// told. A Model turns a Request into a stream of Parts that ends with Done or with an *Error. Its adapters are in the
// packages below it: openai and anthropic speak to servers (httpllm holds what both share), textcalls adds tools to
// models without tool calls of their own, offline needs no server. Package llm knows none of them.
//
// Reading a Stream: range over its pairs, take each Part by its type, stop at the first error. What a caller must not
// do is to run a Call, or to take text as an answer, before Done came: a reply that was cut off looks like a short one
// until then.
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
	// Name is the model's name for people, like "gpt-4.1-mini" or "offline".
	Name() string

	// Stream sends req and yields the reply's parts as they come, see Part. A stream that ends without Done
	// yields an error as its last pair, always an *Error: a reply is complete only when its end was proved on the
	// wire. Cancelling ctx or stopping the iteration closes the connection.
	Stream(ctx context.Context, req Request) iter.Seq2[Part, error]
}

// Role says who speaks.
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
	CallID    string // of a tool's result: the call it answers
	Reasoning string // of an assistant, raw; sent back only where the provider wants it
	Signature string // of an assistant, what came as one with its reasoning
	// of a user message: the program speaks, not the user, so it is no question; it withdraws the reply before it
	Aside bool
}

// Documents that text sent with a question appears as, in a call of the program's own that reads it.
const (
	GivenDocument = "context"       // the answer may use nothing else
	AddedDocument = "added_context" // it stands beside the library
)

// Call is a tool call. Arguments is a JSON object, or Malformed says why it is not and the call must not run. The name
// is the model's own word and may need ToolNamed. Malformed is written for the model, which reads it as the call's
// result and may call again.
type Call struct {
	ID        string
	Name      string
	Arguments json.RawMessage
	Malformed string // empty for a call that may run
	// The JSON that a provider sent along with the call and wants back with it; nil without any.
	Extra json.RawMessage
}

// ToolSpec describes a tool to a model. Adapters may keep what they encoded of it under its name, and look at
// description and schema to see whether it is still the same.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, an object
}

// Request is one turn to complete. It is never changed by a model, so the same one can be sent again.
type Request struct {
	Messages    []Message
	Tools       []ToolSpec
	NoTools     bool // the tools are described, but the reply must be text: a spent budget forces the answer
	Temperature *float64
	// the temperature is a usual one that nobody asked for: a model that takes none needs not say so
	DefaultTemperature bool
	MaxTokens          int // 0: the provider's default
	Seed               *int64
	TopLogprobs        int // alternatives of the reply's first token that are wanted in Done.First; 0: none
}

// Part is a piece of a reply: any number of Text, Quoted, Reasoning and Signature as they come, at most one Rethought,
// each Call when it is whole (Malformed says why it must not run), exactly one Done last, Notices and Dropped anywhere
// before it, and Readings before all others.
type Part interface{ part() }

// Text is the next piece of the visible reply.
type Text string

// Quoted is a footnote in the visible reply, from a model that knows which words of a passage the text before it
// shows. Other models write footnotes as text, and their words are looked for.
type Quoted struct {
	Passage int      // its number n
	Words   string   // exactly as they stand in the passage
	Matched []string // words among them that the question asks with, as they stand there
}

// Marker is the footnote as models write it in text.
func (q Quoted) Marker() string { return "[" + strconv.Itoa(q.Passage) + "]" }

// Reasoning is the next piece of the model's reasoning, which is not the reply.
type Reasoning string

// Rethought says that all Text so far was reasoning: the reply begins behind it. Where a template writes the opening
// tag of a thought into the prompt, the reply has the closing one alone: docs/decisions/model-servers.md.
type Rethought struct{}

// Signature is what a provider wants back with the reasoning, as it is, in the next turn of the same question.
type Signature string

// Notice tells people what an adapter does about a model's ways. It is no part of the reply and may come at any place
// before Done.
type Notice string

// Reading says how much of the request the model has read, 0–1, where its server tells.
type Reading float64

// Dropped is text that was removed from the reply, such as a turn in the user's name. Consecutive pieces with the same
// Message form one text.
type Dropped struct {
	Text    string
	Message string // the removed text and the reason, for people
}

// DroppedCall returns the Dropped of a call that must not run.
func DroppedCall(c Call) Dropped {
	return Dropped{
		Text: c.Name + " " + string(c.Arguments) + "\n", Message: "Removed calls of tools that may not be made",
	}
}

// Finish says why a reply ended. Servers have more words for it than these; each adapter has a table of them
// (finishKind, finishOf).
type Finish string

// The ends of a reply.
const (
	FinishStop    Finish = "stop"
	FinishCalls   Finish = "tool_calls"
	FinishLength  Finish = "length" // cut at the token limit: no call of this turn may run
	FinishFilter  Finish = "content_filter"
	FinishRefusal Finish = "refusal"
	FinishOther   Finish = "other"
)

// Done ends a reply.
type Done struct {
	Finish Finish
	Usage  *Usage // nil when the provider did not say
	Found  *Found // of a model that only quotes; nil: the reply is no set of quotes
	// First holds the most likely first tokens of the reply, for a request with TopLogprobs. nil: the server tells
	// none.
	First []Logprob
}

// Logprob is a token with the natural logarithm of its probability.
type Logprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
}

// Found is what a model that only quotes knows of its quotes.
type Found struct {
	Sure   float64 // 0–1: the share of such replies whose quotes hold what was asked, as it was measured
	Likely bool    // they are likely to hold it; else they are the closest that there is
}

// Usage counts tokens as the provider reports them. In counts cached tokens of the prompt too. A token is what the
// provider counts; two providers count the same text differently.
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

// topLogprobs is how many alternatives of a first token are asked for. OpenAI returns at most 20.
const topLogprobs = 20

// Verdict is a model's reply to a yes-or-no question.
type Verdict struct {
	Yes   bool
	Odds  float64 // log P(yes) − log P(no) of the first token; 0 unless Known
	Known bool    // the server returned log-probabilities
	Usage *Usage  // nil when the provider did not say
}

// AskYesNo returns the verdict of a model on a question that asks for yes or no, at the temperature 0 and of one token.
// With log-probabilities the verdict follows from them; a word that is not among the alternatives counts as unlikely as
// the least likely of them. Without log-probabilities the word itself decides. A reply that is neither yes nor no is an
// error. The returned usage is also set for such a reply.
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

// yesNoOdds returns log P(yes) − log P(no) from the alternatives of a token. known is false when neither is among them.
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

// leastLogprob is the least log-probability that counts: servers write the one of an impossible token as −9999 or −Inf.
const leastLogprob = -20

// yesNoOf returns "yes" or "no" for a token that says so in any case and with marks around it.
func yesNoOf(token string) string {
	return strings.ToLower(strings.Trim(token, " \t\r\n.,:;!*_\"'`▁Ġ"))
}
