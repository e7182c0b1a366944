package main

import (
	"fmt"

	"footnote/corpus/embed/bert"
)

// embeddingSettings say which sentence model embeds in this process, without a server.
type embeddingSettings struct {
	EmbeddingDir           string  `help:"Folder of a sentence model of the BERT family (all-MiniLM, bge, e5: model.safetensors, config.json, tokenizer.json or vocab.txt) for semantic search without a server. An embedding model of a server goes before it. make run sets it to the model that it has fetched." env:"FOOTNOTE_EMBEDDING_DIR" placeholder:"DIR"`
	EmbeddingQueryPrefix   *string `help:"What such a model is to read before each query, like 'query: ' for e5; without it, what the folder says." env:"FOOTNOTE_EMBEDDING_QUERY_PREFIX" placeholder:"TEXT"`
	EmbeddingPassagePrefix *string `help:"What such a model is to read before each passage, like 'passage: ' for e5; without it, what the folder says." env:"FOOTNOTE_EMBEDDING_PASSAGE_PREFIX" placeholder:"TEXT"`
}

// embedsRemotely reports whether the OpenAI-compatible server makes the vectors.
func (s *settings) embedsRemotely() bool { return s.withOpenAI() && s.OpenAIEmbeddingModel != "" }

// embedsHere reports whether a model in this process makes the vectors.
func (s *settings) embedsHere() bool { return s.EmbeddingDir != "" && !s.embedsRemotely() }

// openEmbedder opens the model in the folder that the settings name. Its weights are read when the first text comes.
func (s *settings) openEmbedder() (*bert.Embedder, error) {
	model, err := bert.Open(bert.Config{
		Dir: s.EmbeddingDir, QueryPrefix: s.EmbeddingQueryPrefix, PassagePrefix: s.EmbeddingPassagePrefix,
	})
	if err != nil {
		return nil, fmt.Errorf("FOOTNOTE_EMBEDDING_DIR is %s: %w", s.EmbeddingDir, err)
	}
	return model, nil
}

// embeddingName names the model that makes the vectors; empty: there is none.
func (s *settings) embeddingName() (string, error) {
	if !s.embedsHere() {
		return s.OpenAIEmbeddingModel, nil
	}
	model, err := s.openEmbedder()
	if err != nil {
		return "", err
	}
	return model.Model(), model.Close()
}

// embeddedHere says whether the model in this process works.
func embeddedHere(set *settings) finding {
	name, err := set.embeddingName()
	return finding{what: "semantic search", fine: name + " works in this process", err: err}
}
