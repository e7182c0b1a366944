package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// How much of a conversation a model is told, unless the settings (--memory-turns and its neighbours) say
// otherwise. With twice the tokens, for passages, it is less than a seventh of what a history may hold (contextTokens).
const (
	memoryQuestions = 10
	memoryTokens    = 4000
	memoryPassages  = 50
)

// Memory is how much of its conversation a run knows. Zero fields take their defaults: 10, 4,000 and 50. A negative
// one means nothing.
type Memory struct {
	Questions int // questions with their answers
	Tokens    int // of these, and as many again of passages
	Passages  int // that earlier answers rested on, or that were shown for them: the last ones, each once
}

// orDefaults fills in the fields that are zero; a negative one comes out as 0, which is no memory of that kind.
func (m Memory) orDefaults() Memory {
	return Memory{
		Questions: orDefault(m.Questions, memoryQuestions), Tokens: orDefault(m.Tokens, memoryTokens),
		Passages: orDefault(m.Passages, memoryPassages),
	}
}

// orDefault is n, usual for 0, and 0 for a negative n.
func orDefault(n, usual int) int {
	if n == 0 {
		return usual
	}
	return max(0, n)
}

// conversation is what came before a question in its conversation.
type conversation struct {
	messages  []llm.Message   // questions and answers, oldest first
	evidence  []string        // of these, what later answers may rest on: no sentence that was unsupported
	documents []chat.Source   // behind the last answer, in order
	citations []chat.Citation // of the last answer that has any
	passages  []string        // that were shown before, by id, the last ones first, each once
	lost      int             // turns whose stored rows are damaged
	err       error           // why all of it could not be read: the answer goes on without it; nil: it could
}

// historyStep is the phase that says that the conversation could not be read.
const historyStep = "history"

// readConversation reads the shown branch that a run continues, after the turns that came with the request. Turns of a
// request come before those of the session: a client that brings some had them before it came here.
func (k *knowledge) readConversation(ctx context.Context) (conversation, error) {
	out, err := k.readBranch(ctx)
	outside := k.requestHistory()
	for _, m := range outside {
		out.evidence = append(out.evidence, m.Text)
	}
	out.messages = append(outside, out.messages...)
	return out, err
}

// requestHistory makes messages of the last turns that a request brought along. Each text gets an equal part of the
// tokens, so that one long answer does not push out all others.
func (k *knowledge) requestHistory() []llm.Message {
	turns, m := k.run.Request.History, k.cfg.Memory
	var messages []llm.Message
	for _, turn := range turns[max(0, len(turns)-m.Questions):] {
		for i, role := range []llm.Role{llm.RoleUser, llm.RoleAssistant} {
			messages = append(messages, llm.Message{
				Role: role, Text: clipTokens(turn[i], m.Tokens/max(1, m.Questions)),
			})
		}
	}
	return messages
}

// readBranch reads what the run continues: from its parent back to the first question of the shown branch, as far as
// Memory goes. Answers that were replaced by newer versions are not among it. A run whose stored rows are damaged is
// counted in lost and left out. It fails when the store does; what was read until then is dropped.
func (k *knowledge) readBranch(ctx context.Context) (conversation, error) {
	if k.run.ParentID == "" {
		return conversation{}, nil
	}
	runs, err := k.cfg.Store.Runs(ctx, chat.Scope{User: k.run.User}, k.run.SessionID)
	if err != nil {
		return conversation{}, fmt.Errorf("read conversation: %w", err)
	}
	byID := make(map[string]chat.Run, len(runs))
	for _, r := range runs {
		byID[r.ID] = r
	}
	var out conversation
	left := k.cfg.Memory.Tokens
	for id, turns := k.run.ParentID, 0; id != "" && turns < k.cfg.Memory.Questions && left > 0; turns++ {
		past, ok := byID[id]
		if !ok {
			break
		}
		id = past.ParentID
		var known runMemory
		if (past.Answer != "" || past.Status == chat.RunCancelled) && !past.Unreadable {
			known, err = k.readRunMemory(ctx, past)
		}
		if past.Unreadable || errors.Is(err, chat.ErrDamaged) {
			out.lost++
			continue
		}
		if err != nil {
			return conversation{}, err
		}
		if past.Answer != "" {
			answer := clipTokens(ground.WithoutMarkers(past.Answer), left)
			out.messages = append(out.messages, llm.Message{Role: llm.RoleAssistant, Text: answer})
			if known.isSupported {
				held := ground.WithoutSentences(past.Answer, known.unsupported)
				out.evidence = append(out.evidence, clipTokens(held, left))
			}
			left -= estimateTokens(answer)
			if len(out.documents) == 0 { // thanks, and what rests on none, leave those before in sight
				out.documents = known.sources
			}
			if len(out.citations) == 0 { // an answer without footnotes leaves those before it in sight
				out.citations = known.citations
			}
			out.addPassages(known.passages, k.cfg.Memory.Passages)
		} else {
			begun := cmp.Or(
				clipTokens(ground.WithoutMarkers(known.begun), left), "(This question was not answered.)",
			)
			out.messages = append(out.messages, llm.Message{Role: llm.RoleAssistant, Text: begun})
			left -= estimateTokens(begun)
		}
		// a question is never left out: without it the answer before makes no sense
		question := clipTokens(past.Request.Message, max(left, 50))
		out.messages = append(out.messages, llm.Message{Role: llm.RoleUser, Text: question})
		out.evidence = append(out.evidence, question)
		left -= estimateTokens(question)
	}
	slices.Reverse(out.messages)
	return out, nil
}

// addPassages keeps passages that are not known yet, up to a limit in all. Passages of later answers come first,
// because the walk goes backwards: with little room, the newest stay.
func (r *conversation) addPassages(passages []string, limit int) {
	for _, id := range passages {
		if len(r.passages) < limit {
			r.passages = text.AppendNew(r.passages, id)
		}
	}
}
