package run

import (
	"context"
	"fmt"
	"strings"

	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

// repairCall meets a tool call that the model's server could not read. The first time the model hears of it, the
// second time it must answer from what there is.
func (w *Runner) repairCall(ctx context.Context, e *llm.Error) error {
	w.badCalls++
	message, told := "The model's tool call could not be read: asking for it again", "Your last tool call could not be read: write it again, as the tool's schema says."
	if w.badCalls == maxBadCalls {
		w.enough = true
		message, told = "The model's tool call could not be read again: asking for the answer", "Your tool calls can't be read. Answer now, in plain text, from what you have."
	}
	if e.Err != nil {
		told += " The server said: " + text.Shorten(strings.TrimSpace(e.Err.Error()), 300)
	}
	step := w.newStep("review", chat.ActionThinking, chat.StatusError, message)
	step.Error = &chat.StepError{Code: chat.CodeModelFailed, Message: text.Shorten(e.Message, 200), Retryable: true}
	w.aside = []llm.Message{{Role: llm.RoleUser, Aside: true, Text: told}}
	return w.takeBack(ctx, step)
}

// A prompt of which the model's server counts less than half, though it counts more than a greeting, was cut by it.
const leastCounted = 1000

// checkPrompt says once when the model's server seems to have dropped a part of the prompt without a word, as servers
// do whose context is set too small.
func (w *Runner) checkPrompt(ctx context.Context, u *llm.Usage) error {
	if u == nil || w.promptLost || w.onFallback || u.In < leastCounted {
		return nil
	}
	sent := 0
	for _, m := range w.history {
		sent += tokens(m.Text)
	}
	if u.In*2 >= sent {
		return nil
	}
	w.promptLost = true
	w.cfg.Log.WarnContext(ctx, "the model's server counts far fewer tokens than were sent: its context may be too small", "run", w.run.ID,
		"model", w.model.Name(), "sent", sent, "counted", u.In)
	return w.emit(ctx, w.newStep("notice", chat.ActionThinking, chat.StatusError, fmt.Sprintf(
		"The model's server read only about %d of %d tokens: its context is set too small, and the answer may miss something. With Ollama, OLLAMA_CONTEXT_LENGTH sets it",
		u.In, sent)))
}
