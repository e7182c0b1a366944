package run

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
)

// answerInCall returns the answer of a turn that ends the run by a call. Calls that can't be taken so are run, and
// refused, like others. It is asked for every reply: only a single, whole, well-formed call of a tool that ends the run
// counts.
func (k *knowledge) answerInCall(r reply) (answer string, args json.RawMessage, ok bool) {
	if len(r.calls) != 1 || r.calls[0].Malformed != "" || r.finish == llm.FinishLength {
		return "", nil, false
	}
	tool := k.set.Find(llm.ToolNamed(r.calls[0].Name, k.set.Names()))
	if tool == nil || !tool.EndsRun {
		return "", nil, false
	}
	args, err := tool.Normalise(tool.CoerceArgs(r.calls[0].Arguments), nil)
	if err != nil {
		return "", nil, false
	}
	answer, ok = tools.AnswerOf(args)
	return answer, args, ok
}

// writeFinishAnswer shows the answer that a call holds as if the model had written it; what it wrote before the call
// was a thought. It is the tool finish, which ends a run by a call; the call and its end are stored at once. Its two
// events are stored together, so that no log has an answer whose call seems to run on.
func (w *Runner) writeFinishAnswer(ctx context.Context, r reply, answer string, args json.RawMessage) (reply, error) {
	name := strings.TrimSpace(r.calls[0].Name)
	step := w.log.newStep(name, chat.ActionThinking, chat.StatusRunning, "Finishing with an answer")
	step.ToolName, step.ToolInput, step.Tokens, step.Cost = name, args, &r.tokens, r.cost
	said, stored := w.log.writer.Reset()
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
	if err := w.log.emitEvents(ctx, append(ps, step, done)...); err != nil {
		return r, err
	}
	r.calls, r.text = nil, answer
	return r, w.log.writer.Write(ctx, answer)
}
