// Package eino adapts the agent framework Eino to drive runs: its ReAct graph decides the order of model turns and
// tool calls.
package eino

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/run"
)

// nodesPerRound is the number of graph nodes per round: the model's and that of the tools. Eino's MaxStep counts
// nodes, not rounds, and ends a graph above it.
const nodesPerRound = 2

// Drive is a run.Framework. It fails with the error of a turn or a call, wrapped by Eino. The run keeps the first
// error itself (rounds.err).
func Drive(ctx context.Context, r run.Rounds) error {
	tools := make([]tool.BaseTool, len(r.Tools))
	for i, spec := range r.Tools {
		info, err := describe(spec)
		if err != nil {
			return err
		}
		tools[i] = einoTool{info: info, call: r.Call}
	}
	graph, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: einoModel{r},
		ToolsConfig: compose.ToolsNodeConfig{
			Tools: tools,
			// the run reports an unknown tool to the model
			UnknownToolsHandler: func(ctx context.Context, _, _ string) (string, error) {
				return call(ctx, r.Call)
			},
		},
		MaxStep: nodesPerRound * r.Most,
	})
	if err != nil {
		return fmt.Errorf("build Eino's graph: %w", err)
	}
	_, err = graph.Generate(ctx, []*schema.Message{schema.UserMessage(r.Question)})
	return err
}

func describe(spec llm.ToolSpec) (*schema.ToolInfo, error) {
	info := &schema.ToolInfo{Name: spec.Name, Desc: spec.Description}
	if len(spec.Schema) > 0 {
		params, err := decodeFor(schema.NewParamsOneOfByJSONSchema, spec.Schema)
		if err != nil {
			return nil, fmt.Errorf("read the schema of the tool %s: %w", spec.Name, err)
		}
		info.ParamsOneOf = params
	}
	return info, nil
}

// decodeFor decodes JSON into the type that a function takes, and calls it.
func decodeFor[T, R any](take func(*T) R, raw []byte) (r R, err error) {
	v := new(T)
	if err := json.Unmarshal(raw, v); err != nil {
		return r, err
	}
	return take(v), nil
}

// einoModel adapts the run's model to Eino. It ignores the messages that Eino collected, since the run keeps the
// history.
type einoModel struct{ run.Rounds }

var _ model.ToolCallingChatModel = einoModel{}

// Generate completes a model turn. A call's id is its index in the turn, the only value that InvokableRun gets back.
func (s einoModel) Generate(ctx context.Context, _ []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	calls, err := s.Turn(ctx)
	if err != nil {
		return nil, err
	}
	made := make([]schema.ToolCall, len(calls))
	for i, c := range calls {
		made[i] = schema.ToolCall{ID: strconv.Itoa(i), Type: "function", Function: schema.FunctionCall{
			Name: c.Name, Arguments: string(c.Arguments),
		}}
	}
	return schema.AssistantMessage("", made), nil
}

// Stream is Generate in one chunk, since the run has already streamed the text.
func (s einoModel) Stream(
	ctx context.Context, in []*schema.Message, opts ...model.Option,
) (*schema.StreamReader[*schema.Message], error) {
	m, err := s.Generate(ctx, in, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.Message{m}), nil
}

// WithTools returns the same model: the run sends its own tools with each request.
func (s einoModel) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return s, nil }

// einoTool adapts one of the run's tools to Eino.
type einoTool struct {
	info *schema.ToolInfo
	call func(ctx context.Context, place int) (string, error)
}

// Info returns the tool's description.
func (c einoTool) Info(context.Context) (*schema.ToolInfo, error) { return c.info, nil }

// InvokableRun makes the current call. It ignores the arguments, since the run holds the model's own.
func (c einoTool) InvokableRun(ctx context.Context, _ string, _ ...tool.Option) (string, error) {
	return call(ctx, c.call)
}

func call(ctx context.Context, make func(ctx context.Context, place int) (string, error)) (string, error) {
	place, err := strconv.Atoi(compose.GetToolCallID(ctx))
	if err != nil {
		return "", fmt.Errorf("read which call Eino makes: %w", err)
	}
	return make(ctx, place)
}
