package agent

import (
	"testing"

	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/chat"
)

// A step is a thought, an action and an observation, without a language model too. Calls that are made together have
// their thought in common.
func TestEachCallOfTheOfflineModelHasAThought(t *testing.T) {
	t.Parallel()
	h := newHouse(t, offline.New(nil))
	for _, asked := range []string{
		"What is the condition of the roof?", "How many days of holiday are there, and when was the roof renewed?",
		"What is 12 * 7?", "Which documents do I have?", "What does the moon cost?",
		"Compare the roof condition and paid holiday",
	} {
		steps := map[string]chat.Step{}
		got := h.answer(asks(asked))
		for _, s := range all[chat.Step](got) {
			steps[s.CallID] = s
		}
		calls := 0
		for _, s := range steps {
			if s.ToolName == "" {
				continue
			}
			calls++
			if s.Thought == "" && steps[s.ParentID].Thought == "" {
				t.Errorf("%s: %q has no thought", asked, s.Message)
			}
		}
		if calls == 0 {
			t.Errorf("%s: no call was made", asked)
		}
	}
}
