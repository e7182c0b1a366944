package judge

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
)

// Mark says whether something that was due was there.
type Mark string

// The marks.
const (
	NotDue Mark = ""
	Hit    Mark = "hit"
	Miss   Mark = "miss"
)

// Verdict is what became of a question.
type Verdict struct {
	Kind     string `json:"kind"`
	Question string `json:"question"`
	Right    bool   `json:"right"`              // everything that was due was there
	Document Mark   `json:"document,omitempty"` // every expected document was cited
	Passage  Mark   `json:"passage,omitempty"`  // and a quote from each holds the expected words
	First    Mark   `json:"first,omitempty"`    // the first quote alone holds all of them
	Words    Mark   `json:"words,omitempty"`    // the answer has the expected words
	Found    Mark   `json:"found,omitempty"`    // quotes that hold the expected words are called found
	Refusal  Mark   `json:"refusal,omitempty"`  // refused, or only said to be the closest there is, as it should be
	Refused  bool   `json:"refused"`            // due or not
	Failed   string `json:"failed,omitempty"`   // why there is no answer
	Answer   string `json:"answer"`

	Confidence float64 `json:"confidence"` // what the answer says of itself, 0–1

	Steps  int   `json:"steps"`
	Millis int64 `json:"ms"` // from the question to the end of its run
}

// Judge compares an answer with what the question expects. paths says under which path each document lies, by its id.
// Passages are looked for in quotes that were not marked as absent, by words alone, without case and line breaks; which
// sentence the answer made of them is not judged.
func Judge(q Question, answer chat.Answer, paths map[string]string) Verdict {
	v := Verdict{
		Kind: q.Kind, Question: q.Text, Answer: answer.Markdown, Steps: answer.StepsUsed,
		Confidence: answer.Confidence, Refused: answer.StopReason == chat.StopRefused,
	}
	// Of a question that nothing answers all that counts is that it was refused, or that its quotes are only called the
	// closest.
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
		// First looks at the first quote alone: the one that readers look at.
		first := answer
		first.Citations = answer.Citations[:min(1, len(answer.Citations))]
		v.First = markOf(
			allHold(q.Passages, func(p Passage) bool { return citesWords(first, paths, p.Document, p.Words) }),
		)
		// Only answers made of quotes say whether they were found.
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

// Lost is the verdict on a question whose run ended without an answer.
func Lost(q Question, why string) Verdict {
	v := Judge(q, chat.Answer{}, nil)
	v.Failed = why
	return v
}

// citesWords reports whether a quote from a document holds words. Empty words stand in every quote.
func citesWords(answer chat.Answer, paths map[string]string, document, words string) bool {
	return slices.ContainsFunc(answer.Citations, func(c chat.Citation) bool {
		return c.Check != chat.CheckNotFound && paths[c.DocumentID] == document && holdsWords(c.Quote, words)
	})
}

// In reports whether a text of a document, which has these paths, holds the passage's words.
func (p Passage) In(paths []string, text string) bool {
	return slices.Contains(paths, p.Document) && holdsWords(text, p.Words)
}

// holdsWords reports whether words stand in a text, whatever their case and however its lines are broken.
func holdsWords(text, words string) bool { return strings.Contains(plainText(text), plainText(words)) }

// plainText is a text in small letters with single spaces.
func plainText(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// allHold reports whether all of a list do; also of an empty one.
func allHold[T any](list []T, ok func(T) bool) bool {
	return !slices.ContainsFunc(list, func(v T) bool { return !ok(v) })
}

// markOf is the mark of something that was due.
func markOf(ok bool) Mark {
	if ok {
		return Hit
	}
	return Miss
}
