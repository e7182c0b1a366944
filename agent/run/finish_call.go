package run

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// answerInCall returns the answer of a turn that ends the run by a call. It is checked for every reply: only a
// single, complete, well-formed call of a tool that ends the run counts. Other calls of that tool run, and are
// refused, as usual.
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

// writeFinishAnswer writes the answer in a call of the tool finish as if the model had streamed it. Text before the
// call becomes its thought. The start and end of the call are stored in one batch, so that no log has an answer
// whose call seems to run.
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

// slowReading is how long a model reads before a step shows its progress, since a step that appears only briefly is
// useless. No measurement of it is recorded.
const slowReading = 2 * time.Second

// readingStep shows the progress of a slow model that reads its prompt. Only servers that report progress
// (llama.cpp) cause one.
type readingStep struct {
	log   *eventLog
	begun time.Time
	step  chat.Step // empty until shown
}

// showProgress emits the step with the current progress; share is 0–1.
func (r *readingStep) showProgress(ctx context.Context, share float64) error {
	if share <= 0 || share >= 1 || r.step.CallID == "" && time.Since(r.begun) < slowReading {
		return nil
	}
	if r.step.CallID == "" {
		r.step = r.log.newStep("reading", chat.ActionThinking, chat.StatusRunning, "")
	}
	r.step.Forms = nil
	r.step.Message = r.step.Forms.Say(locale.Say("Processing the prompt: {1}%", math.Round(share*100)))
	return r.log.emitEvents(ctx, r.log.trackStep(r.step))
}

// endStep ends the step, if it was shown.
func (r *readingStep) endStep(ctx context.Context) error {
	if r.step.CallID == "" {
		return nil
	}
	r.step.Status, r.step.ToolStatus = chat.StatusComplete, chat.StatusComplete
	r.step.Message, r.step.DurationMS, r.step.Timestamp = "Processed the prompt", sinceMS(r.begun), nowSeconds()
	ended := r.log.trackStep(r.step)
	r.step = chat.Step{}
	return r.log.emitEvents(ctx, ended)
}
