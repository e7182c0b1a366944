package agent

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"footnote/chat"
	"footnote/llm"
)

// How much of a conversation a model is told.
const (
	memoryTurns  = 10
	memoryTokens = 4000
)

// recollection is what came before a question in its conversation.
type recollection struct {
	messages  []llm.Message // questions and answers, oldest first
	documents []chat.Source // behind the last answer, in order
}

// recall reads the shown branch that a run continues, after the turns that came with the request.
func recall(ctx context.Context, store chat.Store, run chat.Run) (recollection, error) {
	out, err := recallBranch(ctx, store, run)
	out.messages = append(outside(run.Request.History), out.messages...)
	return out, err
}

// outside makes messages of the last turns that a request brought along.
func outside(turns [][2]string) []llm.Message {
	var messages []llm.Message
	for _, turn := range turns[max(0, len(turns)-memoryTurns):] {
		for i, role := range []llm.Role{llm.RoleUser, llm.RoleAssistant} {
			messages = append(messages, llm.Message{Role: role, Text: clipTokens(turn[i], memoryTokens/memoryTurns)})
		}
	}
	return messages
}

func recallBranch(ctx context.Context, store chat.Store, run chat.Run) (recollection, error) {
	if run.ParentID == "" {
		return recollection{}, nil
	}
	scope := chat.Scope{User: run.User}
	runs, err := store.Runs(ctx, scope, run.SessionID)
	if err != nil {
		return recollection{}, fmt.Errorf("read conversation: %w", err)
	}
	byID := make(map[string]chat.Run, len(runs))
	for _, r := range runs {
		byID[r.ID] = r
	}
	var out recollection
	left := memoryTokens
	answered := ""
	for id, turns := run.ParentID, 0; id != "" && turns < memoryTurns && left > 0; turns++ {
		past, ok := byID[id]
		if !ok {
			break
		}
		if past.Answer != "" {
			answer := clipTokens(withoutMarkers(past.Answer), left)
			out.messages = append(out.messages, llm.Message{Role: llm.RoleAssistant, Text: answer})
			left -= tokens(answer)
			if answered == "" {
				answered = past.ID
			}
		} else {
			out.messages = append(out.messages, llm.Message{Role: llm.RoleAssistant, Text: "(This question was not answered.)"})
		}
		question := clipTokens(past.Request.Message, max(left, 50))
		out.messages = append(out.messages, llm.Message{Role: llm.RoleUser, Text: question})
		left -= tokens(question)
		id = past.ParentID
	}
	slices.Reverse(out.messages)
	if answered != "" {
		if out.documents, err = answerSources(ctx, store, scope, answered); err != nil {
			return recollection{}, err
		}
	}
	return out, nil
}

// answerSources returns the documents behind a run's answer.
func answerSources(ctx context.Context, store chat.Store, scope chat.Scope, runID string) ([]chat.Source, error) {
	for after := int64(0); ; {
		events, err := store.Events(ctx, scope, runID, after, chat.MaxPage)
		if err != nil {
			return nil, fmt.Errorf("read last answer: %w", err)
		}
		if len(events) == 0 {
			return nil, nil
		}
		for _, e := range events {
			if after = e.Seq; e.Type != chat.KindAnswer {
				continue
			}
			p, err := e.Payload()
			if err != nil {
				return nil, fmt.Errorf("read last answer: %w", err)
			}
			sources := p.(chat.Answer).Sources
			return sources[:min(len(sources), 20)], nil
		}
	}
}

// tokens estimates how many tokens a text has: about four bytes each.
func tokens(s string) int { return len(s)/4 + 1 }

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
