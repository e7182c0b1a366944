package offline

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
)

// topic is what a question is about.
type topic struct {
	question string
	own      []text.Word
	borrowed []text.Word // of earlier questions
	before   string      // the earlier question that words were borrowed from
	names    bool        // it goes on from that question and yet names its own subject: “What about the deposit?”
	past     document    // of the last answer, if it names its own subject
}

// fewWords is how many words a question has at most that can't stand by itself after another one.
const fewWords = 2

// topicOf reads a question. One with few words of its own, or with none but those that point back, goes on from the
// question before it. What it names itself decides; what it borrows only fills what it lacks: which of the passages
// that have its own words are meant. Scored together, the words of the question before would outweigh its own.
func topicOf(t turn) topic {
	q := topic{question: t.question, own: text.QueryWords(t.question, languages(t.question))}
	// A pronoun makes a question go on from the one before, however many words it has.
	points := pointsBack().MatchString(t.question)
	if len(t.earlier) == 0 || len(q.own) > fewWords && !points {
		return q
	}
	for i := len(t.earlier) - 1; i >= 0; i-- {
		if earlier := t.earlier[i].question; !goesOn(earlier) && !opensFile().MatchString(earlier) {
			q.before = earlier
			break
		}
	}
	for _, w := range text.QueryWords(q.before, languages(q.before)) {
		if !slices.ContainsFunc(q.own, func(o text.Word) bool { return o.Terms[0] == w.Terms[0] }) {
			q.borrowed = append(q.borrowed, w)
		}
	}
	if q.names = !points && len(q.own) > 0 && q.before != ""; q.names && len(t.past) > 0 {
		q.past = t.past[0]
	}
	return q
}

// asked is the question in words, with the one that it goes on from.
func (q topic) asked() string {
	if q.before == "" {
		return q.question
	}
	return q.before + " " + q.question
}

// query is what is searched for: the question, and what it lacks.
func (q topic) query() string {
	if q.names {
		return clip(q.question, 900)
	}
	return q.filled()
}

// filled is the question with the words that it leaves to the question before.
func (q topic) filled() string {
	said := []string{q.question}
	for _, w := range q.borrowed {
		if !w.Gram {
			said = append(said, w.Text)
		}
	}
	if len(q.borrowed) > 0 && len(said) == 1 { // a script without spaces: bigrams are no words
		said = append(said, q.before)
	}
	return clip(strings.Join(said, " "), 900)
}

// Where a unit stands of those for a question that names its own subject. Within each place, scores decide.
const (
	onlyBorrowed  = iota // it has none of the question's own words
	ofPart               // some
	ofSubject            // all that are known
	ofSubjectPast        // all, in the document of the last answer
)

// placeOf tells where a unit stands. Words that nothing has tell nothing.
func (q topic) placeOf(s scored, words []word, doc document) int {
	if !q.names {
		return onlyBorrowed
	}
	some, all := false, true
	for k, w := range words {
		if !w.borrowed && len(w.terms) > 0 {
			some, all = some || s.has[k] > 0, all && s.has[k] > 0
		}
	}
	switch {
	case !some:
		return onlyBorrowed
	case !all:
		return ofPart
	case doc.DocID == "" || doc.DocID != q.past.DocID:
		return ofSubject
	}
	return ofSubjectPast
}

// ownOf are the words of a topic that the question has itself: they come first.
func ownOf(words []word) []word {
	if at := slices.IndexFunc(words, func(w word) bool { return w.borrowed }); at >= 0 {
		return words[:at]
	}
	return words
}
