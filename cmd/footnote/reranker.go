package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"footnote/cmd/footnote/settings"
	"footnote/corpus"
	"footnote/corpus/embed/bert"
	"footnote/llm/httprerank"
)

// closableReranker is a reranker that holds memory or connections.
type closableReranker interface {
	corpus.Reranker
	io.Closer
}

// openReranker opens the reranker that the settings name; nil for none.
func openReranker(s *settings.Settings) (closableReranker, error) {
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
func checkRerank(ctx context.Context, set *settings.Settings) []checkResult {
	if set.RerankDir == "" && set.RerankURL == "" {
		return nil
	}
	found := checkResult{what: "reranker"}
	r, err := openReranker(set)
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
