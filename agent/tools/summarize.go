package tools

import (
	"context"
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

var (
	//go:embed summarize.md
	summarizeDoc string
	//go:embed summarize_order.md
	summarizeOrder string
)

// summarizeSchema accepts texts or passage numbers; the first maxSummarised of up to 50 are used.
const summarizeSchema = `{
	"type": "object", "additionalProperties": false, "required": ["texts"],
	"properties": {
		"texts": {"type": "array", "minItems": 1, "maxItems": 50, "items": {"type": "string", "minLength": 1,
			"maxLength": 20000}, "description": "List of text passages to summarize, or their numbers, like [3]"},
		"focus": {"type": "string", "maxLength": 500, "description": "What aspect to focus the summary on"}
	}
}`

// maxSummarised is the maximum number of texts in a summary; a note reports that further texts were omitted.
const maxSummarised = 10

// summarizeInput holds the arguments of summarize: texts, or passage numbers.
type summarizeInput struct {
	Texts []string `json:"texts"`
	Focus string   `json:"focus"`
}

// summarizeOutput is a summary by a language model, or else key sentences of the texts, word for word.
//
// A sentence without a number is from a text of the model's own, which no document supports.
type summarizeOutput struct {
	Summary string   `json:"summary"` // each sentence with its passage number, if any
	Focus   string   `json:"focus,omitempty"`
	Notes   []string `json:"notes"`
}

// summarize returns the tool that summarises texts of the call. A language model writes the summary; the fallback is
// to pick key sentences, as documentSummary does. Results are not cached, since the texts are the model's own. It
// reads nothing from the library.
func summarize() (*Tool, error) {
	return definition[summarizeInput]{
		name: "summarize", action: chat.ActionSummarising, capability: chat.CapabilitySummarise, preference: 1,
		doc: summarizeDoc, schema: summarizeSchema,
		aliases: map[string]string{"passages": "texts"},
		label:   chat.Label{Doing: "Summarising", Done: "Summarised", Noun: "summary", Form: chat.LabelTitle},
		describe: func(_ *Context, in summarizeInput) string {
			if in.Focus != "" {
				return "Summarising " + english.Count(len(in.Texts), "passage") + " for: " + text.Shorten(in.Focus, 100)
			}
			return "Summarising " + english.Count(len(in.Texts), "passage")
		},
		run: func(_ context.Context, d *Context, in summarizeInput) (Result, error) {
			notes := []string{}
			if len(in.Texts) > maxSummarised {
				notes = append(notes, "Only the first "+strconv.Itoa(maxSummarised)+" passages were summarised.")
				in.Texts = in.Texts[:maxSummarised]
			}
			passages, from, why := d.givenPassages(in.Texts)
			if why != "" {
				return refusedResult("%s", why)
			}
			var whole strings.Builder
			for _, p := range passages {
				whole.WriteString(p.Text + "\n\n")
			}
			key := keySentences(passages, text.Detect(whole.String()), summarySentences, in.Focus)
			pickedNotes := notes
			if len(key) == 0 {
				pickedNotes = append(slices.Clone(notes), "The texts are so short that this is all of them.")
				for i, p := range passages {
					key = append(key, sentence{text: strings.Join(strings.Fields(p.Text), " "), passage: i})
				}
			}
			said := make([]string, len(key))
			for i, k := range key {
				said[i] = k.text
				if src := from[k.passage]; src != nil {
					said[i] += " [" + strconv.Itoa(src.N) + "]"
				}
			}
			out := summarizeOutput{Summary: strings.Join(said, " "), Focus: in.Focus, Notes: pickedNotes}
			picked := summaryResult(out, len(passages), english.Count(len(key), "key sentence"))
			order, data := summarizeOrder, ""
			if in.Focus != "" {
				order += "Focus on: " + in.Focus + "\n"
			}
			for i, p := range passages {
				if from[i] != nil {
					data += "[" + strconv.Itoa(from[i].N) + "] "
				}
				data += p.Text + "\n\n"
			}
			picked.Rewrite = &Rewrite{
				Order: order, Data: data,
				Written: func(said string) Result {
					out.Summary, out.Notes = onlyNumbersOf(said, from), notes
					return summaryResult(out, len(passages), "")
				},
				Noted: func(note string) Result {
					out.Notes = append(out.Notes, note)
					return summaryResult(out, len(passages), picked.Summary)
				},
			}
			return picked, nil
		},
	}.buildTool()
}

// summaryResult builds the result of summarize.
func summaryResult(out summarizeOutput, passages int, summary string) Result {
	return Result{
		Message: "Summarised " + english.Count(passages, "passage"), Summary: summary,
		Output: func(Numberer) (any, chat.StepResult) {
			result := chat.StepResult{Text: out.Summary, Notes: out.Notes}
			if out.Focus != "" {
				result.Facts = []chat.Fact{{Name: "focus", Value: out.Focus}}
			}
			return out, result
		},
	}
}

var numberInText = regexp.MustCompile(`\s*\[(\d{1,3})\]`)

// onlyNumbersOf removes from a text the numbers of passages that are not among its sources.
func onlyNumbersOf(said string, from []*cite.Source) string {
	return numberInText.ReplaceAllStringFunc(said, func(mark string) string {
		n, _ := strconv.Atoi(numberInText.FindStringSubmatch(mark)[1]) // three digits at most
		if slices.ContainsFunc(from, func(s *cite.Source) bool { return s != nil && s.N == n }) {
			return mark
		}
		return ""
	})
}

// passageNumber matches the notations of a passage number: 3, [3], n=3, [Source 3].
var passageNumber = regexp.MustCompile(`^\[?(?:n ?[=:]? ?|Source )?(\d{1,3})\]?$`)

// givenPassages converts texts of a call to passages: words, or numbers of shown passages. from has the source of
// each, nil for the model's own words. why is a refusal, empty if all were valid. A text that a shown passage
// contains gets that passage as its source, so that its sentences can be cited.
//
// A number that was never shown is refused, since the model would make up the text.
func (d *Context) givenPassages(texts []string) (passages []corpus.Passage, from []*cite.Source, why string) {
	known := d.Sources.All()
	for _, given := range texts {
		given = strings.TrimSpace(given)
		var src *cite.Source
		if m := passageNumber.FindStringSubmatch(given); m != nil {
			n, _ := strconv.Atoi(m[1]) // three digits at most
			s, ok := d.Sources.At(n)
			if !ok {
				return nil, nil, "There is no passage with the number " + m[1] +
					". Give the texts themselves, or numbers of passages that you were shown."
			}
			src, given = &s, s.Passage.Text
		} else {
			for i := range known {
				if strings.Contains(known[i].Passage.Text, given) {
					src = &known[i]
					break
				}
			}
		}
		passages, from = append(passages, corpus.Passage{Text: given}), append(from, src)
	}
	return passages, from, ""
}
