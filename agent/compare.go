package agent

import (
	"fmt"
	"slices"
	"strings"

	"footnote/corpus/text"
)

// partSize is about how long the pieces are that a given text is compared in, in runes: as long as passages are.
const partSize = 1600

// comparison is what became of the sentences of an answer without footnotes.
type comparison struct {
	stated, held, foreign int // sentences that state something, those of them that are held, and those in another language than the texts
	unsupported           []string
}

// compare asks of each sentence that states something whether it is held.
func (w *work) compare(markdown string, holds func(said string) (held, foreign bool)) comparison {
	c := comparison{unsupported: []string{}}
	for _, s := range w.statements(markdown) {
		c.stated++
		switch held, foreign := holds(s.text); {
		case foreign:
			c.foreign++
		case held:
			c.held++
		default:
			c.unsupported = append(c.unsupported, s.text)
		}
	}
	return c
}

// confidence is that in an answer without quotes. Of a sentence that could not be compared nothing is known: it counts half.
func (c comparison) confidence() float64 {
	if c.stated == 0 {
		return unchecked
	}
	return rounded(unchecked * (float64(c.held) + float64(c.foreign)/2) / float64(c.stated))
}

// against returns what holds a sentence: one of the texts, by the same judgement as a passage behind a footnote.
func (w *work) against(texts []string) func(said string) (held, foreign bool) {
	parts, languages := []string{}, map[string]bool{}
	for _, t := range texts {
		parts = append(parts, piecesOf(t)...)
		if lang := text.Detect(t); lang != "" {
			languages[lang] = true
		}
	}
	return func(said string) (held, foreign bool) {
		if lang := text.Detect(said); lang != "" && len(languages) > 0 && !languages[lang] {
			return false, true
		}
		return slices.ContainsFunc(parts, func(p string) bool { return w.cite.judge.Backed(said, talkAbout, p) }), false
	}
}

// piecesOf cuts a text into pieces of whole sentences.
func piecesOf(s string) []string {
	var out []string
	runes, begin, end := []rune(s), 0, 0
	for _, sentence := range text.Sentences(s) {
		if end > begin && sentence[1]-begin > partSize {
			out = append(out, string(runes[begin:end]))
			begin = sentence[0]
		}
		end = sentence[1]
	}
	if end > begin {
		out = append(out, string(runes[begin:end]))
	}
	return out
}

// evaluateGiven compares an answer with the text that came with the question.
func (w *work) evaluateGiven(markdown string) (confidence float64, explained string, unsupported []string) {
	c := w.compare(markdown, w.against([]string{w.run.Request.ContextText}))
	return c.confidence(), c.explain("the given text"), c.unsupported
}

// evaluateWithout compares an answer without footnotes, which needs none, with what there is to compare it with.
func (w *work) evaluateWithout(markdown string) (confidence float64, explained string, unsupported []string) {
	switch {
	case !w.asked.needsDocuments():
		return w.evaluateTalk(markdown)
	case !w.mustCite():
		c := w.compare(markdown, func(said string) (bool, bool) { return w.stated(said) || w.shown(said), false })
		return c.confidence(), "No footnotes were asked for. " + c.explain("the passages"), c.unsupported
	case w.bare:
		c := w.compare(markdown, func(said string) (bool, bool) { return w.stated(said), false })
		return c.confidence(), c.explain("what tools returned") + " No passage of a document stands behind it.", c.unsupported
	}
	return unchecked, "The answer needs no documents.", []string{}
}

// evaluateTalk compares talk, sums and work on a text in the question with the conversation and what was calculated.
func (w *work) evaluateTalk(markdown string) (confidence float64, explained string, unsupported []string) {
	texts := []string{w.run.Request.Message}
	for _, m := range w.past.messages {
		texts = append(texts, m.Text)
	}
	if talk.MatchString(w.run.Request.Message) {
		texts = append(texts, systemPrompt) // what it is and what it can do
	}
	against := w.against(texts)
	c := w.compare(markdown, func(said string) (held, foreign bool) {
		if w.stated(said) || w.calculated(said) {
			return true, false
		}
		return against(said)
	})
	return c.confidence(), "The answer needs no documents. " + c.explain("the conversation"), c.unsupported
}

// calculated reports whether a sentence says the result of the calculation that is the question.
func (w *work) calculated(said string) bool {
	if w.asked.Type != typeCalculation {
		return false
	}
	at := strings.IndexAny(w.run.Request.Message, "(0123456789.-+")
	if at < 0 {
		return false
	}
	v, err := evaluate(strings.TrimRight(w.run.Request.Message[at:], " =?"))
	if err != nil {
		return false
	}
	result, _ := v.decimal()
	return w.cite.judge.States(said, talkAbout+w.run.Request.Message, w.run.Request.Message, result)
}

// shown reports whether a passage that was shown holds a sentence.
func (w *work) shown(said string) bool {
	return slices.ContainsFunc(w.desk.sources.all(), func(s source) bool {
		return w.cite.judge.Backed(said, talkAbout+aboutSource(s), s.passage.Text)
	})
}

// explain says what was compared with what.
func (c comparison) explain(with string) string {
	if c.stated == 0 {
		return "No sentence states anything to compare with " + with + "."
	}
	said := fmt.Sprintf("%d of %s %s held by %s.", c.held, count(c.stated, "sentence"), either(c.stated == 1, "is", "are"), with)
	if c.foreign > 0 {
		said += fmt.Sprintf(" %s in another language, so it could not be compared.", either(c.foreign == 1, "1 sentence is", fmt.Sprintf("%d sentences are", c.foreign)))
	}
	return strings.Replace(said, "are in another language, so it", "are in another language, so they", 1)
}
