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
	"github.com/footnote/footnote/text/locale"
)

// Guard configures the rules that block a question. It does not protect against document content, which is fenced as
// data (fenceData).
type Guard struct {
	Input     []string // RE2 patterns, matched without case anywhere in a question; nil: DefaultGuard
	MaxLength int      // in runes; 0: no limit but that of all requests
}

// DefaultGuard returns patterns that block orders to ignore the program's instructions. An order must start a
// sentence, so that a question about such orders passes. "Ignore the rules of the handbook" passes too, since its
// "rules" are a document's. It matches only the common attempts. For all others, the rules of the prompt and the
// fence apply.
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

// Check returns an error for an invalid pattern or limit.
func (g Guard) Check() error {
	_, err := newGuard(g)
	return err
}

// guard is a compiled Guard.
type guard struct {
	rules   []guardRule
	longest int
}

// guardRule is one pattern. own marks a pattern from the settings rather than DefaultGuard.
type guardRule struct {
	re  *regexp.Regexp
	own bool
}

// newGuard compiles the patterns. It fails for an invalid RE2 expression and for a negative length, and names the
// setting.
func newGuard(g Guard) (guard, error) {
	if g.Input == nil {
		g.Input = DefaultGuard()
	}
	if g.MaxLength < 0 {
		return guard{}, errors.New("guard.max_length must be 0 or more")
	}
	out := guard{longest: g.MaxLength}
	for _, p := range g.Input {
		re, err := regexp.Compile("(?i)" + p)
		if err != nil {
			return guard{}, fmt.Errorf("guard.input %q is not a valid RE2 pattern: %w", p, err)
		}
		out.rules = append(out.rules, guardRule{re, !slices.Contains(DefaultGuard(), p)})
	}
	return out, nil
}

