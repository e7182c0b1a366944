package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"footnote/cmd/footnote/settings"
	"footnote/corpus"
	"footnote/corpus/milvus"
	"footnote/server/api"
)

// openMilvus has the vectors kept on the Milvus server that the settings name, if they name one. It does not wait for
// it.
func (s *stores) openMilvus(set *settings.Settings, log *slog.Logger) error {
	if set.MilvusAddress == "" {
		return nil
	}
	model, err := embeddingName(set)
	if err != nil || model == "" {
		return err
	}
	cfg := set.Milvus(model, log)
	cfg.Alone = s.exclusive
	remote, err := milvus.New(cfg)
	if err != nil {
		return err
	}
	before := s.close
	s.vectors, s.milvus = func(string) corpus.Vectors { return remote }, remote
	s.close = func() error { return errors.Join(remote.Close(), before()) }
	return nil
}

// milvusCheck is how /health asks for the vectors. Without them searches go on by words.
func milvusCheck(vectors *milvus.Store) api.Check {
	return api.Check{
		Name: "vectors", Probe: vectors.Reach, Says: func(context.Context) string { return vectors.About() },
	}
}

// vectorStore is what the doctor finds out about it; nothing when there is none.
func vectorStore(ctx context.Context, set *settings.Settings) []checkResult {
	if set.MilvusAddress == "" {
		return nil
	}
	found := checkResult{what: "Milvus"}
	model, err := embeddingName(set)
	if err != nil {
		found.err = err
		return []checkResult{found}
	}
	vectors, err := milvus.New(set.Milvus(model, quietLogger(io.Discard)))
	if err != nil {
		found.err = err
		return []checkResult{found}
	}
	err = vectors.Reach(ctx)
	found.fine = fmt.Sprintf("%s answers: %s", set.MilvusAddress, vectors.About())
	if err := errors.Join(err, vectors.Close()); err != nil {
		found.err = fmt.Errorf("%w (MILVUS_ADDRESS is %s); searches find by words meanwhile", err, set.MilvusAddress)
	}
	return []checkResult{found}
}
