package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"footnote/corpus"
	"footnote/corpus/embed/bert"
	"footnote/llm/httprerank"
)

// rerankerSettings say what reads the best passages of a search together with the question, and orders them anew.
type rerankerSettings struct {
	RerankDir    string        `help:"Folder of a reranker of the BERT family with one label (ms-marco-MiniLM, bge-reranker-base, mmarco-mMiniLM and the like: model.safetensors, config.json, tokenizer.json or vocab.txt): it reads the 20 best passages of a search together with the question, and orders them anew." env:"FOOTNOTE_RERANK_DIR" placeholder:"DIR"`
	RerankURL    string        `name:"rerank-url" help:"Address of a server's /rerank route instead: Cohere's v2, Jina's, vLLM's or llama.cpp's, like http://localhost:8012/v1/rerank." env:"FOOTNOTE_RERANK_URL" placeholder:"URL"`
	RerankModel  string        `help:"Model that this server is to use; without one, its own." env:"FOOTNOTE_RERANK_MODEL" placeholder:"NAME"`
	RerankAPIKey secret        `name:"rerank-api-key" help:"Key of this server." env:"FOOTNOTE_RERANK_API_KEY" placeholder:"KEY"`
	RerankTime   time.Duration `help:"How long a search waits for the reranker; after that, its results stay in the order they had." env:"FOOTNOTE_RERANK_TIME" default:"3s"`
}

func (s *rerankerSettings) checkReranker() error {
	switch {
	case s.RerankDir != "" && s.RerankURL != "":
		return errors.New("FOOTNOTE_RERANK_DIR and FOOTNOTE_RERANK_URL can't both be set: which one is to rerank?")
	case s.RerankTime <= 0 || s.RerankTime > time.Minute:
		return errors.New("FOOTNOTE_RERANK_TIME must be more than nothing and at most a minute, like 3s")
	}
	return nil
}

// closableReranker is a reranker that holds memory or connections.
type closableReranker interface {
	corpus.Reranker
	io.Closer
}

// openReranker opens the reranker that the settings name; nil for none.
func (s *settings) openReranker() (closableReranker, error) {
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

// checkRerank has the reranker order two passages; nothing is said where none is set.
func checkRerank(ctx context.Context, set *settings) []checkResult {
	if set.RerankDir == "" && set.RerankURL == "" {
		return nil
	}
	found := checkResult{what: "reranker"}
	r, err := set.openReranker()
	if err != nil {
		found.err = err
		return []checkResult{found}
	}
	ctx, cancel := context.WithTimeout(ctx, set.RerankTime)
	defer cancel()
	begun := time.Now()
	scores, err := r.Scores(ctx, "Which colour does the sky have?", []string{"The sky is blue.", "Bread is baked."})
	found.err = errors.Join(err, r.Close())
	if found.err == nil {
		found.fine = fmt.Sprintf("works (%.1f s for two passages)", time.Since(begun).Seconds())
		if scores[0] <= scores[1] {
			found.fine += ", but it finds that “Bread is baked.” says which colour the sky has: is it a reranker?"
		}
	}
	return []checkResult{found}
}
