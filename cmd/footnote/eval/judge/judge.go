package judge

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
)

// Mark is the result of a check for an expected part.
type Mark string

// The possible marks.
const (
	NotDue Mark = ""
	Hit    Mark = "hit"
	Miss   Mark = "miss"
)

// Verdict is the result of a question.
type Verdict struct {
	Kind     string `json:"kind"`
	Question string `json:"question"`
	Right    bool   `json:"right"`              // every expected part was present
	Document Mark   `json:"document,omitempty"` // every expected document was cited
	Passage  Mark   `json:"passage,omitempty"`  // a quote from each contains the expected words
	First    Mark   `json:"first,omitempty"`    // the first quote alone contains all of them
	Words    Mark   `json:"words,omitempty"`    // the answer contains the expected words
	Found    Mark   `json:"found,omitempty"`    // quotes with the expected words are marked as found
	Refusal  Mark   `json:"refusal,omitempty"`  // correctly refused, or marked as the closest
	Refused  bool   `json:"refused"`            // correctly or not
	Failed   string `json:"failed,omitempty"`   // the error of a run without an answer
	Answer   string `json:"answer"`

	Confidence float64 `json:"confidence"` // the answer's stated confidence, 0–1

	Steps  int   `json:"steps"`
	Millis int64 `json:"ms"` // duration of the run
}

// Judge compares an answer with the question's expectations. paths maps document ids to paths. Passages are matched
// in the quotes that were found, by words, ignoring case and line breaks. The answer's own sentences are not
// judged.
func Judge(q Question, answer chat.Answer, paths map[string]string) Verdict {
	v := Verdict{
		Kind: q.Kind, Question: q.Text, Answer: answer.Markdown, Steps: answer.StepsUsed,
		Confidence: answer.Confidence, Refused: answer.StopReason == chat.StopRefused,
	}
	// An unanswerable question only requires a refusal, or quotes that are called the closest.
	if q.Refuse() {
		v.Right = v.Refused || answer.Finding == chat.FindingClosest
		v.Refusal = markOf(v.Right)
		return v
	}
	if len(q.Passages) > 0 {
		v.Document = markOf(
			allHold(q.Passages, func(p Passage) bool { return citesWords(answer, paths, p.Document, "") }),
		)
		v.Passage = markOf(
			allHold(q.Passages, func(p Passage) bool { return citesWords(answer, paths, p.Document, p.Words) }),
		)
		// First judges only the first quote, the one that readers see first.
		first := answer
		first.Citations = answer.Citations[:min(1, len(answer.Citations))]
		v.First = markOf(
			allHold(q.Passages, func(p Passage) bool { return citesWords(first, paths, p.Document, p.Words) }),
		)
		// Only answers made of quotes report whether they were found.
		if v.Passage == Hit && answer.Finding != "" {
			v.Found = markOf(answer.Finding == chat.FindingFound)
		}
	}
	if len(q.Words) > 0 {
		v.Words = markOf(allHold(q.Words, func(words string) bool {
			return slices.ContainsFunc(
				strings.Split(words, " | "), func(w string) bool { return holdsWords(answer.Markdown, w) },
			)
		}))
	}
	v.Right = !v.Refused && v.Document != Miss && v.Passage != Miss && v.Words != Miss
	return v
}

// Lost returns the verdict for a run that ended without an answer.
func Lost(q Question, why string) Verdict {
	v := Judge(q, chat.Answer{}, nil)
	v.Failed = why
	return v
}

// citesWords reports whether a quote from a document contains words. Empty words match every quote.
func citesWords(answer chat.Answer, paths map[string]string, document, words string) bool {
	return slices.ContainsFunc(answer.Citations, func(c chat.Citation) bool {
		return c.Check != chat.CheckNotFound && paths[c.DocumentID] == document && holdsWords(c.Quote, words)
	})
}

// In reports whether the text of a document with these paths contains the passage's words.
func (p Passage) In(paths []string, text string) bool {
	return slices.Contains(paths, p.Document) && holdsWords(text, p.Words)
}

// holdsWords reports whether a text contains words, ignoring case and line breaks.
func holdsWords(text, words string) bool { return strings.Contains(plainText(text), plainText(words)) }

// plainText normalises a text to lower case and single spaces.
func plainText(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// allHold reports whether ok is true for all elements. It is true for an empty list.
func allHold[T any](list []T, ok func(T) bool) bool {
	return !slices.ContainsFunc(list, func(v T) bool { return !ok(v) })
}

// markOf returns the mark of an expected part.
func markOf(ok bool) Mark {
	if ok {
		return Hit
	}
	return Miss
}
