package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"footnote/corpus"
	"footnote/corpus/milvus"
	"footnote/server/api"
)

// milvusSettings say where vectors are kept that the database does not keep.
type milvusSettings struct {
	MilvusAddress    string `help:"Milvus server (2.3 or newer) that keeps the vectors; without it they are in the data directory." env:"MILVUS_ADDRESS" placeholder:"HOST:PORT"`
	MilvusUser       string `help:"User of the Milvus server." env:"MILVUS_USER" placeholder:"NAME"`
	MilvusPassword   secret `help:"Password of that user." env:"MILVUS_PASSWORD" placeholder:"PASSWORD"`
	MilvusTLS        bool   `name:"milvus-tls" help:"Encrypt the connection to the Milvus server." env:"MILVUS_TLS"`
	MilvusDatabase   string `help:"Database on the Milvus server, if not its default one." env:"MILVUS_DATABASE" placeholder:"NAME"`
	MilvusCollection string `help:"How the names of the Milvus collections begin: two Footnotes on one Milvus need two names." env:"MILVUS_COLLECTION" default:"footnote" placeholder:"NAME"`
}

// milvusConfig is what the store is made with.
func (m milvusSettings) milvusConfig(model string, log *slog.Logger) milvus.Config {
	return milvus.Config{
		Address: m.MilvusAddress, User: m.MilvusUser, Password: string(m.MilvusPassword), TLS: m.MilvusTLS,
		Database: m.MilvusDatabase, Collection: m.MilvusCollection, Model: model, Log: log,
	}
}

// checkMilvus reports every mistake in the settings; without an address there is nothing to check.
func (m milvusSettings) checkMilvus() error {
	if m.MilvusAddress == "" {
		return nil
	}
	return m.milvusConfig("", nil).Check()
}

// openMilvus has the vectors kept on the Milvus server that the settings name, if they name one. It does not wait for
// it.
func (s *stores) openMilvus(set *settings, log *slog.Logger) error {
	if set.MilvusAddress == "" {
		return nil
	}
	model, err := set.embeddingName()
	if err != nil || model == "" {
		return err
	}
	cfg := set.milvusSettings.milvusConfig(model, log)
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
func vectorStore(ctx context.Context, set *settings) []checkResult {
	if set.MilvusAddress == "" {
		return nil
	}
	found := checkResult{what: "Milvus"}
	model, err := set.embeddingName()
	if err != nil {
		found.err = err
		return []checkResult{found}
	}
	vectors, err := milvus.New(set.milvusSettings.milvusConfig(model, quietLogger(io.Discard)))
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
