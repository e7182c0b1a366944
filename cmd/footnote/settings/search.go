package settings

import (
	"errors"
	"log/slog"
	"time"

	"github.com/footnote/footnote/corpus/milvus"
)

// embeddingSettings say which sentence model embeds in this process, without a server. It is used when no server makes
// the vectors.
type embeddingSettings struct {
	EmbeddingDir           *string `help:"Folder of a sentence model of the BERT family (all-MiniLM, bge, e5, all-mpnet, and multilingual ones such as multilingual-e5: model.safetensors, config.json, tokenizer.json or vocab.txt) for semantic search without a server. An embedding model of a server goes before it. Without it, all-MiniLM-L6-v2 is used where it lies beside the program or in ../share/footnote; set to nothing, none is. make run sets it to the model that it has fetched." env:"FOOTNOTE_EMBEDDING_DIR" placeholder:"DIR"`
	EmbeddingQueryPrefix   *string `help:"What such a model is to read before each query, like 'query: ' for e5; without it, what the folder says." env:"FOOTNOTE_EMBEDDING_QUERY_PREFIX" placeholder:"TEXT"`
	EmbeddingPassagePrefix *string `help:"What such a model is to read before each passage, like 'passage: ' for e5; without it, what the folder says." env:"FOOTNOTE_EMBEDDING_PASSAGE_PREFIX" placeholder:"TEXT"`
	EmbeddingFloat32       bool    `help:"Let such a model, and a reranker, multiply floats instead of whole numbers of 8 bits: three times slower, for vectors that are those of the reference to the last digits." env:"FOOTNOTE_EMBEDDING_FLOAT32"`
}

// EmbedsRemotely reports whether an OpenAI-compatible server makes the vectors.
// It goes before a model in this process.
func (s *Settings) EmbedsRemotely() bool {
	return s.OpenAIEmbeddingModel != "" &&
		(s.WithOpenAI() || s.OpenAIEmbeddingBaseURL != "" || s.OpenAIEmbeddingAPIKey != "")
}

// EmbedsHere reports whether a model in this process makes the vectors. It looks for the model's folder each time.
func (s *Settings) EmbedsHere() bool { return s.EmbeddingFolder() != "" && !s.EmbedsRemotely() }

// rerankerSettings say what reads the best passages of a search together with the question, and orders them anew. One
// of the two at most: a folder or an address.
type rerankerSettings struct {
	RerankDir    string        `help:"Folder of a reranker of the BERT family with one label (ms-marco-MiniLM, bge-reranker-base, mmarco-mMiniLM and the like: model.safetensors, config.json, tokenizer.json or vocab.txt): it reads the 20 best passages of a search together with the question, and orders them anew." env:"FOOTNOTE_RERANK_DIR" placeholder:"DIR"`
	RerankURL    string        `name:"rerank-url" help:"Address of a server's /rerank route instead: Cohere's v2, Jina's, vLLM's or llama.cpp's, like http://localhost:8012/v1/rerank." env:"FOOTNOTE_RERANK_URL" placeholder:"URL"`
	RerankModel  string        `help:"Model that this server is to use; without one, its own." env:"FOOTNOTE_RERANK_MODEL" placeholder:"NAME"`
	RerankAPIKey Secret        `name:"rerank-api-key" help:"Key of this server." env:"FOOTNOTE_RERANK_API_KEY" placeholder:"KEY"`
	RerankTime   time.Duration `help:"How long a search waits for the reranker; after that, its results stay in the order they had." env:"FOOTNOTE_RERANK_TIME" default:"3s"`
}

// checkReranker reports both at once.
func (s *rerankerSettings) checkReranker() error {
	switch {
	case s.RerankDir != "" && s.RerankURL != "":
		return errors.New("FOOTNOTE_RERANK_DIR and FOOTNOTE_RERANK_URL can't both be set: which one is to rerank?")
	case s.RerankTime <= 0 || s.RerankTime > time.Minute:
		return errors.New("FOOTNOTE_RERANK_TIME must be more than nothing and at most a minute, like 3s")
	}
	return nil
}

// milvusSettings say where vectors are kept that the database does not keep.
type milvusSettings struct {
	MilvusAddress    string `help:"Milvus server (2.3 or newer) that keeps the vectors; without it they are in the data directory." env:"MILVUS_ADDRESS" placeholder:"HOST:PORT"`
	MilvusUser       string `help:"User of the Milvus server." env:"MILVUS_USER" placeholder:"NAME"`
	MilvusPassword   Secret `help:"Password of that user." env:"MILVUS_PASSWORD" placeholder:"PASSWORD"`
	MilvusTLS        bool   `name:"milvus-tls" help:"Encrypt the connection to the Milvus server." env:"MILVUS_TLS"`
	MilvusDatabase   string `help:"Database on the Milvus server, if not its default one." env:"MILVUS_DATABASE" placeholder:"NAME"`
	MilvusCollection string `help:"How the names of the Milvus collections begin: two Footnotes on one Milvus need two names." env:"MILVUS_COLLECTION" default:"footnote" placeholder:"NAME"`
}

// Milvus is what the store is made with. Vectors of different models lie in different collections, so it needs the
// model's name.
func (m milvusSettings) Milvus(model string, log *slog.Logger) milvus.Config {
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
	return m.Milvus("", nil).Check()
}
