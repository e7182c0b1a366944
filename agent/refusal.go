package agent

import (
	"context"
	"slices"
	"strings"

	"footnote/chat"
)

// looked reports whether the documents were looked into: a search was completed and none failed, a document was read, or passages were shown.
func (w *work) looked() bool {
	opened, _, _, searches := w.desk.sources.readings()
	return searches > 0 && len(w.failed) == 0 || len(opened) > 0 || !w.desk.sources.isEmpty()
}

// reviewUnsearched puts what was really done into a refusal of a run that did not look into the documents.
func (w *work) reviewUnsearched(ctx context.Context) error {
	_, _, _, searches := w.desk.sources.readings()
	if w.fell && (searches > 0 || len(w.failed) > 0) {
		return nil // it says by itself what it did
	}
	return w.refuseInstead(ctx, "Nothing was found because nothing was searched to its end: the answer says so")
}

// refuseInstead replaces an answer by a refusal that says what was searched.
func (w *work) refuseInstead(ctx context.Context, why string) error {
	if err := w.takeBack(ctx, w.phase("review", chat.ActionAnalysing, chat.StatusComplete, why)); err != nil {
		return err
	}
	return w.writer.write(ctx, Refusal+w.searchesDone())
}

// searchesDone says which searches were completed and which were not, from what the tools returned.
func (w *work) searchesDone() string {
	opened, _, empty, searches := w.desk.sources.readings()
	said := ""
	if searches > 0 && len(empty) > 0 {
		said += " I searched for: " + strings.Join(empty, "; ") + "."
	}
	if len(opened) > 0 {
		names := make([]string, len(opened))
		for i, doc := range opened {
			names[i] = filename(doc)
		}
		said += " I read: " + strings.Join(names, "; ") + "."
	}
	for _, message := range w.failed {
		said += " “" + message + "” failed, so your documents may still hold it."
	}
	if said == "" {
		said = " Nothing was searched"
		if w.set.searcher() == nil {
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
func (w *work) noteFailed(t *tool, s chat.Step) {
	if t != nil && t.action == chat.ActionSearching && !slices.Contains(w.failed, s.Message) {
		w.failed = append(w.failed, s.Message)
	}
}
