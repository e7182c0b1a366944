package corpus

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/suggest"
	"github.com/footnote/footnote/text"
)

const (
	mostTried     = 12 // maximum passages tried per document: each takes a search
	mostNamesakes = 4  // passages that are compared with one
)

// Suggestions yields questions that a document answers, each about another section, in its language. It includes
// only questions for which lexical search finds the own section first. Passages from the middle of the document
// come first, since questions are seldom about openings. A deleted document has none. It works lazily, with at most
// mostTried passages.
func (l *Library) Suggestions(ctx context.Context, s chat.Scope, d Document) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		asked, looked := make(map[string]bool), make(map[int]bool)
		for try := range mostTried {
			at := spread(try, d.Passages)
			if looked[at] || at >= d.Passages {
				continue
			}
			looked[at] = true
			passages, err := l.cfg.Documents.Passages(ctx, s, d.ID, at, at+1)
			if chat.CodeOf(err) == chat.CodeNotFound {
				return
			}
			if err != nil {
				yield("", fmt.Errorf("read a passage: %w", err))
				return
			}
			if len(passages) == 0 || asked[sectionOf(passages[0])] || text.Directory(passages[0].Text) {
				continue
			}
			question, err := l.suggestion(ctx, s, d, passages[0])
			if err != nil {
				yield("", err)
				return
			}
			if question == "" {
				continue
			}
			if asked[sectionOf(passages[0])] = true; !yield(question, nil) {
				return
			}
		}
	}
}

// suggestion generates a question from a passage; "" if a search does not find its section first, or if another
// section has the same question. A question whose search has a note, such as a typo correction, is not suggested.
func (l *Library) suggestion(ctx context.Context, s chat.Scope, d Document, p Passage) (string, error) {
	question := QuestionOf(d, p)
	if question == "" {
		return "", nil
	}
	found, err := l.Search(ctx, s, Query{Text: question, Limit: mostNamesakes, Mode: ModeLexical})
	if err != nil {
		return "", fmt.Errorf("look for the answer of a suggestion: %w", err)
	}
	for i, r := range found.Results {
		same := r.Document.ID == d.ID && sectionOf(r.Passage) == sectionOf(p)
		if i == 0 && !same || !same && QuestionOf(r.Document, r.Passage) == question {
			return "", nil
		}
	}
	if len(found.Results) == 0 || len(found.Notes) > 0 {
		return "", nil
	}
	return question, nil
}

// QuestionOf generates a question from a passage, "" if it has no suitable subject.
func QuestionOf(d Document, p Passage) string {
	return suggest.Passage{Language: d.Language, Title: d.Title, Section: p.Section, Text: p.Text}.Question()
}

// sectionOf returns the section of a passage. A passage without headings is a section by itself.
func sectionOf(p Passage) string { return cmp.Or(p.Section, p.ID) }

// spread returns the i-th of n positions, each far from the previous ones: the middle, the quarters, the eighths …
// (van der Corput's sequence). Small n repeat some.
func spread(i, n int) int {
	at, step := 0.0, 0.5
	for i++; i > 0; i /= 2 {
		at += step * float64(i%2)
		step /= 2
	}
	return int(at * float64(n))
}
