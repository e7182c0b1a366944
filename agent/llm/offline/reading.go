package offline

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
)

// Reader returns for each text how well it answers a question, in order: more than 0 and less than 1. It reads English.
// If it fails, the scores decide, unless ctx was cancelled.
type Reader func(ctx context.Context, question string, texts []string) ([]float64, error)

// windowSize is the minimum number of words of a quote with its neighbours, where its passage has them.
const windowSize = 40

// read scores the quotes of an answer with the reader, orders them, and updates the probability. Another language than
// English leaves the answer unchanged. It returns an error only if ctx is cancelled.
func (a answer) read(ctx context.Context, question string, read Reader) (answer, error) {
	if lang := text.DetectForCertain(question); read == nil || len(a.quotes) == 0 || lang != "" && lang != "en" ||
		slices.ContainsFunc(a.quotes, func(q quote) bool { return a.pile.languageOf(q.source) != "" }) {
		return a, nil
	}
	texts := make([]string, len(a.quotes))
	for i, q := range a.quotes {
		texts[i] = a.pile.window(q)
	}
	probable, err := read(ctx, question, texts)
	if err != nil {
		return a, context.Cause(ctx)
	}
	best := math.Inf(-1)
	for i := range a.quotes {
		q, said := &a.quotes[i], logit(probable[i])
		q.score = float64(q.best.place) + logistic(said+readWithin*q.best.within())
		best = max(best, said)
	}
	slices.SortStableFunc(a.quotes, func(x, y quote) int { return cmp.Compare(y.score, x.score) })
	sure := logistic(sureBefore*logit(a.sure) + sureRead*best)
	if a.sure >= leastShown { // the reader does not hide what the scores show
		sure = max(sure, leastShown)
	}
	a.sure = sure
	return a, nil
}

// Weights beside the reader's log-odds, chosen on the open halves of real documents: docs/quality.md, “Reader”.
const (
	readWithin = 2    // of a quote's score, for the order
	sureBefore = 0.5  // of the log-odds by the scores, for the probability of an answer
	sureRead   = 0.28 // of the reader's log-odds of the best quote, for the same
)

// logistic returns the probability of log-odds.
func logistic(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// logit returns the log-odds of a probability.
func logit(p float64) float64 { return math.Log(max(p, 1e-6) / max(1-p, 1e-6)) }

// window returns the text of a quote for reading: the document's title and the headings above it, and its words with
// their neighbours in the passage up to windowSize words.
func (p pool) window(q quote) string {
	src := p.sources[q.source]
	first, last := q.first, q.last
	inside := func(i int) bool { return i >= 0 && i < len(p.units) && p.units[i].source == q.source }
	said := func() string { return string(p.runes[q.source][p.units[first].start:p.units[last].end]) }
	for len(strings.Fields(said())) < windowSize && (inside(first-1) || inside(last+1)) {
		if inside(last + 1) {
			last++
		}
		if inside(first-1) && len(strings.Fields(said())) < windowSize {
			first--
		}
	}
	var path []string
	for _, part := range append([]string{src.document.label()}, strings.Split(src.Section, "›")...) {
		if part = strings.TrimSpace(part); part != "" {
			path = text.AppendNew(path, part)
		}
	}
	return strings.Join(path, " › ") + "\n" + said()
}
