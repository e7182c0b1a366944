package run

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

// mostNamed is the number of footnotes or documents that are listed for a request to open a missing one: about two
// lines, as a hint after a typing error. It also bounds the query of the library.
const mostNamed = 8

// openAsked opens the source that a question asks to open and reports it, without the model. ok is false if the
// question asks for something else, or the run may not open documents. Models get earlier answers without footnote
// numbers, so only the program can do it. last holds the events that end the run.
func (w *Runner) openAsked(ctx context.Context) (last []chat.Payload, ok bool, err error) {
	asked := strings.TrimSpace(w.run.Request.Message)
	// a longer text asks for more than opening; 400 bytes are several sentences
	if w.givenText() || len(asked) > 400 || !w.isEnabled(featurePaths) || w.set.Find("open_document") == nil {
		return nil, false, nil
	}
	var said string
	if number, cited := question.CitationToOpen(asked); cited {
		said, err = w.openCited(ctx, number)
	} else if name, sure := question.DocumentToOpen(asked); name != "" {
		said, err = w.openNamed(ctx, name, sure)
	}
	if err != nil || said == "" {
		return nil, false, err
	}
	w.review.author = reportOfOpened
	if err := w.log.writer.Write(ctx, said); err != nil {
		return nil, false, err
	}
	if said, err = w.log.writer.Finish(ctx); err != nil {
		return nil, false, err
	}
	return append(w.log.writer.Rest(), w.answerEvents(said, llm.FinishStop)...), true, nil
}

// openCited opens the source of a footnote of the last answer that has any. It queries the document again, since it
// may have been deleted, or hidden from the user.
func (w *Runner) openCited(ctx context.Context, number int) (said string, err error) {
	if len(w.conversation.citations) == 0 {
		return "There is no footnote to open yet: ask a question about your documents first.", nil
	}
	if number == question.LastCitation {
		number = w.conversation.citations[len(w.conversation.citations)-1].Number
	}
	for _, c := range w.conversation.citations {
		if c.Number != number {
			continue
		}
		doc, err := w.cfg.Library.Document(ctx, w.toolContext.Scope, c.DocumentID)
		if chat.CodeOf(orEmpty(err)) == chat.CodeNotFound {
			return fmt.Sprintf(
				"The document of footnote %d, %s, is not there any more.", number, text.EscapeMarkdown(c.Filename),
			), nil
		}
		if err != nil {
			return "", fmt.Errorf("find the document of a footnote: %w", err)
		}
		w.toolContext.Sources.AddCited(c, doc)
		return w.callOpen(ctx, fmt.Sprintf("Opened footnote %d: %s.", number, citedPlace(c)), map[string]any{
			"citation_number": number, "reason": "You asked for footnote " + strconv.Itoa(number),
		})
	}
	there := make([]string, len(w.conversation.citations))
	for i, c := range w.conversation.citations {
		there[i] = fmt.Sprintf("%d (%s)", c.Number, citedPlace(c))
	}
	return fmt.Sprintf(
		"There is no footnote %d in the last answer. It has %s.", number, joinNames(there, len(there)),
	), nil
}

// openNamed opens a document by name. The result is empty if the words may not be a name. sure is false for words
// that may be a question about something to open, as “open questions”.
func (w *Runner) openNamed(ctx context.Context, name string, sure bool) (said string, err error) {
	doc, ok, err := w.toolContext.FindByTitle(ctx, name)
	if err != nil {
		return "", err
	}
	if !ok && sure {
		var why locale.Message
		if doc, why, err = w.toolContext.Resolve(ctx, name); err != nil {
			return "", fmt.Errorf("find document: %w", err)
		}
		if ok = why == ""; ok && asksForMore(name, doc) {
			return "", nil
		}
	}
	switch {
	case ok:
		w.toolContext.Sources.AddDocuments(doc)
		return w.callOpen(ctx, "Opened "+text.EscapeMarkdown(doc.DisplayName())+".", map[string]any{
			"doc_id": doc.ID, "reason": "You asked for it",
		})
	case !sure:
		return "", nil
	}
	docs, _, err := w.cfg.Library.List(
		ctx, w.toolContext.Scope, corpus.Filter{IDs: w.toolContext.DocumentIDs, Limit: mostNamed},
	)
	if err != nil {
		return "", fmt.Errorf("list documents: %w", err)
	}
	if len(docs) == 0 {
		return "No documents yet. Add some first.", nil
	}
	names := make([]string, len(docs))
	for i, d := range docs {
		names[i] = text.EscapeMarkdown(d.DisplayName())
	}
	return fmt.Sprintf(
		"There is no document called “%s”. There %s %s.", text.EscapeMarkdown(text.Shorten(name, 80)),
		english.Choose(len(names) == 1, "is", "are"), joinNames(names, max(w.documentsInReach, len(names))),
	), nil
}

// asksForMore reports whether the words in place of a document's name outnumber those of its title and file name.
// Then a question follows the name, as in “the handbook and say when it was written”.
func asksForMore(name string, doc corpus.Document) bool {
	return len(strings.Fields(name)) > max(len(strings.Fields(doc.Title)), len(strings.Fields(doc.Filename)))
}

// callOpen makes the call that opens a source, and returns the report. The call runs through the tool like a
// model's, so it looks the same in the log, on the page and in a resumed run. An empty text means that no call was
// made and the question is answered as usual.
func (w *Runner) callOpen(ctx context.Context, said string, args map[string]any) (string, error) {
	call, ok := w.calls.programCall("open_document", args, 0)
	if !ok {
		return "", nil
	}
	opening := reply{finish: llm.FinishCalls, calls: []llm.Call{call}, byProgram: true}
	if err := w.calls.runCalls(ctx, opening); err != nil {
		return "", err
	}
	// the tool may refuse, as for a document deleted just now
	if !w.toolContext.Sources.WasShownToUser() {
		return "It was not opened.", nil
	}
	return said, nil
}

// citedPlace returns a citation's document and page as Markdown, with the name escaped.
func citedPlace(c chat.Citation) string {
	name := c.Filename
	if name == "" {
		name = c.Title
	}
	if place, paged := strings.CutPrefix(c.PlaceWords(), "p. "); paged {
		return text.EscapeMarkdown(name) + ", page " + place
	} else if place != "" {
		return text.EscapeMarkdown(name + ", " + place)
	}
	return text.EscapeMarkdown(name)
}

// joinNames joins the first mostNamed names with commas. all is the total, for the number of omitted ones.
func joinNames(names []string, all int) string {
	if len(names) > mostNamed {
		names = names[:mostNamed]
	}
	if rest := all - len(names); rest > 0 {
		return strings.Join(names, ", ") + " and " + strconv.Itoa(rest) + " more"
	}
	return english.List(names)
}
