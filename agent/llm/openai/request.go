package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
	"github.com/footnote/footnote/text/lazy"
)

// serverFeatures are the features of a server, learnt from its refusals. Each flag changes from false to true only,
// except newTokenLimit and sendReasoning, whose defaults are guessed from the URL and may be inverted.
type serverFeatures struct {
	noUsage         bool // it does not support stream_options
	newTokenLimit   bool // it requires max_completion_tokens instead of max_tokens
	noTemperature   bool
	noSeed          bool
	noLogprobs      bool
	noToolChoice    bool
	sendReasoning   bool // it requires its reasoning back
	wantsSignatures bool // it requires a thought signature with each turn's first call
	tellsReading    bool // it is llama.cpp's, which reports the prompt progress on request
}

// learntFeatures holds a server's features for the life of the process. It is safe for concurrent use. A request is
// encoded with a snapshot of them, and its refusal is compared with that snapshot, so that each of several concurrent
// refusals is learnt.
type learntFeatures struct {
	mu       sync.Mutex
	features serverFeatures
}

func (l *learntFeatures) load() serverFeatures {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.features
}

func (l *learntFeatures) learn(lesson func(*serverFeatures)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lesson(&l.features)
}

var (
	reasoningField = lazy.Regexp(`(?i)reasoning(_content)?`)
	// servers whose models continue their reasoning in a turn with tools
	wantsReasoning = lazy.Regexp(`deepseek\.com|moonshot\.(ai|cn)`)
	refusedField   = lazy.Regexp(
		`(?i)unsupported|unrecognized|unknown|not support|not permitted|extra|invalid|unexpected|must be ` +
			`passed|missing|required|only the default`,
	)
)

// correctionFor returns the change of features that follows from a refused request, or nil if no field was refused.
// These h is the snapshot that the request was encoded with. It parses the error message, since servers share no
// error code for it. The message must be about a field (refusedField) that the request has, or a retry would be the
// same. If it names several fields, the first of these cases is tried first.
func (h serverFeatures) correctionFor(e *llm.Error, req llm.Request) (lesson func(*serverFeatures)) {
	if e.Kind != llm.KindInvalid || e.Err == nil {
		return nil
	}
	text := e.Err.Error()
	if !refusedField().MatchString(text) {
		return nil
	}
	had := false
	switch {
	case strings.Contains(text, "stream_options"):
		had, lesson = !h.noUsage, func(now *serverFeatures) { now.noUsage = true }
	case strings.Contains(text, "max_completion_tokens"), strings.Contains(text, "max_tokens"):
		had, lesson = req.MaxTokens > 0, func(now *serverFeatures) { now.newTokenLimit = !h.newTokenLimit }
	case strings.Contains(text, "temperature"):
		had, lesson = req.Temperature != nil && !h.noTemperature, func(now *serverFeatures) { now.noTemperature = true }
	case strings.Contains(text, "tool_choice"):
		had, lesson = req.NoTools && !h.noToolChoice, func(now *serverFeatures) { now.noToolChoice = true }
	case strings.Contains(text, "logprobs"):
		had, lesson = req.TopLogprobs > 0 && !h.noLogprobs, func(now *serverFeatures) { now.noLogprobs = true }
	case strings.Contains(text, "seed"):
		had, lesson = req.Seed != nil && !h.noSeed, func(now *serverFeatures) { now.noSeed = true }
	case strings.Contains(text, "thought_signature"):
		had, lesson = !h.wantsSignatures, func(now *serverFeatures) { now.wantsSignatures = true }
	case reasoningField().MatchString(text):
		had, lesson = hasReasoning(req.Messages), func(now *serverFeatures) { now.sendReasoning = !h.sendReasoning }
	}
	if !had {
		return nil
	}
	return lesson
}

// refusedOptions returns notices about options of a request that the server refuses.
func (h serverFeatures) refusedOptions(model string, req llm.Request) (notices []llm.Notice) {
	if req.Seed != nil && h.noSeed {
		notices = append(
			notices, llm.Notice(model+" does not support a seed: the seed was ignored"),
		)
	}
	if req.Temperature != nil && !req.DefaultTemperature && h.noTemperature {
		notices = append(notices, llm.Notice(model+" does not support a temperature: the temperature was ignored"))
	}
	return notices
}

// hasReasoning reports whether any message of a history has reasoning.
func hasReasoning(history []llm.Message) bool {
	for _, msg := range history {
		if msg.Reasoning != "" {
			return true
		}
	}
	return false
}

// wireRequest is a chat request. It is encoded by encoding/json instead of the SDK's types. These encode each
// message again at every level and take eight times as long for a run's history.
type wireRequest struct {
	Model               string         `json:"model"`
	Stream              bool           `json:"stream"`
	Messages            []wireMessage  `json:"messages"`
	ToolChoice          string         `json:"tool_choice,omitempty"`
	Temperature         *float64       `json:"temperature,omitempty"`
	Seed                *int64         `json:"seed,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	ReturnProgress      bool           `json:"return_progress,omitempty"`
	Logprobs            bool           `json:"logprobs,omitempty"`
	TopLogprobs         int            `json:"top_logprobs,omitempty"`
}

// streamOptions requests the token usage at the end of a stream.
type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// wireMessage is a message in OpenAI's format.
type wireMessage struct {
	Role      llm.Role   `json:"role"`
	Content   *string    `json:"content"` // null for calls without text
	Calls     []wireCall `json:"tool_calls,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
}

