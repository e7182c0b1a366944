package run

import (
	"context"
	"strconv"

	"footnote/agent/question"
	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

// shortPath finds the questions that need no choosing: talk, work on a text that is given, a question about a
// footnote of the last answer, and one about a document that is named. Documents are still searched and read by
// tools.
func (w *Runner) shortPath(ctx context.Context) (choice, bool, error) {
	c := choice{by: "rules", confidence: 0.95}
	switch {
	case w.asked.Type == question.General && question.IsTalk(w.run.Request.Message):
		c.path, c.message, c.why = "talk", "General talk: nothing to search for", "No document can answer this."
		return c, true, nil
	case w.asked.Reference == question.Rework:
		c.path, c.message, c.why = "transform", "Working on the last answer: nothing to search for", "The question wants the last answer in another form."
		return c, true, nil
	case w.asked.Type == question.General:
		c.path, c.message, c.why = "transform", "Working on the given text: nothing to search for", "The text to work on is given."
		return c, true, nil
	case w.set.SearchTool() == nil && w.reader() == nil:
		return choice{}, false, nil
	}
	if _, ok := w.citedBefore(); ok {
		c, ok = w.citedPath()
		return c, ok, nil
	}
	return w.namedPath(ctx, c)
}

// citedPath reads the source of the footnote of the last answer that the question is about. It is the one short path
// of the model made of rules, which knows the others by itself: earlier answers are told to models without their
// footnotes.
func (w *Runner) citedPath() (choice, bool) {
	cited, ok := w.citedBefore()
	if !ok {
		return choice{}, false
	}
	call, ok := w.reading(cited.DocumentID, cited.Quote, 0)
	return choice{
		by: "rules", confidence: 0.95, path: "citation",
		message: "Looking at the source of footnote " + strconv.Itoa(cited.Number) + " again",
		why:     "The question is about a footnote of the last answer.", opening: []llm.Call{call},
	}, ok
}

// citedBefore is the footnote of the last answer that the question is about.
func (w *Runner) citedBefore() (chat.Citation, bool) {
	m := text.Footnote.FindStringSubmatch(w.run.Request.Message)
	if m == nil {
		return chat.Citation{}, false
	}
	for _, cited := range w.conversation.citations {
		if number := strconv.Itoa(cited.Number); number == m[1] || number == m[2] {
			return cited, true
		}
	}
	return chat.Citation{}, false
}

// namedPath searches within the document that a question names, then reads it.
func (w *Runner) namedPath(ctx context.Context, c choice) (choice, bool, error) {
	names := append(question.FileNames(w.run.Request.Message, 3), question.DocumentIDs(w.run.Request.Message)...)
	if w.asked.Type != question.SpecificDocument || len(names) > 1 || question.IsComparison(w.run.Request.Message) {
		return choice{}, false, nil
	}
	doc := w.titled
	if len(names) == 1 {
		var why string
		var err error
		if doc, why, err = w.toolContext.Find(ctx, names[0]); err != nil || why != "" {
			return choice{}, false, err
		}
	}
	if doc.ID == "" {
		return choice{}, false, nil
	}
	w.toolContext.Sources.AddDocuments(doc)
	if tool := w.set.SearchTool(); tool != nil {
		if call, ok := w.call(tool.Name, map[string]any{"query": w.searchWords()}, 0); ok {
			c.opening = append(c.opening, call)
		}
	}
	if call, ok := w.reading(doc.ID, w.run.Request.Message, 1); ok {
		c.then = append(c.then, call)
	}
	c.path, c.only, c.message = "document", doc.ID, "Looking into "+doc.DisplayName()
	c.why = "The question names a document."
	return c, len(c.opening)+len(c.then) > 0, nil
}
