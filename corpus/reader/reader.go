// Package reader reads passages for a question with a small model in this process. The model is a cross-encoder,
// trained from the sentence model all-MiniLM-L6-v2 by e2e/eval/reader/train.py. weights.safetensors holds what training
// changed, so the folder of the sentence model is needed too. It reads English. README.md is its data card.
package reader

import (
	"context"
	_ "embed"
	"math"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/footnote/footnote/corpus/embed/bert"
)

//go:embed weights.safetensors
var weights []byte

// keptScores is the number of cached scores: the steps of an answer read the same quotes again. They take about 1 MB.
const keptScores = 1024

// pair is a question with a text.
type pair struct{ question, text string }

// Reader reads passages. It is safe for concurrent use.
type Reader struct {
	*bert.Reader
	kept *lru.Cache[pair, float64]
}

// Open opens the reader with the sentence model in a folder. It returns bert.ErrOtherModel if that is another model. It
// computes in 8 bits unless floats is set. The caller closes it.
func Open(dir string, floats bool) (*Reader, error) {
	r, err := bert.OpenReader(dir, weights, floats)
	if err != nil {
		return nil, err
	}
	kept, err := lru.New[pair, float64](keptScores)
	if err != nil {
		panic(err) // unreachable: the size is positive
	}
	return &Reader{r, kept}, nil
}

// Scores returns for each text how well it answers a question, in order: a value between 0 and 1, higher for a better
// answer, which is not calibrated. A text is the title and the headings above a passage, joined by " › ", a line
// break, and the words of the passage; it was trained with 40 to 120 words. It returns an error if ctx ends.
func (r *Reader) Scores(ctx context.Context, question string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	var unread []string
	var at []int
	for i, text := range texts {
		var known bool
		if scores[i], known = r.kept.Get(pair{question, text}); !known {
			unread, at = append(unread, text), append(at, i)
		}
	}
	if len(unread) == 0 {
		return scores, context.Cause(ctx)
	}
	outputs, err := r.Read(ctx, question, unread)
	if err != nil {
		return nil, err
	}
	for k, o := range outputs {
		// The mean of the logits of relevance and of a complete answer.
		scores[at[k]] = 1 / (1 + math.Exp(-(o[0]+o[1])/2))
		r.kept.Add(pair{question, unread[k]}, scores[at[k]])
	}
	return scores, nil
}
