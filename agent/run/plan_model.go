package run

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"

	"footnote/agent/question"
	"footnote/chat"
	"footnote/corpus/text"
	"footnote/english"
	"footnote/llm"
)

//go:embed plan.md
var planDoc string

// planPrompt asks a model to take the question apart.
func planPrompt(w *Runner) []llm.Message {
	system := strings.ReplaceAll(planDoc, "{{parts}}", strconv.Itoa(question.MaxParts))
	messages := append([]llm.Message{{Role: llm.RoleSystem, Text: system}}, w.conversation.messages...)
	return append(messages, llm.Message{Role: llm.RoleUser, Text: text.Visible(w.run.Request.Message)})
}

// readPlan reads what a model made of the question: a list of parts, or an object that holds one. What can't be used
// is the question itself, and the text says why.
func readPlan(said, asked string) (parts []chat.PlanPart, why string) {
	parts, why = partsIn(said)
	if why == "" {
		why = checkParts(parts)
	}
	if why != "" {
		return question.Undivided(asked), why
	}
	return parts, ""
}

// partsIn finds the list in a reply, whatever stands around it.
func partsIn(said string) (parts []chat.PlanPart, why string) {
	const malformed = "The model's plan was no list of sub-queries: the question is searched for as it is."
	at := strings.IndexAny(said, "[{")
	if at < 0 {
		return nil, malformed
	}
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(said[at:])).Decode(&raw) != nil {
		return nil, malformed
	}
	if raw[0] == '{' {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return nil, malformed
		}
		list := json.RawMessage("[" + string(raw) + "]") // a single part
		for _, name := range []string{"sub_queries", "queries", "sub_questions"} {
			if inner, ok := object[name]; ok {
				list = inner
				break
			}
		}
		raw = list
	}
	var plain []string
	if json.Unmarshal(raw, &plain) == nil {
		for _, q := range plain {
			parts = append(parts, chat.PlanPart{Query: q})
		}
	} else if json.Unmarshal(raw, &parts) != nil {
		return nil, malformed
	}
	for i := range parts {
		parts[i].Query, parts[i].Reasoning = text.Shorten(parts[i].Query, 1000), text.Shorten(parts[i].Reasoning, 300)
		parts[i].Status = chat.StatusPending
		if parts[i].DependsOn == nil {
			parts[i].DependsOn = []int{}
		}
	}
	return parts, ""
}

// checkParts says what is wrong with a list of parts, nothing if it can be worked through.
func checkParts(parts []chat.PlanPart) string {
	if len(parts) == 0 || len(parts) > 2*question.MaxParts {
		return "The model's plan has " + english.Count(len(parts), "part") + ": the question is searched for as it is."
	}
	for _, part := range parts {
		if part.Query == "" {
			return "The model's plan has an empty part: the question is searched for as it is."
		}
		for _, on := range part.DependsOn {
			if on < 0 || on >= len(parts) {
				return "The model's plan builds on a part that is not there: the question is searched for as it is."
			}
		}
	}
	for done, ready := map[int]bool{}, true; len(done) < len(parts); {
		if !ready {
			return "The model's plan goes in a circle: the question is searched for as it is."
		}
		ready = false
		for i, part := range parts {
			free := !done[i]
			for _, on := range part.DependsOn {
				free = free && done[on]
			}
			if free {
				done[i], ready = true, true
			}
		}
	}
	return ""
}
