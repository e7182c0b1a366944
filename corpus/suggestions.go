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
	mostTried     = 12 // passages of a document that questions are made from: each takes a search
	mostNamesakes = 4  // passages that are compared with one
)

// Suggestions yields questions that a document answers, each of another section, in its language. Only a question whose
// own section is what a search by words finds first is among them. Passages from the middle of the document come first:
// openings are seldom what one asks about. A document that just went has none. It reads and searches only as far as its
// caller goes on, at most mostTried passages.
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

// suggestion makes a question from a passage; "" if there is none that finds its section first, or if another section
// is asked about in the same words. A question with a note, such as one about a typing error, is none that people would
// ask.
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

// QuestionOf makes a question from a passage, "" if there is nothing to ask about.
func QuestionOf(d Document, p Passage) string {
	return suggest.Passage{Language: d.Language, Title: d.Title, Section: p.Section, Text: p.Text}.Question()
}

// sectionOf names the section of a passage in its document. A passage without headings is one by itself.
func sectionOf(p Passage) string { return cmp.Or(p.Section, p.ID) }

// spread is the i-th of n places, each far from those before it: the middle, the quarters, the eighths between them …
// (van der Corput's sequence). Small n repeat some.
func spread(i, n int) int {
	at, step := 0.0, 0.5
	for i++; i > 0; i /= 2 {
		at += step * float64(i%2)
		step /= 2
	}
	return int(at * float64(n))
}
