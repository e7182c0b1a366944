package tools

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

// CheckPassages is the name of the tool that asks a language model whether passages answer.
const CheckPassages = "check_passages"

// Limits of one call. With 6 quotes of at most MaxCheckedRunes a check reads some 1,600 tokens, which takes 2 s at 800
// tokens a second.
const (
	MaxChecked         = 6    // quotes
	MaxCheckedQuestion = 1000 // runes of the question
	MaxCheckedRunes    = 800  // runes of a quote, without its title and section
)

const quotesSchema = `{"type": "array", "minItems": 1, "maxItems": 6, "items": {
	"type": "object", "additionalProperties": false, "required": ["n"], "properties": {
		"n": {"type": "integer", "minimum": 1, "description": "The passage's number n"},
		"words": {"type": "string", "minLength": 1, "maxLength": 4000,
			"description": "The words of it to check; without them, its beginning"}
	}
}}`

// quote identifies words of a passage. Empty Words selects the whole passage, which checkedText truncates.
type quote struct {
	N     int    `json:"n"`
	Words string `json:"words,omitempty"`
}

// Check is a batch of texts for a language model to judge: whether each states the answer to the question.
type Check struct {
	Question string
	Texts    []string
	Checked  func([]llm.Verdict) Result // builds the result from the verdicts, one for each text
}

// checkPassages has a language model judge quotes. It reads nothing from the library. The run sends the requests to the
// model (Result.Check), since tools call no model themselves.
func checkPassages(_ context.Context, d *Context, in args) (Result, error) {
	check := &Check{Question: in.Question}
	var sources []cite.Source
	for i, q := range in.Quotes {
		src, err := d.source(q.N)
		if err != nil {
			return Result{}, err
		}
		if q.Words == "" {
			in.Quotes[i].Words = src.Passage.Text
		}
		sources = append(sources, src)
		check.Texts = append(check.Texts, checkedText(src, in.Quotes[i].Words))
	}
	check.Checked = func(verdicts []llm.Verdict) Result { return checkResult(in, sources, verdicts) }
	return Result{WhyRefused: "There is no language model to check passages with.", Check: check}, nil
}

// checkedText formats a quote for the model: its document's title and its section, then the words.
func checkedText(src cite.Source, words string) string {
	title, section := src.Document.DisplayTitle(), src.Passage.Section
	head := text.Shorten(title, 80)
	switch {
	case strings.HasPrefix(section, title):
		head = text.Shorten(section, 200)
	case section != "":
		head += ": " + text.Shorten(section, 120)
	}
	return head + "\n" + text.Shorten(strings.TrimSpace(words), MaxCheckedRunes)
}

// checkResult builds the result of check_passages: the verdict on each quote, in the order of the call. A quote answers
// if yes is more probable than no. Its probability is calibrated: the share of quotes with such a verdict that were
// right, 0–1. It is omitted if the model's server returns no log-probabilities.
func checkResult(in args, sources []cite.Source, verdicts []llm.Verdict) Result {
	var quotes []object
	answer := 0 // number of quotes that answer
	result := chat.StepResult{Query: in.Question, Found: len(verdicts)}
	for i, v := range verdicts {
		src, words := sources[i], in.Quotes[i].Words
		hit := documentHit(src.Document)
		hit.N, hit.ChunkID, hit.BlockID = src.N, src.Passage.ID, src.Passage.FirstBlock
		hit.Page, hit.Section, hit.Snippet, hit.Answers = src.Passage.Page, src.Passage.Section, words, v.Yes
		if v.Known {
			hit.Score = new(math.Round(probability(v.Odds)*1000) / 1000)
		}
		if v.Yes {
			answer++
		}
		result.Hits = append(result.Hits, hit)
		quotes = append(quotes, pick("n words answers probability", map[string]any{
			"n": in.Quotes[i].N, "words": given(words), "answers": v.Yes, "probability": given(hit.Score),
		}))
	}
	out := object{{"question", in.Question}, {"checked", len(verdicts)}, {"answer", answer}, {"quotes", quotes}}
	return Result{
		Message: locale.Say("Checked {1}", locale.Count(len(verdicts), "passage")),
		Summary: locale.Message(fmt.Sprintf("%d %s", answer, english.Choose(answer == 1, "answers", "answer"))),
		Output:  func(Numberer) (any, chat.StepResult) { return out, result },
	}
}

// probability returns the probability that a quote is right, from the log-odds of yes. It is a logistic regression
// fitted to the first quotes of 96 questions, judged by a model of 1.5 billion parameters: docs/quality.md, “Checked
// passages”.
func probability(odds float64) float64 { return 1 / (1 + math.Exp(1.28-1.58*odds)) }
