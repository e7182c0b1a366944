package offline

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
)

// topic is the topic of a question.
type topic struct {
	question string
	own      []text.Word
	borrowed []text.Word // words of earlier questions
	before   string      // the earlier question of the borrowed words
	names    bool        // a follow-up with its own subject: “What about the deposit?”
	past     document    // document of the last answer, if the question has its own subject

	corrected map[string]string // typing errors: typed → meant
}

// fewWords is the maximum number of words of a follow-up question without a pronoun.
const fewWords = 2

// topicOf parses a question. One with few words, or with a pronoun, is a follow-up of the previous question. Its own
// words have priority; borrowed words only rank the passages that match its own. Scored together, the words of the
// previous question would dominate.
func topicOf(t turn) topic {
	q := topic{
		question: t.question, own: text.QueryWords(t.question, languages(t.question)), corrected: t.corrected(),
	}
	// A pronoun makes a question a follow-up, however many words it has.
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

// asked returns the question with the previous one, if it is a follow-up.
func (q topic) asked() string {
	if q.before == "" {
		return q.question
	}
	return q.before + " " + q.question
}

// query returns the search query: the question, completed if needed.
func (q topic) query() string {
	if q.names {
		return clip(q.question, 900)
	}
	return q.filled()
}

// filled returns the question completed with the borrowed words.
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

// The place of a unit for a follow-up with its own subject. Within each place, scores decide.
const (
	onlyBorrowed  = iota // without any of the question's own words
	ofPart               // with some of them
	ofSubject            // with all known ones
	ofSubjectPast        // with all, in the document of the last answer
)

// placeOf returns the place of a unit. Words that no result has are ignored.
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

// ownOf returns the question's own words of a topic, which come first.
func ownOf(words []word) []word {
	if at := slices.IndexFunc(words, func(w word) bool { return w.borrowed }); at >= 0 {
		return words[:at]
	}
	return words
}
