package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"footnote/cmd/footnote/settings"
	"footnote/corpus"
	"footnote/corpus/embed/bert"
	"footnote/corpus/search"
	"footnote/llm/offline"

	lru "github.com/hashicorp/golang-lru/v2"
)

// openEmbedder opens the model in the folder that the settings name. Its weights are read when the first text comes.
func openEmbedder(s *settings.Settings) (*bert.Embedder, error) {
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

// embeddingName names the model that makes the vectors; empty: there is none.
func embeddingName(s *settings.Settings) (string, error) {
	if !s.EmbedsHere() {
		return s.OpenAIEmbeddingModel, nil
	}
	model, err := openEmbedder(s)
	if err != nil {
		return "", err
	}
	return model.Model(), model.Close()
}

const (
	paceTime  = 300 * time.Millisecond // that doctor takes to measure an embedding model
	paceWords = 150                    // of a text that it measures with: some 200 tokens
)

// embeddedHere says whether the model in this process works, what it is, and how fast.
func embeddedHere(ctx context.Context, set *settings.Settings) checkResult {
	r := checkResult{what: "semantic search"}
	model, err := openEmbedder(set)
	if err != nil {
		r.err = err
		return r
	}
	defer func() { r.err = errors.Join(r.err, model.Close()) }()
	text := strings.Repeat("The lease of the house ends in spring. ", paceWords/8)
	if _, r.err = model.EmbedQuery(ctx, text); r.err != nil { // the first one opens the model
		return r
	}
	begun, n := time.Now(), 0
	for ; time.Since(begun) < paceTime && r.err == nil; n++ {
		_, r.err = model.EmbedQuery(ctx, text)
	}
	r.fine = fmt.Sprintf("%s works in this process: %s; some %.0f passages of %d words a second on one processor",
		model.Model(), model.About(), float64(n)/time.Since(begun).Seconds(), paceWords)
	return r
}

// similarityTime bounds how long sentences wait to be compared by meaning. Past it, words decide.
const similarityTime = 3 * time.Second

// keptSentences is how many sentences' vectors are kept: a question searches twice, and the next one often finds the
// same passages. They take some 4 MB with 384 dimensions.
const keptSentences = 2048

// sentenceSimilarity compares sentences by the meanings that an embedder gives them; nil without one. scaleOf returns
// what its cosines mean.
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
