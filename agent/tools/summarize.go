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

// summarizeSchema takes texts or numbers of passages; of up to 50 the first maxSummarised are used.
const summarizeSchema = `{
	"type": "object", "additionalProperties": false, "required": ["texts"],
	"properties": {
		"texts": {"type": "array", "minItems": 1, "maxItems": 50, "items": {"type": "string", "minLength": 1,
			"maxLength": 20000}, "description": "List of text passages to summarize, or their numbers, like [3]"},
		"focus": {"type": "string", "maxLength": 500, "description": "What aspect to focus the summary on"}
	}
}`

// maxSummarised is how many texts a summary is made of; further ones are left out, and a note says so.
const maxSummarised = 10

// summarizeInput are the arguments of summarize: texts, or numbers of passages.
type summarizeInput struct {
	Texts []string `json:"texts"`
	Focus string   `json:"focus"`
}

// summarizeOutput is a summary by a language model, else key sentences of the texts themselves, word for word.
//
// A sentence without a number is one that the model handed over itself: no document stands behind it.
type summarizeOutput struct {
	Summary string   `json:"summary"` // each sentence with its passage's number if it has one
	Focus   string   `json:"focus,omitempty"`
	Notes   []string `json:"notes"`
}

// summarize is the tool that shortens texts which the model hands over. It has a language model write the summary;
// without one it picks sentences, like documentSummary. Not cached: its texts are whatever the model wrote. It reads
// nothing from the library.
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

// summaryResult is the result of summarize.
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

// onlyNumbersOf leaves out of a text the numbers of passages that it was not made from.
func onlyNumbersOf(said string, from []*cite.Source) string {
	return numberInText.ReplaceAllStringFunc(said, func(mark string) string {
		n, _ := strconv.Atoi(numberInText.FindStringSubmatch(mark)[1]) // three digits at most
		if slices.ContainsFunc(from, func(s *cite.Source) bool { return s != nil && s.N == n }) {
			return mark
		}
		return ""
	})
}

// passageNumber is how models write the number of a passage: 3, [3], n=3, [Source 3].
var passageNumber = regexp.MustCompile(`^\[?(?:n ?[=:]? ?|Source )?(\d{1,3})\]?$`)

// givenPassages makes passages of texts that a model hands over: words, or the numbers of passages it was shown. from
// holds the source of each, nil for words of its own. The last result is a refusal, empty if all were understood. A
// text that stands in a passage that was shown gets that passage's number, so that its sentences can be cited.
//
// A number that was never shown is refused, since the model then makes up what it summarises.
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
