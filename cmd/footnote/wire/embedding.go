package wire

import (
	"context"
	"fmt"
	"io"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/footnote/footnote/agent/llm/httprerank"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/bert"
	"github.com/footnote/footnote/corpus/search"
)

// OpenEmbedder opens the model in the folder that the settings name. Its weights are read when the first text comes.
// Who opens it closes it. It fails when the folder has no model that can be read.
func OpenEmbedder(s *settings.Settings) (*bert.Embedder, error) {
	dir := s.EmbeddingFolder()
	model, err := bert.Open(bert.Config{
		Dir: dir, QueryPrefix: s.EmbeddingQueryPrefix, PassagePrefix: s.EmbeddingPassagePrefix,
		Float32: s.EmbeddingFloat32,
	})
	if err != nil {
		return nil, fmt.Errorf("FOOTNOTE_EMBEDDING_DIR is %s: %w", dir, err)
	}
	return model, nil
}

// EmbeddingName names the model that makes the vectors; empty: there is none. The name is part of what vectors are
// kept under.
func EmbeddingName(s *settings.Settings) (string, error) {
	if !s.EmbedsHere() {
		return s.OpenAIEmbeddingModel, nil
	}
	model, err := OpenEmbedder(s)
	if err != nil {
		return "", err
	}
	return model.Model(), model.Close()
}

// similarityTime bounds how long sentences wait to be compared by meaning. Past it, words decide. It is a choice: a
// question must not wait longer for a part that rules can do without.
const similarityTime = 3 * time.Second

// keptSentences is how many sentences' vectors are kept: a question searches twice, and the next one often finds the
// same passages. They take some 4 MB with 384 dimensions.
const keptSentences = 2048

// sentenceSimilarity compares sentences by the meanings that an embedder gives them; nil without one. scaleOf returns
// what its cosines mean. The function that it returns may be called by many at once. It returns a number for each
// text, the greater the nearer, and an error when time is over.
func sentenceSimilarity(
	e corpus.Embedder, scaleOf func(context.Context) (search.Scale, error),
) offline.Similarity {
	if e == nil {
		return nil
	}
	kept, err := lru.New[string, []float32](keptSentences)
	if err != nil {
		panic(err) // not reached: the size is positive
	}
	return func(ctx context.Context, question string, texts []string) ([]float64, error) {
		ctx, cancel := context.WithTimeout(ctx, similarityTime)
		defer cancel()
		scale, err := scaleOf(ctx)
		if err != nil {
			return nil, err
		}
		asked, err := e.EmbedQuery(ctx, question)
		if err != nil {
			return nil, err
		}
		vectors := make([][]float32, len(texts))
		var missing []string
		for i, text := range texts {
			var known bool
			if vectors[i], known = kept.Get(text); !known {
				missing = append(missing, text)
			}
		}
		made, err := corpus.EmbedNow(ctx, e, missing)
		if err != nil {
			return nil, err
		}
		out := make([]float64, len(texts))
		for i, v := range vectors {
			if v == nil {
				v, made = made[0], made[1:]
				kept.Add(texts[i], v)
			}
			for k := range min(len(v), len(asked)) {
				out[i] += float64(v[k]) * float64(asked[k])
			}
			if scale != (search.Scale{}) { // it tells what answers from what does not
				out[i] = offline.FittedCosine(scale.Nearness(out[i]))
			}
		}
		return out, nil
	}
}

// Reranker is a reranker that holds memory or connections. It has to be closed.
type Reranker interface {
	corpus.Reranker
	io.Closer
}

// OpenReranker opens the reranker that the settings name; nil for none. One in the folder goes before one at an
// address; Settings.Check refuses both at once. A server's reranker is not asked yet.
func OpenReranker(s *settings.Settings) (Reranker, error) {
	switch {
	case s.RerankDir != "":
		r, err := bert.OpenReranker(s.RerankDir, s.EmbeddingFloat32)
		if err != nil {
			return nil, fmt.Errorf("FOOTNOTE_RERANK_DIR is %s: %w", s.RerankDir, err)
		}
		return r, nil
	case s.RerankURL != "":
		r, err := httprerank.New(httprerank.Config{URL: s.RerankURL, Model: s.RerankModel, Key: string(s.RerankAPIKey)})
		if err != nil {
			return nil, fmt.Errorf("FOOTNOTE_RERANK_URL: %w", err)
		}
		return r, nil
	}
	return nil, nil
}
