package run

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"footnote/agent/ground"
	"footnote/agent/question"
	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

// A small model reads slowly, has little room and gets lost among tools. It gets this profile: rules search, and the
// model has one short request without tools that ends with the question.

//go:embed small.md
var smallPrompt string

const (
	smallPassages   = 5
	smallRoom       = 850 // tokens of all passages: with the question, 1,200 that no prefix cache holds
	smallMost       = 320 // tokens of one passage, while the others still get their part
	smallLeast      = 110 // tokens that each passage after it can have
	smallRemembered = 150 // tokens of an earlier question or answer
	smallReply      = 800 // tokens, unless a setting says otherwise
)

// findProfile decides whether the run's model is a small one. A model is measured once for each process, by
// Config.Small; the step is shown only while that takes place.
func (w *Runner) findProfile(ctx context.Context) (err error) {
	if w.cfg.Small == nil || w.model.isRuleBased() || w.givenText() {
		return nil
	}
	name := w.model.model.Name()
	step := w.log.newStep("measure", chat.ActionPlanning, chat.StatusRunning, "Measuring what "+name+" can do")
	measured := false
	w.small = w.cfg.Small(ctx, name, func() {
		measured = true
		err = w.log.emitEvents(ctx, w.log.trackStep(step))
	})
	if cause := w.stopCause(ctx); cause != nil {
		return cause
	}
	if w.small != "" {
		w.model.answerNext()
	}
	if !measured || err != nil {
		return err
	}
	step.Status, step.ToolStatus, step.Timestamp = chat.StatusComplete, chat.StatusComplete, nowSeconds()
	step.Message = name + " can search by itself"
	if w.small != "" {
		step.Message = name + " gets short prompts, and rules search for it: " + w.small
	}
	return w.log.emitEvents(ctx, w.log.trackStep(step))
}

// isSmall reports whether the model that answers has the profile for small ones.
func (m *modelCaller) isSmall() bool { return m.small != "" && !m.isRuleBased() }

// smallRequest is the only kind of turn that a small model has. What changes from question to question stands behind
// the rules, so that a prefix cache holds those. The sizes are constants because they are bound to how fast such models
// read, not to what they can hold.
func (m *modelCaller) smallRequest() []llm.Message {
	rules := strings.NewReplacer("{{refusal}}", ground.RefusalSentence, "{{role}}",
		roleOf(m.cfg.SystemPrompt)+instructionsOf(text.Visible(m.run.Request.Instructions))).Replace(smallPrompt)
	asked := text.Visible(m.run.Request.Message)
	out := []llm.Message{{Role: llm.RoleSystem, Text: strings.TrimSpace(rules)}}
	if m.asked.Type == question.FollowUp || m.asked.Reference == question.Rework ||
		m.asked.Reference == question.AsksWhy || !m.asked.NeedsDocuments() {
		out = append(out, m.lastExchange()...)
	}
	body := "Question: " + clipTokens(asked, smallRoom)
	if shown := m.smallSources(); shown != "" {
		body += "\n\n" + fenceData(m.nonce, shown) + "\n\n" + body + "\n" + markedAnswer(text.Detect(asked))
	}
	out = append(out, llm.Message{Role: llm.RoleUser, Text: body})
	return append(out, m.messages.ephemeral...)
}

// lastExchange is the last question with its answer, in short.
func (m *modelCaller) lastExchange() []llm.Message {
	past := m.conversation.messages
	out := slices.Clone(past[max(0, len(past)-2):])
	for i := range out {
		limit := smallRemembered
		if m.asked.Reference == question.Rework && i == len(out)-1 {
			limit = smallRoom // the answer is what is worked on
		}
		out[i].Text = clipTokens(text.Visible(out[i].Text), limit)
	}
	return out
}

// smallSources shows the best passages that were found, each as "[n] title: text", and what tools returned that show no
// passages. The best passages come first and get their whole text; every further one is sure of smallLeast tokens.
func (m *modelCaller) smallSources() string {
	sources := m.found.toolContext.Sources
	all := sources.All()
	slices.SortStableFunc(all, func(a, b ground.Source) int {
		return cmp.Compare(sources.ScoreOf(b.Passage.ID), sources.ScoreOf(a.Passage.ID))
	})
	all = all[:min(len(all), smallPassages)]
	var shown []string
	room := smallRoom
	if m.run.Request.AddedContext != "" {
		given := "The text that came with the question: " + clipTokens(m.run.Request.AddedContext, smallRoom/2)
		shown, room = append(shown, given), room-smallRoom/2
	}
	if others := m.resultsBesides(); others != "" {
		limit := room
		if len(all) > 0 {
			limit = smallLeast
		}
		shown = append(shown, clipTokens(others, limit))
		room -= limit
	}
	for i, src := range all {
		limit := min(smallMost, room-(len(all)-1-i)*smallLeast)
		said := m.excerptPassage(src, limit)
		room -= roughTokens(said)
		shown = append(shown, said)
	}
	return strings.Join(shown, "\n\n")
}

// resultsBesides are the results of tools that show no passages: lists, sums.
func (m *modelCaller) resultsBesides() string {
	retrieves := map[string]bool{} // by the call's id
	var out []string
	for _, msg := range m.messages.list {
		for _, call := range msg.Calls {
			t := m.set.Find(call.Name)
			retrieves[call.ID] = t == nil || t.Capability == chat.CapabilitySearch ||
				t.Capability == chat.CapabilityRead
		}
		if msg.Role == llm.RoleTool && !retrieves[msg.CallID] {
			_, body, _ := strings.Cut(msg.Text, "\n") // without the marks
			out = append(out, body[:max(0, strings.LastIndexByte(body, '\n'))])
		}
	}
	return strings.Join(out, "\n")
}

// excerptPassage is a passage under its number; of a long one the sentences around the one that fits the question best.
// limit is in tokens, with the head. It grows around the best sentence by whole sentences, in turn behind and before
// it, as long as they fit.
func (m *modelCaller) excerptPassage(src ground.Source, limit int) string {
	head := fmt.Sprintf("[%d] %s: ", src.N, text.Shorten(src.Document.DisplayTitle(), 60))
	if at := src.Passage.Section; at != "" {
		head = fmt.Sprintf("[%d] %s, %s: ", src.N, text.Shorten(src.Document.DisplayTitle(), 60), text.Shorten(at, 60))
	}
	body := src.Passage.Text
	limit -= roughTokens(head)
	if roughTokens(body) <= limit {
		return head + body
	}
	start, _, _ := m.found.cite.Judge.Quote(body, m.run.Request.Message)
	runes := []rune(body)
	spans := text.Sentences(body)
	first := max(0, slices.IndexFunc(spans, func(s [2]int) bool { return s[1] > start }))
	from, to := first, first // sentences from to to, both within
	size := func() int { return roughTokens(string(runes[spans[from][0]:spans[to][1]])) }
	for grown := true; grown; {
		grown = false
		if to+1 < len(spans) {
			if to++; size() > limit {
				to--
			} else {
				grown = true
			}
		}
		if from > 0 {
			if from--; size() > limit {
				from++
			} else {
				grown = true
			}
		}
	}
	return head + clipTokens(string(runes[spans[from][0]:spans[to][1]]), limit)
}

// roughTokens estimates tokens with signs beyond ASCII, which take more than their share.
func roughTokens(s string) int {
	runes := utf8.RuneCountInString(s)
	beyond := (len(s) - runes) / 2
	return (runes-beyond)/4 + beyond + 1
}
