package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

const (
	// maxMemories is of how many finished runs it is kept what they rested on. What 25 answers rested on is read in 0.7
	// ms with it and in 2.2 without (BenchmarkRecollect, two busy cores).
	maxMemories = 2000

	// firstRecalled is the number of the first passage that is known from earlier in the conversation: far from those
	// of the run's own, so that a run that goes on after a restart gives out the same numbers again.
	firstRecalled = 501
)

// runMemory is what a finished run leaves to those after it. It is small beside the log that it is read from, which
// holds every result.
type runMemory struct {
	sources   []chat.Source
	citations []chat.Citation
	passages  []string // ids, those of cited ones first
	begun     string   // what was written of an answer that a user stopped

	isSupported bool     // the confidence in its answer is above 0
	unsupported []string // sentences of its answer
}

// readRunMemory reads what an answered run rested on. The memory of a finished run is cached: its log never changes.
// One under way, such as a parent that still runs, is read each time.
func (k *knowledge) readRunMemory(ctx context.Context, run chat.Run) (runMemory, error) {
	if known, ok := k.engine.memories.Get(run.ID); ok {
		return known, nil
	}
	log, err := k.engine.ReadLog(ctx, run)
	if err != nil {
		return runMemory{}, fmt.Errorf("read an earlier answer: %w", err)
	}
	transcript, err := chat.Fold(log)
	if err != nil {
		return runMemory{}, fmt.Errorf("read an earlier answer: %w", err)
	}
	var out runMemory
	if run.Status == chat.RunCancelled {
		out.begun = transcript.Text()
	}
	if a := transcript.Answer; a != nil {
		out.sources, out.citations = a.Sources[:min(len(a.Sources), 20)], a.Citations
		out.isSupported, out.unsupported = a.Confidence > 0, a.Unsupported
	}
	var shown []string
	for _, s := range transcript.Steps {
		if s.Status == chat.StatusComplete && s.ToolName != "" {
			shown = shownIn(s.Result, shown)
		}
	}
	for _, c := range out.citations {
		out.passages = text.AppendNew(out.passages, c.ChunkID)
	}
	for _, id := range shown {
		out.passages = text.AppendNew(out.passages, id)
	}
	if run.Status != chat.RunRunning {
		k.engine.memories.Add(run.ID, out)
	}
	return out, nil
}

// shownIn adds the passages of a tool's result. At most memoryPassages are taken, in the order in which tools showed
// them.
func shownIn(r *chat.StepResult, out []string) []string {
	if r == nil {
		return out
	}
	for _, hit := range r.Hits {
		if hit.ChunkID != "" && len(out) < memoryPassages {
			out = text.AppendNew(out, hit.ChunkID)
		}
	}
	return out
}

// promptEarlierPassages tells the model of the passages that the conversation rested on so far, as far as there is
// room, under numbers of their own: what was found out is still known, and can be cited, without another search.
// Passages of documents that are gone, or not in reach any more, are left out without a word. The room is Memory.Tokens
// once more. Whoever may not see a document gets nothing of it, although it was shown before.
func (w *Runner) promptEarlierPassages(ctx context.Context) error {
	ids := w.conversation.passages
	if len(ids) == 0 || w.givenText() || w.model.isRuleBased() {
		return nil
	}
	passages, err := w.cfg.Library.Passages(ctx, w.toolContext.ReadScope(), ids)
	if err != nil {
		return fmt.Errorf("fetch passages of the conversation: %w", err)
	}
	byID := map[string]corpus.Passage{}
	for _, p := range passages {
		byID[p.ID] = p
	}
	var shown strings.Builder
	left, documents := w.cfg.Memory.Tokens, map[string]corpus.Document{}
	for i, id := range ids {
		p, ok := byID[id]
		if !ok || left <= 0 {
			continue
		}
		doc, known := documents[p.DocumentID]
		if !known {
			if doc, err = w.cfg.Library.Document(ctx, w.toolContext.ReadScope(), p.DocumentID); err != nil &&
				chat.CodeOf(err) != chat.CodeNotFound {
				return fmt.Errorf("find a document of the conversation: %w", err)
			}
			documents[p.DocumentID] = doc
		}
		if doc.ID == "" || !w.toolContext.InReach(doc) || estimateTokens(p.Text) > left {
			continue
		}
		left -= estimateTokens(p.Text)
		w.toolContext.Sources.AddEarlier(firstRecalled+i, p, doc)
		fmt.Fprintf(
			&shown, "[%d] (%s, doc_id %s, %s)\n%s\n\n", firstRecalled+i, text.Shorten(doc.DisplayTitle(), 80), doc.ID,
			text.Shorten(p.Section, 120), p.Text,
		)
	}
	if shown.Len() > 0 {
		w.messages.list[0].Text += "\nWhat tools showed earlier in this conversation. Cite these passages by their " +
			"numbers; search again only for what they do not hold:\n" +
			fenceData(
				w.nonce,
				strings.TrimSpace(shown.String()),
			)
	}
	return nil
}
