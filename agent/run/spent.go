package run

import (
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// spentNote returns a note on the limit that ended the search for an answer. It is empty if no limit did, or if the
// answer names it elsewhere.
func (b *budget) spentNote() locale.Message {
	limit, ok := map[chat.StopReason]int{
		chat.StopMaxSteps: b.limits.Steps, chat.StopMaxRetrievalCalls: b.limits.RetrievalCalls,
		chat.StopMaxTokens: b.limits.Tokens,
	}[b.stop]
	if !ok {
		return ""
	}
	return locale.Say("Search limit reached: {1} ({2}).", b.stop, limit)
}
