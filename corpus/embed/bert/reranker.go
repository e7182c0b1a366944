package bert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/viterin/vek/vek32"
	"golang.org/x/sync/errgroup"

	"github.com/footnote/footnote/corpus/embed/bert/kernel"
)

// mostWindows is the maximum number of windows of a passage that are scored: passages are shorter than two.
const mostWindows = 4

// leastPair is the minimum context window of a reranker in tokens: special tokens and some of each text.
const leastPair = 12

// Reranker is a cross-encoder of the BERT family (ms-marco-MiniLM, bge-reranker-base, mmarco-mMiniLM), which scores
// a passage against a query. Like Embedder it is loaded only while in use. It is safe for concurrent use. Scores
// are not comparable between models.
type Reranker struct {
	lazyModel
	slots chan struct{} // semaphore of the passages being scored
}

// pairHead is the classification head of a cross-encoder with one label: a score from the first token.
type pairHead struct{ pooler, classifier linear }

// OpenReranker validates the settings in a model's folder and checks that its weights exist, including those of a
// classifier with one label. It reads only small files. With floats it computes in float32 instead of 8 bits. A
// bert model must have two token types, for query and passage.
func OpenReranker(dir string, floats bool) (*Reranker, error) {
	f, err := readFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("reranker: %w", err)
	}
	if f.Type == "bert" && f.Types < 2 {
		return nil, fmt.Errorf("reranker in %s: it tells %d kinds of text apart; a reranker needs 2", dir, f.Types)
	}
	if f.window < leastPair {
		return nil, fmt.Errorf("reranker in %s: its window has %d tokens, fewer than %d", dir, f.window, leastPair)
	}
	w, err := openWeights(filepath.Join(dir, weightsFile))
	if err != nil {
		return nil, fmt.Errorf("reranker: %w", err)
	}
	if _, err = newNetwork(f.config, w, false); err == nil {
		_, err = newPairHead(f.config, w)
	}
	if err := errors.Join(err, w.close()); err != nil {
		return nil, fmt.Errorf("reranker in %s: %w", dir, err)
	}
	return &Reranker{
		lazyModel: lazyModel{dir: dir, folder: f, floats: floats, idle: time.Minute},
		slots:     make(chan struct{}, max(1, runtime.GOMAXPROCS(0))),
	}, nil
}

// newPairHead loads the tensors of a classifier with one label. BERT's pooler is part of the network; RoBERTa's
// classifier has two layers of its own.
func newPairHead(c config, w *weights) (h pairHead, err error) {
	pooler, classifier := w.prefixOf(c.Type)+"pooler.dense", "classifier"
	if c.Type != "bert" {
		pooler, classifier = "classifier.dense", "classifier.out_proj"
	}
	for _, t := range []struct {
		into  *[]float32
		name  string
		shape []int
	}{
		{&h.pooler.weights, pooler + ".weight", []int{c.Hidden, c.Hidden}},
		{&h.pooler.bias, pooler + ".bias", []int{c.Hidden}},
		{&h.classifier.weights, classifier + ".weight", []int{1, c.Hidden}},
		{&h.classifier.bias, classifier + ".bias", []int{1}},
	} {
		var failed error
		if *t.into, failed = w.tensorFloats(t.name, t.shape...); failed != nil {
			err = cmp.Or(err, failed)
		}
	}
	return h, err
}

// Scores returns how well each passage answers a query, 0–1: the logistic function of the model's logit. A passage
// that exceeds the context window with the query gets the score of its best window. A query is truncated to half of
// the context window. Passages are scored concurrently, one per processor. It returns the first error.
func (r *Reranker) Scores(ctx context.Context, query string, passages []string) ([]float64, error) {
	m, release, err := r.useModel()
	if err != nil {
		return nil, err
	}
	defer release()
	head, err := newPairHead(r.folder.config, m.weights)
	if err != nil {
		return nil, err
	}
	out := slices.Repeat([]float64{math.Inf(-1)}, len(passages))
	see := func(i int, first []float32) error {
		out[i] = max(out[i], head.logit(first))
		return notANumber(out[i])
	}
	if err := m.eachPair(ctx, r.slots, query, passages, r.folder.window, mostWindows, see); err != nil {
		return nil, fmt.Errorf("reranker in %s: %w", r.dir, err)
	}
	for i, best := range out {
		out[i] = 1 / (1 + math.Exp(-best))
	}
	return out, nil
}

// notANumber returns an error for a score that is not a number.
func notANumber(score float64) error {
	if math.IsNaN(score) {
		return errors.New("a score is not a number: the weights can't be right")
	}
	return nil
}

// eachPair reads each passage with a query, one per slot concurrently. For each window of a passage, at most most of
// them, it calls see with the passage's index and the output row of the first token, which is valid during the call. It
// returns the first error, and an error if the tokenizer has no form for pairs.
func (m *model) eachPair(
	ctx context.Context, slots chan struct{}, query string, passages []string, window, most int,
	see func(i int, first []float32) error,
) error {
	form := m.tokenizer.pair
	if m.Type == "mpnet" { // it has no token types, regardless of the tokenizer's file
		form.kind = 0
	}
	if form.ends < 1 || form.kind < 0 || form.kind >= m.Types {
		return errors.New("its tokenizer joins two texts in a way that can't be used")
	}
	// The query keeps its end token, and RoBERTa has a second one between the texts; the passage's windows have their
	// own.
	asked := m.cutWindows("", query, window/2)[0]
	for range form.ends - 1 {
		asked = append(asked, m.tokenizer.end)
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(cap(slots))
	for i, passage := range passages {
		work.Go(func() error {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			defer func() { <-slots }()
			s, _ := m.scratch.Get().(*scratch)
			defer m.scratch.Put(s)
			parts := m.cutWindows("", passage, window-len(asked)+1)
			return guardMapping(func() error {
				for _, part := range parts[:min(len(parts), most)] {
					ids := slices.Concat(asked, part[1:]) // without its first token
					second := len(ids)
					if form.kind > 0 {
						second = len(asked)
					}
					x, err := m.runTokens(ids, second, s, ctx.Err)
					if err != nil {
						return err
					}
					if err := see(i, x[:m.Hidden]); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	return work.Wait()
}

// logit returns the classifier's output for the first token. Both heads are tanh of a dense layer, then one output.
func (h pairHead) logit(first []float32) float64 {
	pooled := make([]float32, len(first))
	kernel.Multiply(pooled, first, h.pooler.weights, h.pooler.bias, new(kernel.Scratch))
	for i, v := range pooled {
		pooled[i] = float32(math.Tanh(float64(v)))
	}
	return float64(vek32.Dot(pooled, h.classifier.weights) + h.classifier.bias[0])
}