// wireCall is a tool call in a message of the assistant.
type wireCall struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function wireFunction    `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"`
}

// noSignature is Gemini's placeholder for the signature of a call that it did not make, or whose signature is lost.
const noSignature = "skip_thought_signature_validator"

// wireFunction is the function of a call, with the arguments as encoded JSON.
type wireFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// requestBody encodes a request for a server with these features. If the server does not support tool_choice, a
// NoTools request has no tools. The result may end with a line feed, which JSON allows.
func (m *Model) requestBody(req llm.Request, h serverFeatures) ([]byte, error) {
	history := httpllm.Repair(req.Messages)
	w := wireRequest{Model: m.name, Stream: true, Messages: make([]wireMessage, len(history))}
	for i := range history {
		w.Messages[i] = h.wireMessage(&history[i])
	}
	tools := req.Tools
	if req.NoTools && h.noToolChoice {
		tools = nil
	}
	if len(tools) > 0 && req.NoTools {
		w.ToolChoice = "none"
	}
	w.ReturnProgress = h.tellsReading
	if !h.noTemperature {
		w.Temperature = req.Temperature
	}
	if !h.noSeed {
		w.Seed = req.Seed
	}
	if req.TopLogprobs > 0 && !h.noLogprobs {
		w.Logprobs, w.TopLogprobs = true, req.TopLogprobs
	}
	if h.newTokenLimit {
		w.MaxCompletionTokens = req.MaxTokens
	} else {
		w.MaxTokens = req.MaxTokens
	}
	if !h.noUsage {
		w.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	var out bytes.Buffer
	out.Grow(sizeOf(history, tools))
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(w); err != nil {
		return nil, err
	}
	if len(tools) > 0 {
		out.Truncate(out.Len() - len("}\n"))
		if err := m.writeTools(&out, tools); err != nil {
			return nil, err
		}
		out.WriteByte('}')
	}
	return out.Bytes(), nil
}

// sizeOf estimates the size of a request, so that its buffer need not grow: a run's third request has tens of
// thousands of bytes. An estimate that is too small only costs a copy.
func sizeOf(history []llm.Message, tools []llm.ToolSpec) int {
	size := 1024
	for i := range history {
		size += 128 + len(history[i].Text) + len(history[i].Text)/16 // escapes
		for _, call := range history[i].Calls {
			size += 128 + len(call.Arguments)*5/4
		}
	}
	for i := range tools {
		size += 128 + len(tools[i].Description) + len(tools[i].Schema)
	}
	return size
}

// writeTools appends the tool definitions as the object's last field. They are already encoded: as a part of
// wireRequest they would be parsed again in every turn.
func (m *Model) writeTools(out *bytes.Buffer, specs []llm.ToolSpec) error {
	out.WriteString(`,"tools":[`)
	for i, spec := range specs {
		if i > 0 {
			out.WriteByte(',')
		}
		tool, err := m.encodeTool(spec)
		if err != nil {
			return err
		}
		out.Write(tool)
	}
	out.WriteByte(']')
	return nil
}

// wireMessage converts a message. Reasoning is included only for servers that require it
// (serverFeatures.sendReasoning).
func (h serverFeatures) wireMessage(msg *llm.Message) wireMessage {
	w := wireMessage{Role: msg.Role, Content: &msg.Text, CallID: msg.CallID}
	if h.sendReasoning {
		w.Reasoning = msg.Reasoning
	}
	if len(msg.Calls) == 0 {
		return w
	}
	if msg.Text == "" {
		w.Content = nil
	}
	w.Calls = make([]wireCall, len(msg.Calls))
	for i, call := range msg.Calls {
		arguments := string(call.Arguments)
		if arguments == "" {
			arguments = "{}"
		}
		w.Calls[i] = wireCall{
			ID: call.ID, Type: "function", Function: wireFunction{Name: call.Name, Arguments: arguments},
			Extra: call.Extra,
		}
		if h.wantsSignatures && i == 0 && call.Extra == nil {
			w.Calls[i].Extra = json.RawMessage(`{"google":{"thought_signature":"` + noSignature + `"}}`)
		}
	}
	return w
}

// encodeTool returns a tool's cached definition. A name may have another description or schema in a later request,
// so both are compared.
func (m *Model) encodeTool(spec llm.ToolSpec) (json.RawMessage, error) {
	if known, ok := m.tools.Load(spec.Name); ok {
		if d := known.(*definition); d.description == spec.Description && bytes.Equal(d.schema, spec.Schema) {
			return d.encoded, nil
		}
	}
	var schema shared.FunctionParameters
	if err := json.Unmarshal(spec.Schema, &schema); err != nil && len(spec.Schema) > 0 {
		return nil, fmt.Errorf("the schema of %s: %w", spec.Name, err)
	}
	encoded, err := json.Marshal(sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: spec.Name, Description: param.NewOpt(spec.Description), Parameters: schema,
	}))
	if err != nil {
		return nil, fmt.Errorf("the definition of %s: %w", spec.Name, err)
	}
	m.tools.Store(spec.Name, &definition{spec.Description, spec.Schema, encoded})
	return encoded, nil
}

// definition is a cached encoding of a tool.
type definition struct {
	description string
	schema      []byte
	encoded     json.RawMessage
}
