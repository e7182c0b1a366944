package tools

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
	"github.com/footnote/footnote/text/locale"
)

// maxSummarised is the maximum number of texts in a summary; a note reports that further texts were omitted.
const maxSummarised = 10

// summarize summarises texts of the call, or passages by number. A language model writes the summary; the fallback is
// to pick key sentences, word for word, as summarizeDocument does. Each sentence has its passage's number; one without
// is from a text of the model's own, which no document supports. It reads nothing from the library.
func summarize(_ context.Context, d *Context, in args) (Result, error) {
	notes := []string{}
	if len(in.Texts) > maxSummarised {
		notes = append(notes, "Only the first "+strconv.Itoa(maxSummarised)+" passages were summarised.")
		in.Texts = in.Texts[:maxSummarised]
	}
	passages, from, err := d.givenPassages(in.Texts)
	if err != nil {
		return Result{}, err
	}
	whole, data := "", ""
	for i, p := range passages {
		if from[i] != nil {
			data += "[" + strconv.Itoa(from[i].N) + "] "
		}
		whole, data = whole+p.Text+"\n\n", data+p.Text+"\n\n"
	}
	result := func(said string, summary locale.Message, notes []string) Result {
		out := pick("summary focus notes", map[string]any{"summary": said, "focus": given(in.Focus), "notes": notes})
		step := chat.StepResult{Text: said, Notes: notes}
		if in.Focus != "" {
			step.Facts = []chat.Fact{{Name: "focus", Value: in.Focus}}
		}
		return Result{
			Message: locale.Say("Summarized {1}", locale.Count(len(passages), "passage")), Summary: summary,
			Output: func(Numberer) (any, chat.StepResult) { return out, step },
		}
	}
	key := keySentences(passages, text.Detect(whole), summarySentences, in.Focus)
	pickedNotes := notes
	if len(key) == 0 {
		pickedNotes = append(slices.Clone(notes), "The texts are so short that this is all of them.")
		for i, p := range passages {
			key = append(key, sentence{text: strings.Join(strings.Fields(p.Text), " "), passage: i})
		}
	}
	sentences := make([]string, len(key))
	for i, k := range key {
		sentences[i] = k.text
		if src := from[k.passage]; src != nil {
			sentences[i] += " [" + strconv.Itoa(src.N) + "]"
		}
	}
	order := docs()["summarize, the order"] + "\n"
	if in.Focus != "" {
		order += "Focus on: " + in.Focus + "\n"
	}
	picked := result(strings.Join(sentences, " "), locale.Count(len(key), "key sentence"), pickedNotes)
	picked.Rewrite = &Rewrite{
		Order: order, Data: data,
		Written: func(said string) Result { return result(onlyNumbersOf(said, from), "", notes) },
		Noted: func(note string) Result {
			return result(strings.Join(sentences, " "), picked.Summary, append(slices.Clip(pickedNotes), note))
		},
	}
	return picked, nil
}

var numberInText = lazy.Regexp(`\s*\[(\d{1,3})\]`)

// onlyNumbersOf removes from a text the numbers of passages that are not among its sources.
func onlyNumbersOf(said string, from []*cite.Source) string {
	return numberInText().ReplaceAllStringFunc(said, func(mark string) string {
		n, _ := strconv.Atoi(numberInText().FindStringSubmatch(mark)[1]) // three digits at most
		if slices.ContainsFunc(from, func(s *cite.Source) bool { return s != nil && s.N == n }) {
			return mark
		}
		return ""
	})
}

// passageNumber matches the notations of a passage number: 3, [3], n=3, [Source 3].
var passageNumber = lazy.Regexp(`^\[?(?:n ?[=:]? ?|Source )?(\d{1,3})\]?$`)

// givenPassages converts texts of a call to passages: words, or numbers of shown passages. from has the source of
// each, nil for the model's own words. A text that a shown passage contains gets that passage as its source, so that
// its sentences can be cited.
//
// A number that was never shown is refused, since the model would make up the text.
func (d *Context) givenPassages(texts []string) (passages []corpus.Passage, from []*cite.Source, err error) {
	known := d.Sources.All()
	for _, given := range texts {
		given = strings.TrimSpace(given)
		var src *cite.Source
		if m := passageNumber().FindStringSubmatch(given); m != nil {
			n, _ := strconv.Atoi(m[1]) // three digits at most
			s, ok := d.Sources.At(n)
			if !ok {
				return nil, nil, refused("Passage {1} not found. Give the texts themselves, or numbers of passages "+
					"that you were shown.", m[1])
			}
			src, given = &s, s.Passage.Text
		} else {
			holds := func(s cite.Source) bool { return strings.Contains(s.Passage.Text, given) }
			if i := slices.IndexFunc(known, holds); i >= 0 {
				src = &known[i]
			}
		}
		passages, from = append(passages, corpus.Passage{Text: given}), append(from, src)
	}
	return passages, from, nil
}
