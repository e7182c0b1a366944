package agent

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"footnote/chat"
	"footnote/llm"
)

//go:embed finish.md
var finishDoc string

const finishSchema = `{
	"type": "object", "additionalProperties": false, "required": ["answer"],
	"properties": {"answer": {"type": "string", "minLength": 1, "maxLength": 100000, "description": "The final answer to the question"}}
}`

type finishInput struct {
	Answer string `json:"answer"`
}

// finishAnswer ends a run. The loop takes the answer out of the call; the call itself does nothing.
func finishAnswer() (*tool, error) {
	return toolKind[finishInput]{
		name: "finish", action: chat.ActionThinking, ends: true, doc: finishDoc, schema: finishSchema,
		doing: func(*desk, finishInput) string { return "Finishing with an answer" },
		do: func(context.Context, *desk, finishInput) (result, error) {
			return refuse("The answer could not be taken from this call. Write it as text.")
		},
	}.build()
}

// finished returns the answer of a turn that ends the run by a call. Calls that can't be taken so are run, and refused, like others.
func (w *work) finished(r reply) (answer string, args json.RawMessage, ok bool) {
	if len(r.calls) != 1 || r.calls[0].Malformed != "" || r.finish == llm.FinishLength {
		return "", nil, false
	}
	t := w.set.find(llm.ToolNamed(r.calls[0].Name, w.set.names()))
	if t == nil || !t.ends {
		return "", nil, false
	}
	args, err := t.normalise(t.meant(r.calls[0].Arguments), nil)
	if err != nil {
		return "", nil, false
	}
	var in finishInput
	if json.Unmarshal(args, &in) != nil {
		return "", nil, false
	}
	return in.Answer, args, true
}

// say shows the answer that a call holds as if the model had written it; what it wrote before the call was a thought.
func (w *work) say(ctx context.Context, r reply, answer string, args json.RawMessage) (reply, error) {
	name := strings.TrimSpace(r.calls[0].Name)
	step := w.phase(name, chat.ActionThinking, chat.StatusRunning, "Finishing with an answer")
	step.ToolName, step.ToolInput, step.Tokens, step.Cost = name, args, &r.tokens, r.cost
	said, stored := w.writer.Reset()
	step.Thought = strings.TrimSpace(said)
	var ps []chat.Payload
	if stored {
		ps = append(ps, chat.AnswerReset{CallID: step.CallID})
	}
	done := step
	done.Status, done.ToolStatus, done.Message = chat.StatusComplete, chat.StatusComplete, "Finished with an answer"
	done.ToolOutput = json.RawMessage(`{"finished":true}`)
	done.OutputSize = len(done.ToolOutput)
	if err := w.emit(ctx, append(ps, step, done)...); err != nil {
		return r, err
	}
	r.calls, r.text = nil, answer
	return r, w.writer.Write(ctx, answer)
}
