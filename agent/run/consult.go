package run

import (
	"context"
	"errors"
	"strings"
	"time"

	"footnote/chat"
	"footnote/llm"
)

// The size of a side question to the model.
const (
	consultTime   = 20 * time.Second
	consultTokens = 800
)

// consult asks the model something beside the run's conversation, without tools, and charges it to the run. A user
// who wants the answer now ends it.
func (w *Runner) consult(ctx context.Context, messages []llm.Message) (said string, used chat.Tokens, err error) {
	ctx, cancel := context.WithTimeout(ctx, consultTime)
	defer cancel()
	defer context.AfterFunc(w.control.now, cancel)()
	defer context.AfterFunc(w.control.leaving, cancel)()
	req := llm.Request{
		Messages: messages, NoTools: true, Temperature: w.temperature(), Unasked: true, Seed: w.run.Request.Config.Seed,
		MaxTokens: consultTokens,
	}
	model := w.model
	if w.cfg.Select != nil && !w.onFallback {
		model = w.cfg.Select
	}
	var text strings.Builder
	var usage *llm.Usage
	done := false
	for part, err := range model.Stream(ctx, req) {
		if err != nil {
			return "", w.chargeFailed(model, err), err
		}
		switch p := part.(type) {
		case llm.Text:
			text.WriteString(string(p))
		case llm.Quoted:
			text.WriteString(p.Marker())
		case llm.Done:
			done, usage = true, p.Usage
		case llm.Rethought:
			text.Reset()
		case llm.Reasoning, llm.Call: // not asked for
		}
	}
	if !done {
		return "", used, errors.New("the reply ended too early")
	}
	if usage != nil {
		used = chat.Tokens{In: usage.In, Out: usage.Out}
	} else {
		for _, m := range messages {
			used.In += tokens(m.Text)
		}
		used.Out = tokens(text.String())
	}
	w.charge(model, used)
	return text.String(), used, nil
}
