package cite

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

// mostFollowUps is the number of questions that are suggested under an answer.
const mostFollowUps = 3

// FollowUps generates up to three questions from sections that were retrieved but not cited, of documents that the
// answer cites. If all were cited, it uses the sections that were cited last. Each section relates to the question:
// its text or its heading contains a content word of it, or it is next to a cited passage. If the question's
// language is detected, documents in another or an unknown language are skipped. No model writes the questions, so
// the documents answer each of them. Questions that were asked or answered are skipped, compared without case.
func FollowUps(all []Source, cited []int, question string) []string {
	language := text.Detect(question)
	var languages []string
	near := map[string]map[int]bool{} // of a cited document, the ordinals of cited passages and their neighbours
	for _, src := range all {
		languages = text.AppendNew(languages, src.Document.Language)
		if !slices.Contains(cited, src.N) {
			continue
		}
		if near[src.Document.ID] == nil {
			near[src.Document.ID] = map[int]bool{}
		}
		for _, at := range []int{-1, 0, 1} {
			near[src.Document.ID][src.Passage.Ordinal+at] = true
		}
	}
	words := text.QueryWords(question, languages)
	questions := make(map[int]string, len(all))
	for _, src := range all {
		beside, cites := near[src.Document.ID]
		if !cites || language != "" && src.Document.Language != language {
			continue
		}
		// The title of a document covers all of its sections, so a word of it relates no section to the question.
		if (corpus.Result{Passage: src.Passage}).ShareOf(words) > 0 || beside[src.Passage.Ordinal] {
			questions[src.N] = corpus.QuestionOf(src.Document, src.Passage)
		}
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
