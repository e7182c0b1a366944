package agent

import (
	"fmt"
	"slices"
	"strings"

	"footnote/corpus/text"
	"footnote/english"
)

// partSize is about how long the pieces are that a given text is compared in, in runes: as long as passages are.
const partSize = 1600

// comparison is what became of the sentences of an answer without footnotes.
type comparison struct {
	stated, held, foreign int      // sentences that state something, those of them that are held, and those in another language than the texts
	by                    []string // what holds them, each once
	unsupported           []string
}

// holder names what holds a sentence, and nothing if nothing does. foreign means that it can't be compared for its language.
type holder func(said string) (by string, foreign bool)

// compare asks of each sentence that states something what holds it.
func (e *evidence) compare(markdown string, holds holder) comparison {
	c := comparison{unsupported: []string{}}
	for _, s := range e.statements(markdown) {
		c.stated++
		switch by, foreign := holds(s.text); {
		case foreign:
			c.foreign++
		case by != "":
			c.held++
			c.by = text.AppendNew(c.by, by)
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

// against holds a sentence by one of the texts, which have a name together, by the same judgement as a passage behind a footnote.
func (e *evidence) against(name string, texts []string) holder {
	parts, languages := []string{}, map[string]bool{}
	for _, t := range texts {
		parts = append(parts, piecesOf(t)...)
		if lang := text.Detect(t); lang != "" {
			languages[lang] = true
		}
	}
	return func(said string) (by string, foreign bool) {
		if lang := text.Detect(said); lang != "" && len(languages) > 0 && !languages[lang] {
			return "", true
		}
		if slices.ContainsFunc(parts, func(p string) bool { return e.cite.judge.Backed(said, talkAbout, p) }) {
			return name, false
		}
		return "", false
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
func (e *evidence) evaluateGiven(markdown string) (confidence float64, explained string, unsupported []string) {
	c := e.compare(markdown, e.against(theGivenText, []string{e.given}))
	return c.confidence(), c.explain(theGivenText), c.unsupported
}

// What holds sentences, as a reader is told it.
const (
	theGivenText    = "the given text"
	thePassages     = "the passages"
	theConversation = "the conversation"
	theCalculation  = "the calculation"
	whatReturned    = "what tools returned"
)

// byTools names the tools that returned what a sentence says, if they did.
func (e *evidence) byTools(said string) string {
	if !e.stated(said) {
		return ""
	}
	return e.returned.called()
}

// inPassages reports whether a passage that was shown holds a sentence.
func (e *evidence) inPassages(said string) bool {
	return slices.ContainsFunc(e.sources.all(), func(s source) bool {
		return e.cite.judge.Backed(said, talkAbout+aboutSource(s), s.passage.Text)
	})
}

// explain says what was compared with what: with what holds the sentences, else with what could have held them.
func (c comparison) explain(with string) string {
	if len(c.by) > 0 {
		with = strings.Join(c.by, " and ")
	}
	if c.stated == 0 {
		return "No sentence states anything to compare with " + with + "."
	}
	said := fmt.Sprintf("%d of %s %s held by %s.", c.held, english.Count(c.stated, "sentence"), either(c.stated == 1, "is", "are"), with)
	if c.foreign > 0 {
		said += fmt.Sprintf(" %s in another language, so it could not be compared.", either(c.foreign == 1, "1 sentence is", fmt.Sprintf("%d sentences are", c.foreign)))
	}
	return strings.Replace(said, "are in another language, so it", "are in another language, so they", 1)
}
