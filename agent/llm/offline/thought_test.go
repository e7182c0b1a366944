package offline

import (
	"slices"
	"testing"
)

func TestEachCallSaysWhyItIsMade(t *testing.T) {
	t.Parallel()
	const (
		first   = "Nothing was searched for this question yet: I look for its words."
		further = "What was found does not answer the question yet: I search again, in other words."
		best    = "This document fits best: I read what stands around the words that were found."
		listing = "The question asks which documents there are: I look through the list of them."
	)
	for question, want := range map[string][]string{
		"What is the condition of the roof?": {first, best},
		"What does the moon cost?":           {first, best, further},
		"What is 12 * 7?":                    {"All figures of the sum are known: I calculate it."},
		"Which documents do I have?":         {listing},
		"Summarise all documents.": {listing,
			"A summary of the documents is asked for: each is summed up from its own sentences."},
		"Give me a summary of the staff handbook": {first,
			"The question is about one document: its own sentences sum it up."},
	} {
		t.Run(question, func(t *testing.T) {
			t.Parallel()
			if _, d := atDesk(t, library, question); !slices.Equal(d.thoughts, want) {
				t.Errorf("it thought %q, want %q", d.thoughts, want)
			}
		})
	}
}
