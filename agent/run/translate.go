package run

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"footnote/chat"
	"footnote/corpus/text"
	"footnote/english"
	"footnote/llm"
)

//go:embed translate.md
var translatePrompt string

// findLanguages notes the languages of the documents in reach, if a model is to answer a question that is certainly in
// another. Rules told the documents' when they were added.
func (t *task) findLanguages(ctx context.Context) error {
	asked := text.DetectForCertain(t.run.Request.Message)
	if asked == "" || t.givenText() || !t.asked.NeedsDocuments() {
		return nil
	}
	langs, err := t.cfg.Library.OtherLanguages(ctx, t.toolContext.ReadScope(), t.toolContext.DocumentIDs, asked)
	if err != nil {
		return fmt.Errorf("languages of the documents: %w", err)
	}
	t.otherLanguages = english.Languages(langs)
	return nil
}

// languagesPrompt tells the model in which languages to search. That costs no call: a model that searches writes its
// queries itself.
func (t *task) languagesPrompt() string {
	if t.otherLanguages == "" {
		return ""
	}
	return "\nAs far as rules can tell, the documents in reach are in " + t.otherLanguages +
		", and the question is not: " +
		"search with words of the documents' language."
}

// translateSearches has the model translate, once in a run, what the program is about to search for with the words of
// a question in another language than the documents'. When the model fails the question is searched for as it is. Both
// are a step.
func (s *toolSelector) translateSearches(ctx context.Context, calls []llm.Call) error {
	tool := s.set.SearchTool()
	if s.otherLanguages == "" || s.remedies[translation] || tool == nil || s.model.isRuleBased() {
		return nil
	}
	for i, call := range calls {
		var args map[string]any
		if call.Name != tool.Name || json.Unmarshal(call.Arguments, &args) != nil || args["query"] != s.searchWords() {
			continue
		}
		if err := s.translateWords(ctx); err != nil {
			return err
		}
		args["query"] = s.searchWords()
		raw, err := json.Marshal(args)
		if err != nil {
			return fmt.Errorf("encode a translated search: %w", err)
		}
		calls[i].Arguments = raw
		return nil
	}
	return nil
}

// translateWords makes one call of the model for what searchWords returns from then on.
func (s *toolSelector) translateWords(ctx context.Context) error {
	s.remedies[translation] = true
	begun, words := time.Now(), s.searchWords()
	said, spent, err := s.model.completeOnce(ctx, []llm.Message{
		{Role: llm.RoleSystem, Text: strings.ReplaceAll(translatePrompt, "{{languages}}", s.otherLanguages)},
		{Role: llm.RoleUser, Text: text.Visible(words)},
	})
	if cause := s.stopCause(ctx); cause != nil {
		return cause
	}
	step := s.log.newStep(
		"translate", chat.ActionPlanning, chat.StatusComplete, "Translated the search into "+s.otherLanguages,
	)
	step.Tokens, step.Cost = &spent.Tokens, spent.Cost
	if said = strings.Join(strings.Fields(said), " "); err != nil || said == "" {
		s.cfg.Log.WarnContext(ctx, "search was not translated", "run", s.run.ID, "error", err)
		step.Status, step.ToolStatus = chat.StatusError, chat.StatusError
		step.Message = "The search was not translated into " + s.otherLanguages +
			": searching for the question as it is"
		step.Error = &chat.StepError{Code: chat.CodeModelFailed, Message: "The model did not translate it."}
	} else {
		s.translated = text.Shorten(said, 1000)
		step.Summary = s.translated
		step.Details["query"] = words
	}
	step.DurationMS = sinceMS(begun)
	return s.log.emitEvents(ctx, step)
}
