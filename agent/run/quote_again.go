package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"footnote/agent/question"
	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/text"
)

// mostQuoted is how many quotes of the last answer are said again.
const mostQuoted = 5

// onlyQuotes leads to the quotes that are all the rules have to say about an answer.
const onlyQuotes = "Without a language model I can't put it in other words, only quote again what the last answer rests on:"

// quoteAgain answers a question about the last answer alone, when there is no language model, with what that answer
// quoted. It searches nothing. ok is false when that is not so, or when nothing is left of what was quoted.
func (w *Runner) quoteAgain(ctx context.Context) (ok bool, err error) {
	about := w.asked.Reference == question.Rework || w.asked.Reference == question.AsksWhy
	if !about || !w.onFallback || w.givenText() || !w.enabled(featurePaths) || len(w.conversation.citations) == 0 {
		return false, nil
	}
	var ids []string
	for _, c := range w.conversation.citations {
		ids = text.AppendNew(ids, c.ChunkID)
	}
	passages, err := w.cfg.Library.Passages(ctx, w.toolContext.ReadScope(), ids)
	if err != nil {
		return false, fmt.Errorf("fetch passages of the last answer: %w", err)
	}
	var lines []string
	for _, c := range w.conversation.citations {
		i := slices.IndexFunc(passages, func(p corpus.Passage) bool { return p.ID == c.ChunkID })
		if i < 0 || c.Quote == "" || len(lines) == mostQuoted {
			continue
		}
		doc, err := w.cfg.Library.Document(ctx, w.toolContext.ReadScope(), c.DocumentID)
		if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
			return false, fmt.Errorf("find a document of the last answer: %w", err)
		}
		if doc.ID == "" || !w.toolContext.InReach(doc) {
			continue
		}
		n := firstRecalled + slices.Index(ids, c.ChunkID)
		w.toolContext.Sources.AddEarlier(n, passages[i], doc)
		if line := fmt.Sprintf("- %s [%d]", strings.Join(strings.Fields(c.Quote), " "), n); !slices.Contains(
			lines, line,
		) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return false, nil
	}
	step := w.newStep(
		"choose", chat.ActionPlanning, chat.StatusComplete,
		"Quoting the sources of the last answer again: nothing to search for",
	)
	step.Summary = "The question is about the last answer alone."
	step.Details = map[string]any{"selection": w.selection(), "by": "rules", "path": "follow_up", "tools": []string{}}
	if err := w.emit(ctx, step); err != nil {
		return false, err
	}
	return true, w.writer.Write(ctx, onlyQuotes+"\n\n"+strings.Join(lines, "\n"))
}
