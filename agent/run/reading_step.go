package run

import (
	"context"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
)

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
