package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
)

// thought is a block of thinking, encoded in a message's Signature and sent back. A block has either the first two
// fields or Redacted. The provider verifies the signature of the thinking, so both are sent unchanged.
type thought struct {
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"` // an encrypted block
}

// requestParams encodes a request by the provider's rules: system messages are separate; consecutive messages of one
// role are merged, so that all results of a turn are in one message; the token limit includes the thinking, so its
// budget is added; and with thinking the temperature is omitted.
func (m *Model) requestParams(req llm.Request) (sdk.MessageNewParams, error) {
	p := sdk.MessageNewParams{Model: sdk.Model(m.name), MaxTokens: int64(req.MaxTokens)}
	if p.MaxTokens == 0 {
		p.MaxTokens = defaultMaxTokens
	}
	history := httpllm.Repair(req.Messages)
	thinks := m.thinking > 0 && canThink(history)
	if thinks {
		p.Thinking = sdk.ThinkingConfigParamOfEnabled(int64(m.thinking))
		p.MaxTokens += int64(m.thinking)
	} else if req.Temperature != nil && !m.noTemperature.Load() {
		p.Temperature = sdk.Float(min(*req.Temperature, 1)) // the provider's maximum
	}
	for _, msg := range history {
		if msg.Role == llm.RoleSystem {
			p.System = append(p.System, sdk.TextBlockParam{Text: msg.Text})
			continue
		}
		blocks, err := blocksOf(msg, thinks)
		if err != nil {
			return p, err
		}
		if len(blocks) == 0 {
			continue
		}
		role := sdk.MessageParamRoleUser
		if msg.Role == llm.RoleAssistant {
			role = sdk.MessageParamRoleAssistant
		}
		// results and the text with them are one message
		if n := len(p.Messages); n > 0 && p.Messages[n-1].Role == role {
			p.Messages[n-1].Content = append(p.Messages[n-1].Content, blocks...)
		} else {
			p.Messages = append(p.Messages, sdk.MessageParam{Role: role, Content: blocks})
		}
	}
	for _, spec := range req.Tools {
		tool, err := toolOf(spec)
		if err != nil {
			return p, err
		}
		p.Tools = append(p.Tools, tool)
	}
	if len(p.Tools) > 0 && req.NoTools {
		p.ToolChoice = sdk.ToolChoiceUnionParam{OfNone: &sdk.ToolChoiceNoneParam{}}
	}
	return p, nil
}

// refusedOptions returns notices about options of a request that the provider does not support.
func (m *Model) refusedOptions(req llm.Request) (notices []llm.Notice) {
	if req.Seed != nil {
		notices = append(
			notices, llm.Notice(m.name+" does not support a seed: the seed was ignored"),
		)
	}
	switch {
	case req.Temperature == nil || req.DefaultTemperature:
	case m.thinking > 0 && canThink(httpllm.Repair(req.Messages)):
		notices = append(
			notices, llm.Notice(m.name+" does not support a temperature with thinking: the temperature was ignored"),
		)
	case *req.Temperature > 1:
		notices = append(notices, llm.Notice(m.name+" supports a temperature of at most 1: 1 was used"))
	}
	return notices
}

// canThink reports whether all calls since the last question have the thinking that led to them, without which the
// provider refuses to think. An aside of the program (llm.Message.Aside) is not a question. A run that lost its
// signatures in a restart continues without thinking.
func canThink(history []llm.Message) bool {
	fine := true
	for _, msg := range history {
		switch {
		case msg.Role == llm.RoleUser && !msg.Aside:
			fine = true
		case msg.Role == llm.RoleAssistant && len(msg.Calls) > 0 && msg.Signature == "":
			fine = false
		}
	}
	return fine
}

// blocksOf encodes a message as content blocks, none if it is empty. It returns an error for an invalid signature.
// The thinking comes first, as the provider requires. Malformed arguments are sent as an empty object, which the
// provider accepts; the call's result has the error for the model.
func blocksOf(msg llm.Message, thinks bool) ([]sdk.ContentBlockParamUnion, error) {
	var blocks []sdk.ContentBlockParamUnion
	if msg.Role == llm.RoleTool {
		return append(blocks, sdk.NewToolResultBlock(msg.CallID, msg.Text, false)), nil
	}
	if thinks && msg.Signature != "" {
		var thoughts []thought
		if err := json.Unmarshal([]byte(msg.Signature), &thoughts); err != nil {
			return nil, fmt.Errorf("the signature of the thinking: %w", err)
		}
		for _, t := range thoughts {
			if t.Redacted != "" {
				blocks = append(blocks, sdk.NewRedactedThinkingBlock(t.Redacted))
			} else {
				blocks = append(blocks, sdk.NewThinkingBlock(t.Signature, t.Thinking))
			}
		}
	}
	if text := strings.TrimSpace(msg.Text); text != "" { // blank texts are refused
		blocks = append(blocks, sdk.NewTextBlock(text))
	}
	for _, call := range msg.Calls {
		input := call.Arguments
		if !httpllm.IsObject(input) {
			input = json.RawMessage("{}")
		}
		blocks = append(blocks, sdk.NewToolUseBlock(call.ID, input, call.Name))
	}
	return blocks, nil
}

// toolOf encodes a tool. It returns an error for a schema that is not valid JSON.
func toolOf(spec llm.ToolSpec) (sdk.ToolUnionParam, error) {
	schema := map[string]any{}
	if len(spec.Schema) > 0 {
		if err := json.Unmarshal(spec.Schema, &schema); err != nil {
			return sdk.ToolUnionParam{}, fmt.Errorf("the schema of %s: %w", spec.Name, err)
		}
	}
	delete(schema, "type") // implied by the SDK
	tool := sdk.ToolUnionParamOfTool(sdk.ToolInputSchemaParam{ExtraFields: schema}, spec.Name)
	tool.OfTool.Description = sdk.String(spec.Description)
	return tool, nil
}
