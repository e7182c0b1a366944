package run

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

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

// slowReading is how long a model reads before a step shows how far it is: a step that comes and goes within a moment
// tells nobody anything. No measurement of it is recorded.
const slowReading = 2 * time.Second

// readingStep shows how much of a request a slow model has read. Only servers that report their progress (llama.cpp)
// send anything to show.
type readingStep struct {
	log   *eventLog
	begun time.Time
	step  chat.Step // empty until it is shown
}

// showProgress brings the step up to date; share is 0–1.
func (r *readingStep) showProgress(ctx context.Context, share float64) error {
	if share <= 0 || share >= 1 || r.step.CallID == "" && time.Since(r.begun) < slowReading {
		return nil
	}
	if r.step.CallID == "" {
		r.step = r.log.newStep("reading", chat.ActionThinking, chat.StatusRunning, "")
	}
	r.step.Message = fmt.Sprintf("The model is reading: %.0f %%", share*100)
	return r.log.emitEvents(ctx, r.log.trackStep(r.step))
}

// endStep ends the step, if it is shown.
func (r *readingStep) endStep(ctx context.Context) error {
	if r.step.CallID == "" {
		return nil
	}
	r.step.Status, r.step.ToolStatus = chat.StatusComplete, chat.StatusComplete
	r.step.Message, r.step.DurationMS, r.step.Timestamp = "The model read", sinceMS(r.begun), nowSeconds()
	ended := r.log.trackStep(r.step)
	r.step = chat.Step{}
	return r.log.emitEvents(ctx, ended)
}
