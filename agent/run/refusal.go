package run

import (
	"context"
	"slices"
	"strings"

	"footnote/agent/ground"
	"footnote/agent/question"
	"footnote/agent/tools"
	"footnote/chat"
	"footnote/corpus/text"
)

// searchedDocuments reports whether the documents were looked into: a search was completed and none failed, a
// document was read, or passages were shown.
func (w *Runner) searchedDocuments() bool {
	opened, _, _, searches := w.toolContext.Sources.Readings()
	return searches > 0 && len(w.failed) == 0 || len(opened) > 0 || !w.toolContext.Sources.IsEmpty()
}

// unanswered says of a refusal what it rests on.
func (w *Runner) unanswered() string {
	if !w.givenText() && !w.searchedDocuments() {
		return "Whether the documents answer this is not known: no search in them was completed."
	}
	return "Nothing that was found answers this."
}

// reviewUnsearched puts what was really done into a refusal of a run that did not look into the documents.
func (w *Runner) reviewUnsearched(ctx context.Context) error {
	_, _, _, searches := w.toolContext.Sources.Readings()
	if w.onFallback && (searches > 0 || len(w.failed) > 0) {
		return nil // it says by itself what it did
	}
	return w.refuseInstead(ctx, "Nothing was found because nothing was searched to its end: the answer says so")
}

// saysMore reports whether a refusal goes on with something that the run bears out by nothing: a statement that no
// passage holds which was shown, or other searches than those that were made. A refusal has no footnotes, so nothing
// else would tell the reader.
func (w *Runner) saysMore(refusal string) bool {
	passages := []string{w.run.Request.ContextText}
	for _, src := range w.toolContext.Sources.All() {
		passages = append(passages, src.Passage.Text)
	}
	opened, _, _, _ := w.toolContext.Sources.Readings()
	looked := w.toolContext.Sources.SearchedFor()
	for _, doc := range opened {
		looked += " " + doc.DisplayName()
	}
	return slices.ContainsFunc(w.evidence.ClaimsOf(refusal), func(c ground.Claim) bool {
		switch {
		case ground.IsRefusal(c.Text):
			return false
		case ground.IsFactualClaim(c.Text):
			return !w.cite.Judge.Backed(c.Text, ground.TalkWords, passages...) && !w.evidence.IsCovered(c)
		default:
			return !w.givenText() && slices.ContainsFunc(question.Keywords(c.Text), func(word string) bool {
				return !w.cite.Judge.Backed(word, talkOfSearches, looked)
			})
		}
	})
}

// talkOfSearches are words with which refusals speak of what was done. They need not stand in a query.
const talkOfSearches = ground.TalkWords +
	" search look find found read fit relevant information about nothing anything sorry "

// refuseInstead replaces an answer by a refusal that says what was searched.
func (w *Runner) refuseInstead(ctx context.Context, why string) error {
	if err := w.takeBack(ctx, w.newStep("review", chat.ActionAnalysing, chat.StatusComplete, why)); err != nil {
		return err
	}
	if w.givenText() {
		return w.writer.Write(ctx, ground.Refusal)
	}
	return w.writer.Write(ctx, ground.Refusal+w.searchesDone())
}

// searchesDone says which searches were completed and which were not, from what the tools returned.
func (w *Runner) searchesDone() string {
	opened, _, empty, searches := w.toolContext.Sources.Readings()
	said := ""
	if searches > 0 && len(empty) > 0 {
		said += " I searched for: " + strings.Join(empty, "; ") + "."
	}
	if len(opened) > 0 {
		names := make([]string, len(opened))
		for i, doc := range opened {
			names[i] = doc.DisplayName()
		}
		said += " I read: " + strings.Join(names, "; ") + "."
	}
	if said == "" && searches > 0 {
		said = " I searched for: " + text.Shorten(w.toolContext.Sources.SearchedFor(), 300) + "."
	}
	for _, message := range w.failed {
		said += " “" + message + "” failed, so your documents may still hold it."
	}
	if said == "" {
		said = " Nothing was searched"
		if w.set.SearchTool() == nil {
			said += ", because none of the tools that were allowed searches documents"
		}
		said += "."
	}
	if w.stop == chat.StopTimeout {
		said += " The time for this question was used up."
	}
	return said
}

// noteFailed remembers a search that failed or was cut off.
func (w *Runner) noteFailed(t *tools.Tool, s chat.Step) {
	if t != nil && t.Action == chat.ActionSearching && !slices.Contains(w.failed, s.Message) {
		w.failed = append(w.failed, s.Message)
	}
}
