package run

import (
	"fmt"

	"github.com/footnote/footnote/chat"
)

// spentNote returns a note on the limit that ended the search for an answer. It is empty if no limit did, or if the
// answer names it elsewhere.
func (b *budget) spentNote() string {
	limit, ok := map[chat.StopReason]int{
		chat.StopMaxSteps: b.limits.Steps, chat.StopMaxRetrievalCalls: b.limits.RetrievalCalls,
		chat.StopMaxTokens: b.limits.Tokens,
	}[b.stop]
	if !ok {
		return ""
	}
	return fmt.Sprintf("The search ended at %s (%d).", b.stop, limit)
}
