package run

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/english"
)

const (
	// contextTokens is how many tokens a run's history may have, unless the settings say otherwise. With the answer it
	// fits a model of 64k; what a server has less is noticed by checkPrompt or refused as too long (dropOldResults).
	contextTokens = 60_000

	// keptOutput is how many bytes of an older result stay when room is made: about the title and the first lines, by
	// which the model knows whether to call the tool again.
	keptOutput = 600
)

// messages are what the model gets: the prompt, its own turns and the results of its calls. They are rebuilt from the
// log after a restart; ephemeral is lost then.
type messages struct {
	list      []llm.Message
	ephemeral []llm.Message // for the next turn only: a reply and what was wrong with it
}

// shortenOldResults shortens the results of older calls when the history nears the room that a model has for it, and
// says so. The results of the last turn stay whole. It begins at 80 % of Features.ContextTokens: the rest is for the
// next results and the answer.
func (s *state) shortenOldResults(ctx context.Context) error {
	size := s.messages.estimateTokens()
	if size <= s.cfg.Features.ContextTokens*8/10 {
		return nil
	}
	shortened, freed := s.messages.shortenOldResults(s.nonce)
	if shortened == 0 {
		return nil
	}
	step := s.log.newStep(
		"compact", chat.ActionThinking, chat.StatusComplete,
		"Shortened "+english.Count(shortened, "earlier result")+" to make room",
	)
	step.Summary = fmt.Sprintf("about %d of %d tokens freed", freed, size)
	step.Details = map[string]any{"tokens": size, "freed": freed, "limit": s.cfg.Features.ContextTokens}
	return s.log.emitEvents(ctx, step)
}

// estimateTokens estimates the tokens of the whole history.
func (ms *messages) estimateTokens() int {
	size := 0
	for _, m := range ms.list {
		size += estimateTokens(m.Text)
	}
	return size
}

// lastTurn is where the results of the last turn begin: those before it are the older ones.
func (ms *messages) lastTurn() int {
	last := len(ms.list)
	for last > 0 && ms.list[last-1].Role == llm.RoleTool {
		last--
	}
	return last
}

// shortenOldResults cuts the older results of tools to keptOutput bytes, and returns how many it cut and about how many
// tokens that freed. A shortened result keeps its fence, so that it stays data.
func (ms *messages) shortenOldResults(nonce string) (shortened, freed int) {
	for i := range ms.list[:ms.lastTurn()] {
		m := &ms.list[i]
		if m.Role != llm.RoleTool || len(m.Text) <= 2*keptOutput {
			continue
		}
		_, body, _ := strings.Cut(m.Text, "\n") // without the mark
		short := fenceData(
			nonce,
			clipTokens(body, keptOutput/4)+" (shortened to save room: call the tool again if you need the rest)",
		)
		shortened, freed = shortened+1, freed+estimateTokens(m.Text)-estimateTokens(short)
		m.Text = short
	}
	return shortened, freed
}

// dropOldResults forgets the older results of tools, which take the most room. It reports whether there were any. It is
// for a server that has refused the request as too long, and frees more than shortenOldResults.
func (ms *messages) dropOldResults() bool {
	found := false
	for i := range ms.list[:ms.lastTurn()] {
		if m := &ms.list[i]; m.Role == llm.RoleTool && len(m.Text) > 400 {
			m.Text = `{"note":"This result was left out to save room. Call the tool again if you need it."}`
			found = true
		}
	}
	return found
}

// estimateTokens estimates how many tokens a text has: about four bytes each. It is for decisions about room only: what
// is charged comes from the model's server wherever that counts.
func estimateTokens(s string) int { return len(s)/4 + 1 }

// estimateRequest estimates the tokens of a request, with its tools. The schemas of twelve tools are a good part of a
// short request.
func estimateRequest(req llm.Request) int {
	size := 0
	for _, message := range req.Messages {
		size += estimateTokens(message.Text)
	}
	for _, tool := range req.Tools {
		size += estimateTokens(tool.Description) + estimateTokens(string(tool.Schema))
	}
	return size
}

// clipTokens cuts a text to about limit tokens, four bytes each, between runes, and marks the cut with an ellipsis.
func clipTokens(s string, limit int) string {
	if len(s) <= limit*4 {
		return s
	}
	cut := max(limit*4, 0)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + " …"
}
