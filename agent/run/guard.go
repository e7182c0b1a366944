package run

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/english"
)

// Guard says which questions are not worked on at all. It is no protection against what documents say: their text is
// fenced as data (fenceData).
type Guard struct {
	Input     []string // RE2 patterns, matched without case anywhere in a question; nil: DefaultGuard
	MaxLength int      // runes of a question; 0: no limit but that of all requests
}

// DefaultGuard stops orders to ignore the program's instructions. An order must stand at the start of a sentence, so
// that a question about such orders passes. "Ignore the rules of the handbook" passes too: the words that follow
// "rules" say that they are a document's. It stops what people try first, and no more: whoever writes around it gets
// the rules of the prompt and the fence.
func DefaultGuard() []string {
	const (
		begin = `(?:^|[.!?\n])[\s>#*"'“-]*(?:(?:please|now|just|kindly|first|then|ok|okay|so|also|` +
			`from\s+now\s+on)[\s,]+|you\s+(?:must|should|are\s+to|have\s+to)\s+|i\s+(?:want|need)\s+you\s+to\s+)*`
		ignore = `(?:ignore|disregard|forget|override|bypass)\s+`
		rules  = `(?:instructions?|rules?|prompts?|guidelines?|restrictions?)`
		all    = `(?:(?:all|any)\s+)?(?:of\s+)?`
		end    = `\s*(?:[.!]|$|\n|and\b|then\b|above\b|(?:that\s+)?you\s+(?:were|have\s+been|got)\b)`
	)
	return []string{
		begin + ignore + all + `(?:the\s+|your\s+|these\s+|my\s+)?(?:previous|prior|above|earlier)\s+` + rules,
		begin + ignore + all +
			`your\s+(?:(?:own|previous|prior|current|original|initial|internal|hidden|safety|system|other)\s+)*(?:` +
			rules + `|training|programming)\b(?:$|[^'’])`,
		begin + ignore +
			`(?:(?:all|any)\s+(?:of\s+)?(?:(?:the|these|those|my)\s+)?|(?:the|these|those|my)\s+)(?:(?:system|` +
			`safety)\s+)?` +
			rules + end,
		begin + ignore + all +
			`(?:the\s+)?system\s+(?:prompt|instructions?|rules?|guidelines?)(?:\s*(?:[.,;:!?]|$)|\s+(?:and|then|but|` +
			`so)\b)`,
		begin + ignore + `(?:(?:everything|all)\s+(?:the\s+)?above` + end +
			`|(?:everything|all|what(?:ever)?)\s+(?:that\s+)?you\s+(?:were|have\s+been)\s+(?:told|given|instructed))`,
		`(?:^|[.!?\n]\s*)(?:please\s+|now\s+)*(?:reveal|show|print|repeat|output|` +
			`tell)\s+(?:me\s+)?(?:all\s+(?:of\s+)?)?your\s+(?:system|hidden|initial|secret)\s+(?:prompt|` +
			`instructions?|message)`,
	}
}

// Check says what is wrong with it.
func (g Guard) Check() error {
	_, err := newGuard(g)
	return err
}

// guard is a Guard that is ready to use.
type guard struct {
	rules   []guardRule
	longest int
}

// guardRule is one pattern; own says that it is not one of DefaultGuard but of those who run the server.
type guardRule struct {
	re  *regexp.Regexp
	own bool
}

// newGuard compiles the patterns. It fails for one that is no RE2 expression and for a negative length, naming the
// setting.
func newGuard(g Guard) (guard, error) {
	if g.Input == nil {
		g.Input = DefaultGuard()
	}
	if g.MaxLength < 0 {
		return guard{}, errors.New("guard.max_length can't be negative")
	}
	out := guard{longest: g.MaxLength}
	for _, p := range g.Input {
		re, err := regexp.Compile("(?i)" + p)
		if err != nil {
			return guard{}, fmt.Errorf("guard.input %q is no RE2 pattern: %w", p, err)
		}
		out.rules = append(out.rules, guardRule{re, !slices.Contains(DefaultGuard(), p)})
	}
	return out, nil
}

// blockReason returns why a question is not worked on, as a sentence for its user; empty when it is. Patterns are tried
// in their order; the sentence does not say which one matched, so that it can't be probed.
func (g guard) blockReason(question string) string {
	if g.longest > 0 && utf8.RuneCountInString(question) > g.longest {
		return fmt.Sprintf(
			"The question is longer than the %s allowed here. Shorten it.", english.Count(g.longest, "character"),
		)
	}
	for _, rule := range g.rules {
		switch {
		case !rule.re.MatchString(question):
		case rule.own:
			return "A rule of this server stops questions like this one. Ask in other words, or about something else " +
				"in your documents."
		default:
			return "This reads like an order to the program and not like a question about your documents. Ask about " +
				"the documents."
		}
	}
	return ""
}

// guardInput ends a run whose question a guard stops, visibly. Nothing is read before: a question that is stopped costs
// no search and no model.
func (w *Runner) guardInput(ctx context.Context) error {
	why := w.engine.guard.blockReason(w.run.Request.Message)
	if why == "" {
		return nil
	}
	step := w.log.newStep("guard", chat.ActionAnalysing, chat.StatusError, "The question was stopped by a guardrail")
	step.Error = &chat.StepError{Code: chat.CodeGuardrail, Message: why}
	if err := w.log.emitEvents(ctx, w.startedEvent(), step); err != nil {
		return err
	}
	return &chat.Error{Code: chat.CodeGuardrail, Message: why}
}
