package tools

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strings"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

//go:embed check_passages.md
var checkPassagesDoc string

// CheckPassages is the name of the tool that asks a language model whether passages answer.
const CheckPassages = "check_passages"

// MaxChecked is the maximum number of quotes in one call. With 6 quotes of at most MaxCheckedRunes a check reads
// some 1,600 tokens, which takes 2 s at 800 tokens a second.
const MaxChecked = 6

// MaxCheckedQuestion is the maximum length of a question, in runes.
const MaxCheckedQuestion = 1000

// MaxCheckedRunes is the maximum length of a checked quote in runes, without its title and section.
const MaxCheckedRunes = 800

const checkPassagesSchema = `{
	"type": "object", "additionalProperties": false, "required": ["question", "quotes"],
	"properties": {
		"question": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "The question"},
		"quotes": {"type": "array", "minItems": 1, "maxItems": 6, "items": {
			"type": "object", "additionalProperties": false, "required": ["n"], "properties": {
				"n": {"type": "integer", "minimum": 1, "description": "The passage's number n"},
				"words": {"type": "string", "minLength": 1, "maxLength": 4000,
					"description": "The words of it to check; without them, its beginning"}
			}
		}}
	}
}`

// checkPassagesInput holds the arguments of check_passages.
type checkPassagesInput struct {
	Question string  `json:"question"`
	Quotes   []quote `json:"quotes"`
}

// quote identifies words of a passage. Empty Words selects the whole passage, which checkedText truncates.
type quote struct {
	N     int    `json:"n"`
	Words string `json:"words,omitempty"`
}

// checkPassagesOutput holds the verdict on each quote, in the order of the call.
type checkPassagesOutput struct {
	Question string         `json:"question"`
	Checked  int            `json:"checked"`
	Answer   int            `json:"answer"` // number of quotes that answer
	Quotes   []checkedQuote `json:"quotes"`
}

// checkedQuote is a quote with its verdict. Answers is true if yes is more probable than no. Probability is
// calibrated: the share of quotes with such a verdict that were right, 0–1. It is nil if the model's server returns
// no log-probabilities.
type checkedQuote struct {
	quote
	Answers     bool     `json:"answers"`
	Probability *float64 `json:"probability,omitempty"`
}

// Check is a batch of texts for a language model to judge: whether each states the answer to the question.
type Check struct {
	Question string
	Texts    []string
	Checked  func([]llm.Verdict) Result // builds the result from the verdicts, one for each text
}

