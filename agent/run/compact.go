package run

import (
	"context"
	"fmt"
	"strings"

	"footnote/chat"
	"footnote/english"
	"footnote/llm"
)

const (
	contextTokens = 60_000 // of a run's history, unless the settings say otherwise
	keptOutput    = 600    // bytes of an older result that stay when room is made
)

// makeRoom shortens the results of older calls when the history nears the room that a model has for it, and says so.
// The results of the last turn stay whole.
func (w *Runner) makeRoom(ctx context.Context) error {
	size := 0
	for _, m := range w.history {
		size += tokens(m.Text)
	}
	if size <= w.cfg.Thinking.ContextTokens*8/10 {
		return nil
	}
	last := len(w.history)
	for last > 0 && w.history[last-1].Role == llm.RoleTool {
		last--
	}
	shortened, freed := 0, 0
	for i := range w.history[:last] {
		m := &w.history[i]
		if m.Role != llm.RoleTool || len(m.Text) <= 2*keptOutput {
			continue
		}
		_, body, _ := strings.Cut(m.Text, "\n") // without the mark
		short := fence(
			w.nonce,
			clipTokens(body, keptOutput/4)+" (shortened to save room: call the tool again if you need the rest)",
		)
		shortened, freed = shortened+1, freed+tokens(m.Text)-tokens(short)
		m.Text = short
	}
	if shortened == 0 {
		return nil
	}
	step := w.newStep(
		"compact", chat.ActionThinking, chat.StatusComplete,
		"Shortened "+english.Count(shortened, "earlier result")+" to make room",
	)
	step.Summary = fmt.Sprintf("about %d of %d tokens freed", freed, size)
	step.Details = map[string]any{"tokens": size, "freed": freed, "limit": w.cfg.Thinking.ContextTokens}
	return w.emit(ctx, step)
}
