package ground

import (
	"slices"
	"strings"

	"footnote/corpus"
	"footnote/corpus/text"
)

// mostFollowUps is how many questions are suggested under an answer.
const mostFollowUps = 3

// FollowUps makes up to three questions from sections that were seen but not cited, in their documents' languages; when
// all were cited, from those that were cited last. No model is asked: what was seen is sure to be in the documents. A
// question that was asked or answered is not suggested again, whatever its case.
func FollowUps(all []Source, cited []int, question string) []string {
	questions := make(map[int]string, len(all))
	for _, src := range all {
		questions[src.N] = corpus.QuestionOf(src.Document, src.Passage)
	}
	var out []string
	was := map[string]bool{"": true, text.Fold(strings.TrimSpace(question)): true}
	for _, n := range cited {
		was[text.Fold(questions[n])] = true
	}
	add := func(n int) {
		if q := questions[n]; len(out) < mostFollowUps && !was[text.Fold(q)] {
			was[text.Fold(q)] = true
			out = append(out, q)
		}
	}
	for _, src := range all {
		add(src.N)
	}
	if len(out) > 0 || len(cited) < 2 {
		return out
	}
	was = map[string]bool{"": true, text.Fold(strings.TrimSpace(question)): true, text.Fold(questions[cited[0]]): true}
	for _, n := range slices.Backward(cited) {
		add(n)
	}
	return out
}
