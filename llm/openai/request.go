package openai

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync/atomic"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"footnote/llm"
)

// habits is what was learnt about the server from its refusals.
type habits struct {
	noUsage       atomic.Bool // it does not take stream_options
	newTokenLimit atomic.Bool // it takes max_completion_tokens, not max_tokens
	noTemperature atomic.Bool
	noSeed        atomic.Bool
	noToolChoice  atomic.Bool
	sendReasoning atomic.Bool // it wants its reasoning back
}

var (
	reasoningField = regexp.MustCompile(`(?i)reasoning(_content)?`)
	refusedField   = regexp.MustCompile(`(?i)unsupported|unrecognized|unknown|not support|not permitted|extra|invalid|unexpected|must be passed|missing|required|only the default`)
)

// learn looks for a field that the server refused in a request; true means that the request may pass now.
func (h *habits) learn(e *llm.Error, req llm.Request) bool {
	if e.Kind != llm.KindInvalid || e.Err == nil {
		return false
	}
	text := e.Err.Error()
	if !refusedField.MatchString(text) {
		return false
	}
	set := func(b *atomic.Bool) bool { return !b.Swap(true) }
	switch {
	case strings.Contains(text, "stream_options"):
		return set(&h.noUsage)
	case strings.Contains(text, "max_completion_tokens"), strings.Contains(text, "max_tokens"):
		return req.MaxTokens > 0 && flip(&h.newTokenLimit)
	case strings.Contains(text, "temperature"):
		return req.Temperature != nil && set(&h.noTemperature)
	case strings.Contains(text, "tool_choice"):
		return req.NoTools && set(&h.noToolChoice)
	case strings.Contains(text, "seed"):
		return req.Seed != nil && set(&h.noSeed)
	case reasoningField.MatchString(text):
		return hasReasoning(req.Messages) && flip(&h.sendReasoning)
	}
	return false
}

func flip(b *atomic.Bool) bool {
	was := b.Load()
	return b.CompareAndSwap(was, !was)
}

func hasReasoning(history []llm.Message) bool {
	for _, msg := range history {
		if msg.Reasoning != "" {
			return true
		}
	}
	return false
}

// params makes the SDK's request.
func (m *Model) params(req llm.Request) sdk.ChatCompletionNewParams {
	history := repair(req.Messages)
	p := sdk.ChatCompletionNewParams{Model: m.name, Messages: make([]sdk.ChatCompletionMessageParamUnion, 0, len(history))}
	for _, msg := range history {
		p.Messages = append(p.Messages, m.message(msg))
	}
	if len(req.Tools) > 0 && !(req.NoTools && m.habits.noToolChoice.Load()) {
		p.Tools = make([]sdk.ChatCompletionToolUnionParam, 0, len(req.Tools))
		for _, spec := range req.Tools {
			p.Tools = append(p.Tools, m.tool(spec))
		}
		if req.NoTools {
			p.ToolChoice.OfAuto = param.NewOpt("none")
		}
	}
	if req.Temperature != nil && !m.habits.noTemperature.Load() {
		p.Temperature = param.NewOpt(*req.Temperature)
	}
	if req.Seed != nil && !m.habits.noSeed.Load() {
		p.Seed = param.NewOpt(*req.Seed)
	}
	if req.MaxTokens > 0 {
		if m.habits.newTokenLimit.Load() {
			p.MaxCompletionTokens = param.NewOpt(int64(req.MaxTokens))
		} else {
			p.MaxTokens = param.NewOpt(int64(req.MaxTokens))
		}
	}
	if !m.habits.noUsage.Load() {
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	return p
}

func (m *Model) message(msg llm.Message) sdk.ChatCompletionMessageParamUnion {
	switch msg.Role {
	case llm.RoleSystem:
		return sdk.SystemMessage(msg.Text)
	case llm.RoleTool:
		return sdk.ToolMessage(msg.Text, msg.CallID)
	case llm.RoleAssistant:
		return m.assistant(msg)
	default:
		return sdk.UserMessage(msg.Text)
	}
}

func (m *Model) assistant(msg llm.Message) sdk.ChatCompletionMessageParamUnion {
	var p sdk.ChatCompletionAssistantMessageParam
	if msg.Text != "" {
		p.Content.OfString = param.NewOpt(msg.Text)
	}
	for _, call := range msg.Calls {
		arguments := string(call.Arguments)
		if arguments == "" {
			arguments = "{}"
		}
		p.ToolCalls = append(p.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
			ID: call.ID, Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: arguments},
		}})
	}
	if msg.Reasoning != "" && m.habits.sendReasoning.Load() {
		p.SetExtraFields(map[string]any{"reasoning_content": msg.Reasoning})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &p}
}

// tool returns a tool's definition, encoded once for all requests.
func (m *Model) tool(spec llm.ToolSpec) sdk.ChatCompletionToolUnionParam {
	key := spec.Name + "\x00" + spec.Description + "\x00" + string(spec.Schema)
	if known, ok := m.tools.Load(key); ok {
		return known.(sdk.ChatCompletionToolUnionParam)
	}
	var schema shared.FunctionParameters
	if json.Unmarshal(spec.Schema, &schema) != nil {
		schema = shared.FunctionParameters{"type": "object"}
	}
	encoded, err := json.Marshal(sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: spec.Name, Description: param.NewOpt(spec.Description), Parameters: schema,
	}))
	if err != nil {
		return sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: spec.Name})
	}
	tool := param.Override[sdk.ChatCompletionFunctionToolParam](json.RawMessage(encoded))
	union := sdk.ChatCompletionToolUnionParam{OfFunction: &tool}
	m.tools.Store(key, union)
	return union
}
