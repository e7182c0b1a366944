package ground

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// A sentence in other words than the given text may contradict it: it counts half, and is said to be so. A model that
// found it there decides.
func TestASentenceInOtherWordsCountsHalf(t *testing.T) {
	t.Parallel()
	const (
		given    = "The committee accepted the proposal of the mayor in 1904. The bridge was opened by Anna Berg."
		stated   = "Anna Berg opened the bridge."
		reworded = "The mayor accepted the proposal of the committee in 1904."
		invented = "Dragons live in the cellar."
	)
	for _, tt := range []struct {
		name        string
		confirmed   []string
		doubted     []string
		confidence  float64
		unsupported []string
		explained   string
	}{
		{"by the rules", nil, nil, 0.4, []string{invented}, "1 of 3 sentences are held by the given text. " +
			"1 sentence is in other words than the source: compare it."},
		{"found by a model", []string{reworded}, nil, 0.53, []string{invented}, "2 of 3 sentences are held"},
		{"doubted by a model", nil, []string{reworded}, 0.27, []string{reworded, invented}, "1 of 3 sentences"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := NewEvidence(NewSources(), NewCiter(nil, nil, ""), chat.RunRequest{Message: "Sum this up: " + given})
			e.given, e.Confirmed, e.Doubted = given, tt.confirmed, tt.doubted
			c, explained := e.CompareGiven(strings.Join([]string{stated, reworded, invented}, " "))
			if got := c.Confidence(); got != tt.confidence {
				t.Errorf("got confidence %v, want %v", got, tt.confidence)
			}
			if !slices.Equal(c.Unsupported, tt.unsupported) {
				t.Errorf("got unsupported %q, want %q", c.Unsupported, tt.unsupported)
			}
			if !strings.Contains(explained, tt.explained) {
				t.Errorf("got %q, want %q in it", explained, tt.explained)
			}
		})
	}
}

// A sentence in other words that has no footnote of its own is not counted among those that have one.
func TestASentenceWithoutAFootnoteIsNotCountedAsOneThatHasIt(t *testing.T) {
	t.Parallel()
	const (
		passage = "The committee accepted the proposal of the mayor in 1904. The bridge was opened by Anna Berg."
		said    = "The mayor accepted the proposal of the committee in 1904. The bridge was opened by Anna Berg. [1]"
		want    = "1 of 1 sentence with footnotes is backed by its passages; 1 sentence is in other words than the " +
			"source: " +
			"compare it; "
	)
	sources := NewSources()
	sources.Number(corpus.Passage{ID: "p1", DocumentID: "d1", Text: passage}, corpus.Document{ID: "d1"})
	cite := NewCiter(sources, NewTexts(noPages{}, chat.Scope{}), "r")
	w := NewWriter(func(context.Context, ...chat.Payload) error { return nil }, cite, false)
	if err := w.Write(t.Context(), said); err != nil {
		t.Fatal(err)
	}
	text, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, explained, unsupported := NewEvidence(sources, cite, chat.RunRequest{Message: "Who?"}).Evaluate(text)
	if !strings.HasPrefix(explained, want) || len(unsupported) > 0 {
		t.Errorf("%q: got %q, unsupported %q; want %q before the rest and none", text, explained, unsupported, want)
	}
}
