package run

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/agent/tools/calc"
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

// author is who wrote an answer: the model, or the program to report what it did.
type author string

const (
	writtenByModel   author = ""
	reportOfOpened   author = "opened"   // what the program opened for the reader, or what there is to open
	reportOfRejected author = "rejected" // which calls a person kept from running
)

// evaluation is how far an answer is borne out, as the program finds it.
type evaluation struct {
	// 0–1, in hundredths: cite.UncheckedConfidence at most where nothing was compared with passages
	confidence float64
	// one or more whole sentences, for the person who asked
	explained string
	// sentences of the answer without their footnotes, never nil: it goes into JSON as a list
	unsupported []string
	faultless   bool // everything that the answer states is held, or it states nothing
}

// evaluateAnswer says how far an answer is borne out, by what it is that has to bear it out. What the program itself
// said is judged by no text: it is certain.
func (w *Runner) evaluateAnswer(markdown string) evaluation {
	w.evidence.QuotesOnly = w.model.isRuleBased()
	if w.givenText() {
		c, explained := w.evidence.CompareGiven(markdown)
		return evaluation{c.Confidence(), explained, c.Unsupported, c.IsFaultless()}
	}
	if w.review.author == reportOfOpened {
		return evaluation{1, "The answer says only what was opened, or what there is to open.", []string{}, true}
	}
	if w.evidence.RestsOnContext(markdown) {
		c := w.evidence.CompareAdded(markdown)
		explained := "The answer rests on the text that came with the question, not on passages of documents."
		if !c.IsFaultless() {
			explained += " " + c.Explain("it")
		}
		return evaluation{c.Confidence(), explained, c.Unsupported, c.IsFaultless()}
	}
	if w.review.author == reportOfRejected {
		return evaluation{1, "The answer says only what was not done.", []string{}, true}
	}
	if len(w.cite.Citations) == 0 &&
		(!w.needsFootnotes() || !w.evidence.Results.IsEmpty() && w.restsOnTools(markdown) ||
			w.model.isRuleBased() && w.toolContext.Sources.IsEmpty()) {
		return w.evaluateWithout(markdown)
	}
	confidence, explained, unsupported := w.evidence.Evaluate(markdown)
	return evaluation{confidence, explained, unsupported, false}
}

// evaluateWithout compares an answer without footnotes, which needs none, with what there is to compare it with.
// Nothing is held back for it: the confidence and the list of unsupported sentences say it.
func (w *Runner) evaluateWithout(markdown string) evaluation {
	switch {
	case w.judgedTalk && !w.asked.NeedsDocuments():
		return evaluation{cite.UncheckedConfidence, "The answer needs no documents.", []string{}, true}
	case !w.asked.NeedsDocuments():
		return w.evaluateTalk(markdown)
	case !w.mustCite():
		c := w.evidence.Compare(markdown, func(said string, by cite.WordMatcher) (string, bool) {
			if held := w.evidence.ByTools(said, by); held != "" || !w.evidence.InPassages(said, by) {
				return held, false
			}
			return cite.ThePassages, false
		})
		return evaluation{
			c.Confidence(), "No footnotes were asked for. " + c.Explain(cite.ThePassages), c.Unsupported,
			c.IsFaultless(),
		}
	case !w.evidence.Results.IsEmpty():
		c := w.evidence.Compare(
			markdown,
			func(said string, by cite.WordMatcher) (string, bool) {
				return w.evidence.ByTools(said, by), false
			},
		)
		return evaluation{c.Confidence(), c.Explain(w.evidence.Results.DisplayName()) +
			" No passage of a document stands behind it.", c.Unsupported, c.IsFaultless()}
	}
	return evaluation{cite.UncheckedConfidence, "The answer needs no documents.", []string{}, true}
}

// evaluateTalk compares talk, sums and work on a text in the question with the conversation and what was calculated.
// The system prompt counts for talk, or the program could not say what it is.
func (k *knowledge) evaluateTalk(markdown string) evaluation {
	texts := append([]string{k.run.Request.Message}, k.conversation.evidence...)
	if question.IsTalk(k.run.Request.Message) {
		texts = append(texts, systemPrompt) // what it is and what it can do
	}
	against := k.evidence.Against(cite.TheConversation, texts)
	c := k.evidence.Compare(markdown, func(said string, by cite.WordMatcher) (held string, foreign bool) {
		if held = k.evidence.ByTools(said, by); held != "" {
			return held, false
		}
		if k.statesResult(said) {
			return cite.TheCalculation, false
		}
		return against(said, by)
	})
	return evaluation{
		c.Confidence(), "The answer needs no documents. " + c.Explain(cite.TheConversation), c.Unsupported,
		c.IsFaultless(),
	}
}