// blockReason returns why a question is blocked, as a sentence for the user; empty if it is not. Patterns are tried
// in order. The sentence does not reveal the matching pattern, so that users can't probe the rules.
func (g guard) blockReason(question string) locale.Message {
	if g.longest > 0 && utf8.RuneCountInString(question) > g.longest {
		return locale.Say(
			"The question exceeds the limit of {1}. Shorten it.", locale.Count(g.longest, "character"),
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

// guardInput ends a run whose question a rule blocks, with a visible step. It runs before anything is read: a
// blocked question costs no search and no model tokens.
func (w *Runner) guardInput(ctx context.Context) error {
	why := w.engine.guard.blockReason(w.run.Request.Message)
	if why == "" {
		return nil
	}
	step := w.log.newStep("guard", chat.ActionAnalysing, chat.StatusError, "The question was blocked by a guardrail")
	step.Error = chat.NewStepError(chat.CodeGuardrail, why, false)
	if err := w.log.emitEvents(ctx, w.startedEvent(), step); err != nil {
		return err
	}
	return &chat.Error{Code: chat.CodeGuardrail, Message: why}
}

// author identifies who wrote an answer: the model, or the program as a report.
type author string

const (
	writtenByModel   author = ""
	reportOfOpened   author = "opened"   // report of documents that the program opened, or of those there are
	reportOfRejected author = "rejected" // report of calls that were not approved
)

// evaluation is the result of comparing an answer with its evidence.
type evaluation struct {
	// 0–1, in hundredths; at most cite.UncheckedConfidence if nothing was compared with passages
	confidence float64
	// one or more whole sentences, for the user
	explained string
	// sentences of the answer without their footnotes; never nil, so that it encodes to a JSON list
	unsupported []string
	faultless   bool // every statement of the answer is supported, or it has none
}

// evaluateAnswer compares an answer with the evidence that applies to it: the given text, passages, tool results or
// the conversation. The program's own reports have confidence 1.
func (w *Runner) evaluateAnswer(markdown string) evaluation {
	w.evidence.QuotesOnly = w.model.isRuleBased()
	if w.givenText() {
		c, explained := w.evidence.CompareGiven(markdown)
		return evaluation{c.Confidence(), explained, c.Unsupported, c.IsFaultless()}
	}
	if w.review.author == reportOfOpened {
		return evaluation{1, "The answer only reports which document was or can be opened.", []string{}, true}
	}
	if w.evidence.UsesOnlyContext(markdown) {
		c := w.evidence.CompareAdded(markdown)
		explained := "The answer is based on the text in the question, not on passages of documents."
		if !c.IsFaultless() {
			explained += " " + c.Explain("it")
		}
		return evaluation{c.Confidence(), explained, c.Unsupported, c.IsFaultless()}
	}
	if w.review.author == reportOfRejected {
		return evaluation{1, "The answer only reports which action was denied.", []string{}, true}
	}
	if len(w.cite.Citations) == 0 &&
		(!w.needsFootnotes() || !w.evidence.Results.IsEmpty() && w.restsOnTools(markdown) ||
			w.model.isRuleBased() && w.toolContext.Sources.IsEmpty()) {
		return w.evaluateWithout(markdown)
	}
	confidence, explained, unsupported := w.evidence.Evaluate(markdown)
	return evaluation{confidence, explained, unsupported, false}
}

// evaluateWithout evaluates an answer that has no footnotes and needs none against the other evidence. It never
// holds an answer back: the confidence and the list of unsupported sentences report the result.
func (w *Runner) evaluateWithout(markdown string) evaluation {
	switch {
	case w.judgedTalk && !w.asked.NeedsDocuments():
		return evaluation{cite.UncheckedConfidence, "The answer needs no documents.", []string{}, true}
	case !w.asked.NeedsDocuments():
		return w.evaluateUncited(markdown)
	case !w.mustCite():
		c := w.evidence.Compare(markdown, func(said string, by cite.WordMatcher) (string, bool) {
			if held := w.evidence.ByTools(said, by); held != "" || !w.evidence.InPassages(said, by) {
				return held, false
			}
			return cite.ThePassages, false
		})
		return evaluation{
			c.Confidence(), "Footnotes were not requested. " + c.Explain(cite.ThePassages), c.Unsupported,
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
			" It cites no passage of a document.", c.Unsupported, c.IsFaultless()}
	}
	return evaluation{cite.UncheckedConfidence, "The answer needs no documents.", []string{}, true}
}

// evaluateUncited compares small talk, sums and work on a text in the question with the conversation and calculated
// results. For small talk the system prompt is evidence too, so that the program can describe itself.
func (k *knowledge) evaluateUncited(markdown string) evaluation {
	texts := append([]string{k.run.Request.Message}, k.conversation.evidence...)
	if question.IsTalk(k.run.Request.Message) {
		texts = append(texts, systemPrompt) // describes the program and its abilities
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

// searchCoverage returns how many documents in reach were searched and read. A search covers every document in
// reach, so one search counts all. A document that was only opened for the user counts as neither.
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

// equation matches a calculation with its result in an answer: 2 * 3 = 7.
var equation = regexp.MustCompile(`([\d(£$€¥][\d\s.,()+\-−*/^%×÷·£$€¥]*)=\s*([-−]?[£$€¥]?\d[\d,]*(?:\.\d+)?)`)

// sumNotes returns notes on the sums in unsupported sentences. It corrects the wrong ones. If there are none, it
// notes that the requested sum was not calculated, or that the answer omits its result.
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
			out = append(out, "The result in the answer is unverified, because it was not calculated.")
		}
		return out
	}
	if !slices.ContainsFunc(unsupported, func(said string) bool {
		return slices.ContainsFunc(
			cite.Numeral().FindAllString(said, -1), func(n string) bool { return !differsFrom(v, n) },
		)
	}) {
		result, _ := v.Decimal()
		out = append(out, fmt.Sprintf("The result is %s, which is missing in the answer.", result))
	}
	return out
}

// sumAsked returns the result of the sum that is the whole question. Words before the first character of a number
// are ignored. With words after the sum, ok is false.
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

// wrongSum compares a calculation with its stated result. Unparsable text is not wrong: an apparent equation may be
// a date or a list of numbers.
func wrongSum(expression, said string) (result string, wrong bool) {
	v, err := calc.Evaluate(expression)
	if err != nil {
		return "", false
	}
	result, _ = v.Decimal()
	return result, differsFrom(v, said)
}

// differsFrom reports whether a value differs from the stated number, at the stated number of decimals. So 0.33 is
// right for 1/3, and 0.5 is wrong.
func differsFrom(v calc.Amount, said string) bool {
	n, err := calc.Evaluate(said)
	if err != nil {
		return false
	}
	_, decimals, _ := strings.Cut(said, ".")
	least := new(big.Rat).SetFrac(
		big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(decimals))), nil),
	)
	// tolerance is one unit of the last decimal, so that rounding up and truncating are both right
	diff := new(big.Rat).Sub(v.Rat, n.Rat)
	return diff.Abs(diff).Cmp(least) >= 0
}
