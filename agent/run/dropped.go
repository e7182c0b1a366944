package run

import (
	"context"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
)

// emitDropped stores dropped text as steps, with the text as their output. Consecutive pieces with the same message
// form one step. It skips blank text.
func (l *eventLog) emitDropped(ctx context.Context, dropped ...llm.Dropped) error {
	var ps []chat.Payload
	for len(dropped) > 0 {
		d := dropped[0]
		for dropped = dropped[1:]; len(dropped) > 0 && dropped[0].Message == d.Message; dropped = dropped[1:] {
			d.Text += dropped[0].Text
		}
		text := strings.TrimSpace(d.Text)
		if text == "" {
			continue
		}
		step := l.newStep("dropped", chat.ActionThinking, chat.StatusComplete, d.Message)
		step.Result = chat.StepResult{Text: text}.Bounded()
		if _, err := setOutput(&step, map[string]any{"text": text}); err != nil {
			return err
		}
		ps = append(ps, step)
	}
	return l.emitEvents(ctx, ps...)
}