// searchCoverage says how much of what is in reach was looked into. A search looks into every document in reach, so one
// search counts them all; a document that was only shown to the user counts as neither searched nor read.
func (w *Runner) searchCoverage() chat.Coverage {
	readDocs, pages, empty, searches := w.toolContext.Sources.Readings()
	if w.review.author == reportOfOpened {
		return chat.Coverage{EmptySearches: []string{}}
	}
	searched := 0
	if searches > 0 {
		searched = w.documentsInReach
	}
	return chat.Coverage{
		Searched: searched, Opened: len(readDocs), PagesRead: pages, EmptySearches: append([]string{}, empty...),
	}
}

// equation is a sum with its result, as answers write it: 2 * 3 = 7.
var equation = regexp.MustCompile(`([\d(£$€¥][\d\s.,()+\-−*/^%×÷·£$€¥]*)=\s*([-−]?[£$€¥]?\d[\d,]*(?:\.\d+)?)`)

// sumNotes say of sentences that nothing bears out which of their sums are wrong, and whether the sum that was asked
// for was calculated at all.
func (k *knowledge) sumNotes(unsupported []string) []string {
	var out []string
	for _, said := range unsupported {
		for _, m := range equation.FindAllStringSubmatch(said, -1) {
			if result, wrong := wrongSum(m[1], m[2]); wrong {
				out = append(out, fmt.Sprintf("“%s” is wrong: it is %s.", strings.TrimSpace(m[0]), result))
			}
		}
	}
	if len(out) > 0 || len(unsupported) == 0 || k.asked.Type != question.Calculation {
		return out
	}
	v, ok := k.sumAsked()
	if !ok {
		if k.evidence.Results.Facts == "" {
			out = append(out, "The sum was not calculated, so nothing bears out what the answer says of it.")
		}
		return out
	}
	if !slices.ContainsFunc(unsupported, func(said string) bool {
		return slices.ContainsFunc(
			cite.Numeral.FindAllString(said, -1), func(n string) bool { return !differsFrom(v, n) },
		)
	}) {
		result, _ := v.Decimal()
		out = append(out, fmt.Sprintf("The sum comes to %s, which the answer does not say.", result))
	}
	return out
}

// sumAsked is the result of the sum that is the whole question. It begins at the first sign of a number, so that words
// before it do not matter; words behind it make it no sum.
func (k *knowledge) sumAsked() (v calc.Amount, ok bool) {
	if k.asked.Type != question.Calculation {
		return calc.Amount{}, false
	}
	at := strings.IndexAny(k.run.Request.Message, "(0123456789.-+")
	if at < 0 {
		return calc.Amount{}, false
	}
	v, err := calc.Evaluate(strings.TrimRight(k.run.Request.Message[at:], " =?"))
	return v, err == nil
}

// wrongSum compares a sum with the result that is said. What can't be read is not wrong. What it takes for an equation
// may be a date or a list of numbers.
func wrongSum(expression, said string) (result string, wrong bool) {
	v, err := calc.Evaluate(expression)
	if err != nil {
		return "", false
	}
	result, _ = v.Decimal()
	return result, differsFrom(v, said)
}

// differsFrom reports whether a value is another number than the one that is said, with as many decimals as are said.
// So 0.33 is right for 1/3, and 0.5 is wrong.
func differsFrom(v calc.Amount, said string) bool {
	n, err := calc.Evaluate(said)
	if err != nil {
		return false
	}
	_, decimals, _ := strings.Cut(said, ".")
	least := new(big.Rat).SetFrac(
		big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(decimals))), nil),
	)
	// a whole unit of the last decimal, so that rounding up and cutting off are both right
	diff := new(big.Rat).Sub(v.Rat, n.Rat)
	return diff.Abs(diff).Cmp(least) >= 0
}
