package run

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

//go:embed translate.md
var translatePrompt string

// findLanguages notes the languages of the documents in reach, if a model is to answer a question that is certainly in
// another. Rules told the documents' when they were added. A language that is only likely is not enough: a search in
// the wrong one finds nothing.
func (k *knowledge) findLanguages(ctx context.Context) error {
	asked := text.DetectForCertain(k.run.Request.Message)
	if asked == "" || k.givenText() || !k.asked.NeedsDocuments() {
		return nil
	}
	langs, err := k.cfg.Library.OtherLanguages(ctx, k.toolContext.ReadScope(), k.toolContext.DocumentIDs, asked)
	if err != nil {
		return fmt.Errorf("languages of the documents: %w", err)
	}
	k.otherLanguages = english.Languages(langs)
	return nil
}

// languagesPrompt tells the model in which languages to search. That costs no call: a model that searches writes its
// queries itself (docs/decisions/offline.md).
func (k *knowledge) languagesPrompt() string {
	if k.otherLanguages == "" {
		return ""
	}
	return "\nAs far as rules can tell, the documents in reach are in " + k.otherLanguages +
		", and the question is not: " +
		"search with words of the documents' language."
}

// translateSearches has the model translate, once in a run, what the program is about to search for with the words of
// a question in another language than the documents'. When the model fails the question is searched for as it is. Both
// are a step.
func (w *Runner) translateSearches(ctx context.Context, calls []llm.Call) error {
	tool := w.set.SearchTool()
	if w.otherLanguages == "" || w.remedies[translation] || tool == nil || w.model.isRuleBased() {
		return nil
	}
	for i, call := range calls {
		var args map[string]any
		if call.Name != tool.Name || json.Unmarshal(call.Arguments, &args) != nil || args["query"] != w.searchWords() {
			continue
		}
		if err := w.translateWords(ctx); err != nil {
			return err
		}
		args["query"] = w.searchWords()
		raw, err := json.Marshal(args)
		if err != nil {
			return fmt.Errorf("encode a translated search: %w", err)
		}
		calls[i].Arguments = raw
		return nil
	}
	return nil
}

// translateWords makes one call of the model for what searchWords returns from then on. searchWords is what all later
// searches of the program begin with, so one call serves them all.
func (w *Runner) translateWords(ctx context.Context) error {
	w.remedies[translation] = true
	begun, words := time.Now(), w.searchWords()
	said, spent, err := w.model.completeOnce(ctx, []llm.Message{
		{Role: llm.RoleSystem, Text: strings.ReplaceAll(translatePrompt, "{{languages}}", w.otherLanguages)},
		{Role: llm.RoleUser, Text: text.Visible(words)},
	})
	if cause := w.stopCause(ctx); cause != nil {
		return cause
	}
	step := w.log.newStep(
		"translate", chat.ActionPlanning, chat.StatusComplete, "Translated the search into "+w.otherLanguages,
	)
	step.Tokens, step.Cost = &spent.Tokens, spent.Cost
	if said = strings.Join(strings.Fields(said), " "); err != nil || said == "" {
		w.cfg.Log.ErrorContext(ctx, "search was not translated", "run", w.run.ID, "error", err)
		step.Status, step.ToolStatus = chat.StatusError, chat.StatusError
		step.Message = "The search was not translated into " + w.otherLanguages +
			": searching for the question as it is"
		step.Error = &chat.StepError{Code: chat.CodeModelFailed, Message: "The model did not translate it."}
	} else {
		w.translated = text.Shorten(said, 1000)
		step.Summary = w.translated
		step.Details["query"] = words
	}
	step.DurationMS = sinceMS(begun)
	return w.log.emitEvents(ctx, step)
}
