package run

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

// shortPath finds the questions that need no choosing: talk, work on a text that is given, a question about a footnote
// of the last answer, and one about a document that is named. Documents are still searched and read by tools. A path is
// taken only where its kind of question is certain; everything doubtful goes the usual way. None of them asks a model
// who chooses, so they save a turn each.
func (w *Runner) shortPath(ctx context.Context) (choice, bool, error) {
	c := choice{by: "rules", confidence: 0.95}
	switch {
	case w.asked.Type == question.General && question.IsTalk(w.run.Request.Message):
		c.path, c.message, c.why = "talk", "General talk: nothing to search for", "No document can answer this."
		return c, true, nil
	case w.asked.Reference == question.Rework:
		c.path, c.message, c.why = "transform", "Working on the last answer: nothing to search for",
			"The question wants the last answer in another form."
		return c, true, nil
	case w.asked.Type == question.General:
		c.path, c.message, c.why = "transform", "Working on the given text: nothing to search for",
			"The text to work on is given."
		return c, true, nil
	case w.set.SearchTool() == nil && w.readTool() == nil:
		return choice{}, false, nil
	}
	if _, ok := w.citationAsked(); ok {
		c, ok = w.citedPath()
		return c, ok, nil
	}
	return w.namedPath(ctx, c)
}

// onlyRules is said without a language model of a text to be put in other words.
const onlyRules = "I can't put a text in other words: that needs a language model, and Footnote is in offline mode. " +
	"I can search your documents, and answer with sentences from them."

// refuseOwnText answers without a language model that the text of a question can't be rewritten. ok is false
// for any other question.
func (w *Runner) refuseOwnText(ctx context.Context) (ok bool, err error) {
	if !w.model.isRuleBased() || w.givenText() || !w.isEnabled(featurePaths) ||
		!question.OrdersOwnText(w.run.Request.Message) {
		return false, nil
	}
	return true, w.log.writer.WriteWords(ctx, onlyRules)
}

// citedPath reads the source of the footnote of the last answer that the question is about. It is the one short path
// of the model made of rules, which knows the others by itself: earlier answers are told to models without their
// footnotes.
func (w *Runner) citedPath() (choice, bool) {
	cited, ok := w.citationAsked()
	if !ok {
		return choice{}, false
	}
	call, ok := w.calls.readingCall(cited.DocumentID, cited.Quote, 0)
	return choice{
		by: "rules", confidence: 0.95, path: "citation",
		message: "Looking at the source of footnote " + strconv.Itoa(cited.Number) + " again",
		why:     "The question is about a footnote of the last answer.", opening: []llm.Call{call},
	}, ok
}

// citationAsked is the footnote of the last answer that the question is about. A number without a footnote behind it is
// an ordinary question.
func (k *knowledge) citationAsked() (chat.Citation, bool) {
	m := text.Footnote.FindStringSubmatch(k.run.Request.Message)
	if m == nil {
		return chat.Citation{}, false
	}
	for _, cited := range k.conversation.citations {
		if number := strconv.Itoa(cited.Number); number == m[1] || number == m[2] {
			return cited, true
		}
	}
	return chat.Citation{}, false
}

// namedPath searches within the document that a question names, then reads it. It leaves comparisons and several names
// to the usual way: one document would hide the others.
func (w *Runner) namedPath(ctx context.Context, c choice) (choice, bool, error) {
	names := append(question.FileNames(w.run.Request.Message, 3), question.DocumentIDs(w.run.Request.Message)...)
	if w.asked.Type != question.SpecificDocument || len(names) > 1 || question.IsComparison(w.run.Request.Message) {
		return choice{}, false, nil
	}
	doc := w.titled
	if len(names) == 1 {
		var why string
		var err error
		if doc, why, err = w.toolContext.Resolve(ctx, names[0]); err != nil || why != "" {
			return choice{}, false, err
		}
	}
	if doc.ID == "" {
		return choice{}, false, nil
	}
	w.toolContext.Sources.AddDocuments(doc)
	if tool := w.set.SearchTool(); tool != nil {
		if call, ok := w.calls.programCall(tool.Name, map[string]any{"query": w.searchWords()}, 0); ok {
			c.opening = append(c.opening, call)
		}
	}
	if call, ok := w.calls.readingCall(doc.ID, w.run.Request.Message, 1); ok {
		c.then = append(c.then, call)
	}
	c.path, c.only, c.message = "document", doc.ID, "Looking into "+doc.DisplayName()
	c.why = "The question names a document."
	return c, len(c.opening)+len(c.then) > 0, nil
}

// mostQuoted is how many quotes of the last answer are said again: the whole of most answers, and the beginning of a
// long one, whose rest is still on the page.
const mostQuoted = 5

// onlyQuotes leads to the quotes that are all the rules have to say about an answer.
const onlyQuotes = "Without a language model I can't put it in other words, only quote again what the last answer " +
	"rests on:"

// quoteAgain answers a question about the last answer alone, when there is no language model, with what that answer
// quoted. It searches nothing. ok is false when that is not so, or when nothing is left of what was quoted. The quotes
// are numbered like passages of earlier runs, so that the writer makes ordinary footnotes of them.
func (w *Runner) quoteAgain(ctx context.Context) (ok bool, err error) {
	about := w.asked.Reference == question.Rework || w.asked.Reference == question.AsksWhy
	if !about || !w.model.isRuleBased() || w.givenText() || !w.isEnabled(featurePaths) ||
		len(w.conversation.citations) == 0 {
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
	// each quote once, in the order of the answer, of documents that the user may still see
	var again []chat.Citation
	numbers := map[string]int{}
	for _, c := range w.conversation.citations {
		i := slices.IndexFunc(passages, func(p corpus.Passage) bool { return p.ID == c.ChunkID })
		said := func(o chat.Citation) bool { return o.ChunkID == c.ChunkID && o.Quote == c.Quote }
		if i < 0 || c.Quote == "" || len(again) == mostQuoted || slices.ContainsFunc(again, said) {
			continue
		}
		doc, err := w.cfg.Library.Document(ctx, w.toolContext.ReadScope(), c.DocumentID)
		if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
			return false, fmt.Errorf("find a document of the last answer: %w", err)
		}
		if doc.ID == "" || !w.toolContext.InReach(doc) {
			continue
		}
		numbers[c.ChunkID] = firstRecalled + slices.Index(ids, c.ChunkID)
		w.toolContext.Sources.AddEarlier(numbers[c.ChunkID], passages[i], doc)
		again = append(again, c)
	}
	if len(again) == 0 {
		return false, nil
	}
	step := w.log.newStep(
		"choose", chat.ActionPlanning, chat.StatusComplete,
		"Quoting the sources of the last answer again: nothing to search for",
	)
	step.Summary = "The question is about the last answer alone."
	step.Details = map[string]any{
		"selection": w.model.toolSelection(),
		"by":        "rules",
		"path":      "follow_up",
		"tools":     []string{},
	}
	if err := w.log.emitEvents(ctx, step); err != nil {
		return false, err
	}
	if err := w.log.writer.WriteWords(ctx, onlyQuotes); err != nil {
		return false, err
	}
	// as a quotation, so that the page draws it like those of the answer before
	for _, c := range again {
		shown := "\n\n" + text.QuoteMarkdown(strings.Split(c.Quote, "\n")) + " "
		if err := w.log.writer.WriteWords(ctx, shown); err != nil {
			return false, err
		}
		if err := w.log.writer.Quote(ctx, numbers[c.ChunkID], c.Quote, c.Matched); err != nil {
			return false, err
		}
	}
	return true, nil
}
