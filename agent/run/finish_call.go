package run

import (
	"context"
	"encoding/json"
	"strings"

	"footnote/agent/tools"
	"footnote/chat"
	"footnote/llm"
)

// finishAnswer returns the answer of a turn that ends the run by a call. Calls that can't be taken so are run, and
// refused, like others.
func (w *Runner) finishAnswer(r reply) (answer string, args json.RawMessage, ok bool) {
	if len(r.calls) != 1 || r.calls[0].Malformed != "" || r.finish == llm.FinishLength {
		return "", nil, false
	}
	t := w.set.Find(llm.ToolNamed(r.calls[0].Name, w.set.Names()))
	if t == nil || !t.EndsRun {
		return "", nil, false
	}
	args, err := t.Normalise(t.CoerceArgs(r.calls[0].Arguments), nil)
	if err != nil {
		return "", nil, false
	}
	answer, ok = tools.AnswerOf(args)
	return answer, args, ok
}

// writeFinishAnswer shows the answer that a call holds as if the model had written it; what it wrote before the call
// was a thought.
func (w *Runner) writeFinishAnswer(ctx context.Context, r reply, answer string, args json.RawMessage) (reply, error) {
	name := strings.TrimSpace(r.calls[0].Name)
	step := w.newStep(name, chat.ActionThinking, chat.StatusRunning, "Finishing with an answer")
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
	done.Result = &chat.StepResult{Facts: []chat.Fact{{Name: "finished", Value: "true"}}}
	if err := w.emit(ctx, append(ps, step, done)...); err != nil {
		return r, err
	}
	r.calls, r.text = nil, answer
	return r, w.writer.Write(ctx, answer)
}