// checkPassages returns the tool that has a language model judge quotes. It reads nothing from the library. The run
// sends the requests to the model (Result.Check), since tools call no model themselves.
func checkPassages() (*Tool, error) {
	return definition[checkPassagesInput]{
		name: CheckPassages, action: chat.ActionAnalysing, capability: chat.CapabilityCheck,
		doc: checkPassagesDoc, schema: checkPassagesSchema,
		label: chat.Label{Doing: "Checking passages", Done: "Checked passages", Noun: "check"},
		describe: func(_ *Context, in checkPassagesInput) string {
			return "Checking " + english.Count(len(in.Quotes), "passage")
		},
		run: func(_ context.Context, d *Context, in checkPassagesInput) (Result, error) {
			check := &Check{Question: in.Question}
			var sources []cite.Source
			for i, q := range in.Quotes {
				src, ok := d.Sources.At(q.N)
				if !ok {
					return refusedResult(
						"There is no passage with the number %d. Use the number n of a passage that you were shown.",
						q.N,
					)
				}
				if q.Words == "" {
					in.Quotes[i].Words = src.Passage.Text
				}
				sources = append(sources, src)
				check.Texts = append(check.Texts, checkedText(src, in.Quotes[i].Words))
			}
			check.Checked = func(verdicts []llm.Verdict) Result { return checkResult(in, sources, verdicts) }
			return Result{WhyRefused: "There is no language model to check passages with.", Check: check}, nil
		},
	}.buildTool()
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

// checkResult builds the result of check_passages from the verdicts.
func checkResult(in checkPassagesInput, sources []cite.Source, verdicts []llm.Verdict) Result {
	out := checkPassagesOutput{Question: in.Question, Checked: len(verdicts)}
	result := chat.StepResult{Query: in.Question, Found: len(verdicts)}
	for i, v := range verdicts {
		checked := checkedQuote{quote: in.Quotes[i], Answers: v.Yes}
		if v.Known {
			p := math.Round(probability(v.Odds)*1000) / 1000
			checked.Probability = &p
		}
		src := sources[i]
		hit := documentHit(src.Document)
		hit.N, hit.ChunkID, hit.BlockID = src.N, src.Passage.ID, src.Passage.FirstBlock
		hit.Page, hit.Section = src.Passage.Page, src.Passage.Section
		hit.Snippet, hit.Score, hit.Answers = checked.Words, checked.Probability, checked.Answers
		if checked.Answers {
			out.Answer++
		}
		out.Quotes, result.Hits = append(out.Quotes, checked), append(result.Hits, hit)
	}
	summary := fmt.Sprintf("%d %s", out.Answer, english.Choose(out.Answer == 1, "answers", "answer"))
	return Result{
		Message: "Checked " + english.Count(out.Checked, "passage"), Summary: summary,
		Output: func(Numberer) (any, chat.StepResult) { return out, result },
	}
}

// probability returns the probability that a quote is right, from the log-odds of yes. It is a logistic regression
// fitted to the first quotes of 96 questions, judged by a model of 1.5 billion parameters: docs/quality.md, “Checked
// passages”.
func probability(odds float64) float64 { return 1 / (1 + math.Exp(1.28-1.58*odds)) }

// foundPassage is a search result that is listed by itself instead of under its document. ChunkID is for the page
// and API clients; models cite by N.
type foundPassage struct {
	N        int     `json:"n"`
	ChunkID  string  `json:"chunk_id,omitempty"`
	DocID    string  `json:"doc_id"`
	Filename string  `json:"filename"`
	Title    string  `json:"title"`
	Section  string  `json:"section,omitempty"`
	Page     int     `json:"page,omitempty"`
	BlockID  string  `json:"block_id"`
	Content  string  `json:"content"`
	Score    float64 `json:"score"`
	// Similarity is corpus.Result.Similarity, if known. It is for API clients; models use Score.
	Similarity *float64 `json:"similarity_score,omitempty"`
}

// FoundPassages is the output of retrieve, retrieve_more, semantic_search and hybrid_search.
type FoundPassages struct {
	Query   string         `json:"query"`
	Results []foundPassage `json:"results"`
	Total   int            `json:"total_results"`
	Notes   []string       `json:"notes"`
}

// ForModel omits the fields that only API clients need, which saves tokens.
func (o FoundPassages) ForModel() any {
	results := make([]foundPassage, len(o.Results))
	for i, r := range o.Results {
		r.ChunkID, r.Similarity = "", nil
		results[i] = r
	}
	o.Results = results
	return o
}

// clipTo truncates all passages to the same length, at least 60 characters.
func (o FoundPassages) clipTo(limit int) any {
	results := make([]foundPassage, len(o.Results))
	for i, r := range o.Results {
		r.Content = CutText(r.Content, max(60, limit*8/10/len(o.Results)-2*overhead))
		results[i] = r
	}
	o.Results = results
	return o
}

// passagesFound returns the result of a passage search. A partial result, where an index did not answer, is
// transient and not cached. Passage numbers are assigned when Output is called, not when the search ends. Every hit
// is added to the run's sources (SourceChanges).
func passagesFound(query string, found corpus.Results) Result {
	hits := found.Results
	return Result{
		Message: "Found " + english.Count(len(hits), "passage"), Summary: countHits(hits),
		Output: func(number Numberer) (any, chat.StepResult) {
			out := FoundPassages{
				Query: query, Results: []foundPassage{}, Total: len(hits), Notes: append([]string{}, found.Notes...),
			}
			result := chat.StepResult{Query: query, Found: len(hits), Notes: found.Notes}
			for _, hit := range hits {
				doc, p := hit.Document, hit.Passage
				out.Results = append(out.Results, foundPassage{
					N: number(p, doc), ChunkID: p.ID, DocID: doc.ID, Filename: doc.DisplayName(),
					Title: doc.DisplayTitle(), Section: p.Section,
					Page: hit.Page, BlockID: hit.Block, Content: p.Text, Score: hit.Score, Similarity: hit.Similarity,
				})
				result.Hits = append(result.Hits, passageHit(number, hit))
			}
			return out, result
		},
		SourceChanges: SourceChanges{Hits: hits},
		Transient:     found.Partial,
	}
}

// passageHit converts a search result to a hit of the step's result.
func passageHit(number Numberer, found corpus.Result) chat.Hit {
	hit := documentHit(found.Document)
	hit.N, hit.ChunkID, hit.BlockID = number(found.Passage, found.Document), found.Passage.ID, found.Block
	hit.Page, hit.Section, hit.Snippet = found.Page, found.Passage.Section, found.Passage.Text
	hit.Score, hit.Similarity = &found.Score, found.Similarity
	return hit
}

// countHits formats the number of hits, for example "5 passages in 3 documents".
func countHits(hits []corpus.Result) string {
	if len(hits) == 0 {
		return "nothing found"
	}
	documents := map[string]bool{}
	for _, hit := range hits {
		documents[hit.Document.ID] = true
	}
	return english.Count(len(hits), "passage") + " in " + english.Count(len(documents), "document")
}
