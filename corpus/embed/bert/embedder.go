// Package bert computes embeddings in this process, with a sentence model of the BERT family from a folder:
// all-MiniLM, bge, e5, gte; multilingual-e5 and paraphrase-multilingual-MiniLM for many languages; all-mpnet. It
// reads the folder format of Hugging Face's libraries (model.safetensors, config.json, tokenizer.json or vocab.txt,
// and the files of sentence-transformers), and computes the same vectors. Encoders are of the types bert,
// xlm-roberta and mpnet, tokenizers BERT's WordPiece and SentencePiece's Unigram.
//
// embedder.go and reranker.go are the API; lazy.go loads and unloads the model on demand. folder.go, weights.go,
// tokenizer.go and normalizer.go parse the folder and reject features that this package would compute differently
// from the reference: a nearly correct vector is worse than an error. wordpiece.go, unigram.go and charsmap.go
// tokenise; forward.go and distance.go run the network, with the arithmetic of package kernel. concurrency_limit.go,
// gate.go and yield_linux.go give queries priority over background ingestion.
//
// The process makes no network requests: a folder is complete or is rejected.
package bert

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/footnote/footnote/corpus/embed/bert/kernel"
)

const weightsFile = "model.safetensors"

// Config configures an embedding model. Only Dir is required.
type Config struct {
	Dir string
	// QueryPrefix and PassagePrefix are prepended to each query and passage. nil: the folder's own prefix.
	QueryPrefix, PassagePrefix *string
	Workers                    int           // passages embedded concurrently; 0: see newConcurrencyLimit
	Float32                    bool          // compute in float32 instead of 8 bits: slower, and exact
	Idle                       time.Duration // how long the model stays in memory after its last use; 0: a minute
}

// Embedder is a sentence model. It loads the weights with the first text and unloads them when idle. It is safe for
// concurrent use. Passages and queries have separate slots, so a query never waits behind passages.
type Embedder struct {
	lazyModel
	name string

	passages concurrencyLimit
	queries  chan struct{} // semaphore: holds the query that is being embedded
	gate     gate
}

// model is a loaded model, shared by all calls. scratch pools the buffers of forward passes.
type model struct {
	*network
	tokenizer *tokenizer
	weights   *weights
	scratch   sync.Pool
}

// Open validates the settings in a model's folder and checks that its weights exist. It reads only small files. An
// error names the folder and the invalid setting.
func Open(cfg Config) (*Embedder, error) {
	f, err := readFolder(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("embedding model: %w", err)
	}
	if cfg.QueryPrefix != nil {
		f.queryPrefix = *cfg.QueryPrefix
	}
	if cfg.PassagePrefix != nil {
		f.passagePrefix = *cfg.PassagePrefix
	}
	w, err := openWeights(filepath.Join(cfg.Dir, weightsFile))
	if err != nil {
		return nil, fmt.Errorf("embedding model: %w", err)
	}
	_, err = newNetwork(f.config, w, false)
	name := ""
	if err == nil {
		name, err = modelIdentity(cfg.Dir, f, w)
	}
	if err := errors.Join(err, w.close()); err != nil {
		return nil, fmt.Errorf("embedding model in %s: %w", cfg.Dir, err)
	}
	return &Embedder{
		lazyModel: lazyModel{
			dir:    cfg.Dir,
			folder: f,
			floats: cfg.Float32,
			idle:   cmp.Or(cfg.Idle, time.Minute),
		},
		name:     name,
		passages: newConcurrencyLimit(cfg.Workers),
		queries:  make(chan struct{}, runtime.GOMAXPROCS(0)),
	}, nil
}

// modelIdentity returns the model's name: the folder's name with a hash of its settings and samples of its weights,
// so that vectors of different models are never mixed. Hashing all weights would take as long as reading them; 64
// samples of 4 KiB differ between any two trained models.
func modelIdentity(dir string, f folder, w *weights) (string, error) {
	const samples, bytes = 64, 4096
	sum := sha256.New()
	settings, err := json.Marshal([]any{f.config, f.window, f.poolFirst, f.passagePrefix, len(w.file)})
	if err != nil {
		return "", err
	}
	sum.Write(settings)
	for i := range samples {
		at := len(w.data) / samples * i
		sum.Write(w.data[at:min(at+bytes, len(w.data))])
	}
	path, err := filepath.Abs(dir)
	return filepath.Base(path) + "@" + hex.EncodeToString(sum.Sum(nil)[:6]), err
}

// Model returns the name and version of the model: the same name means the same passage vectors.
func (e *Embedder) Model() string { return e.name }

// About describes the model and its arithmetic: "6 layers, vectors of 384 numbers, 256 tokens at once, in 8 bits
// with AVX-512 VNNI". It is for the log and for the command that checks a model.
func (e *Embedder) About() string {
	precision := "8 bits"
	if e.floats {
		precision = "floats"
	}
	return fmt.Sprintf("%d layers, vectors of %d numbers, %d tokens at once, in %s with %s", e.folder.Layers,
		e.folder.Hidden, e.folder.window, precision, kernel.Name())
}

// Embed returns one unit vector for each passage, in order. A passage longer than the context window is split at
// words, and its vector is the mean of the windows. Embed uses all processors with low-priority threads, or half of
// them where the system has no such threads, and yields to queries. An empty passage has a vector too. It returns
// an error when ctx ends, when the model can't be loaded, and after Close.
func (e *Embedder) Embed(ctx context.Context, passages []string) ([][]float32, error) {
	return e.embedPassages(ctx, passages, e.passages, e.gate.waitForQueries)
}

// EmbedNow is Embed with the priority of a query, on all processors, for an interactive caller.
func (e *Embedder) EmbedNow(ctx context.Context, passages []string) ([][]float32, error) {
	defer e.PausePassages()()
	return e.embedPassages(ctx, passages, concurrencyLimit{slots: e.queries}, context.Context.Err)
}

// PausePassages pauses Embed until release is called, except for a part of a passage every tenth of a second. It
// gives an interactive request priority.
func (e *Embedder) PausePassages() (release func()) {
	e.gate.enterQuery()
	return sync.OnceFunc(e.gate.leaveQuery)
}

// embedPassages embeds passages concurrently. It calls wait before each layer of each window.
func (e *Embedder) embedPassages(
	ctx context.Context, passages []string, by concurrencyLimit, wait func(context.Context) error,
) ([][]float32, error) {
	m, release, err := e.useModel()
	if err != nil {
		return nil, err
	}
	defer release()
	out := make([][]float32, len(passages))
	err = by.run(ctx, len(passages), func(ctx context.Context, i int) (err error) {
		windows := m.cutWindows(e.folder.passagePrefix, passages[i], e.folder.window)
		out[i], err = m.meanVector(windows, e.folder.poolFirst, func() error { return wait(ctx) })
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// EmbedQuery returns the unit vector of a query. A query longer than the context window is truncated.
func (e *Embedder) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	m, release, err := e.useModel()
	if err != nil {
		return nil, err
	}
	defer release()
	defer e.PausePassages()()
	select {
	case e.queries <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-e.queries }()
	return m.meanVector(m.cutWindows(e.folder.queryPrefix, query, e.folder.window)[:1], e.folder.poolFirst, ctx.Err)
}

// loadModel maps the weights of a folder and parses its tokenizer. Unless floats is set, it quantises the weights
// to 8 bits, which takes some 50 ms for 100 MB. changes may be nil. It checks the vocabulary against the weights,
// because an ID beyond them would read out of bounds.
func loadModel(dir string, f folder, floats bool, changes *weights) (_ *model, err error) {
	m := &model{}
	if m.weights, err = openWeights(filepath.Join(dir, weightsFile)); err != nil {
		return nil, err
	}
	m.weights.changes = changes
	err = guardMapping(func() (err error) {
		m.network, err = newNetwork(f.config, m.weights, !floats)
		return err
	})
	if err == nil {
		m.tokenizer, err = readTokenizer(dir)
	}
	if err == nil && m.tokenizer.tokens > f.Tokens {
		err = fmt.Errorf("the vocabulary has %d tokens, the model %d", m.tokenizer.tokens, f.Tokens)
	}
	if err != nil {
		return nil, errors.Join(err, m.weights.close())
	}
	m.scratch.New = func() any { return new(scratch) }
	return m, nil
}

// cutWindows splits a text at words into windows of similar length that fit with the prefix and the special tokens.
// An empty text is one window. A text of one and a half windows is split into equal parts, since short windows have
// vague vectors. A prefix that is too long is truncated to leave room for at least one token.
func (m *model) cutWindows(prefix, text string, window int) [][]int32 {
	before, tokens := m.tokenizer.encodeText(prefix), m.tokenizer.encodeText(text)
	before = before[:min(len(before), window-3)] // room for a token of the text
	room := window - 2 - len(before)
	var out [][]int32
	for whole := false; !whole; {
		parts := max(1, (len(tokens)+room-1)/room)
		length := (len(tokens) + parts - 1) / parts
		end := length
		if whole = end == len(tokens); !whole {
			for end > 1 && !tokens[end].head {
				end--
			}
			if !tokens[end].head { // a word longer than the window
				end = length
			}
		}
		ids := make([]int32, 0, 2+len(before)+end)
		ids = append(ids, m.tokenizer.start)
		for _, part := range [][]token{before, tokens[:end]} {
			for _, t := range part {
				ids = append(ids, t.id)
			}
		}
		out, tokens = append(out, append(ids, m.tokenizer.end)), tokens[end:]
	}
	return out
}

// errChanged means that mapped weights can't be read.
var errChanged = errors.New("the weights could not be read: was their file changed or cut?")

// meanVector returns the normalised mean of the windows' vectors, each of length 1. It calls turn before each layer
// and stops on its error.
func (m *model) meanVector(windows [][]int32, first bool, turn func() error) (_ []float32, err error) {
	s, _ := m.scratch.Get().(*scratch)
	defer m.scratch.Put(s)
	sum := make([]float32, m.Hidden)
	err = guardMapping(func() error {
		for _, ids := range windows {
			v, err := m.textVector(ids, first, s, turn)
			if err != nil {
				return err
			}
			if err := toUnitLength(v); err != nil {
				return err
			}
			for i, x := range v {
				sum[i] += x
			}
		}
		return toUnitLength(sum)
	})
	if err != nil {
		return nil, err
	}
	return sum, nil
}

// guardMapping calls f, which reads weights, and returns an error if the mapped file was truncated. Reading past
// the end of a mapped file raises SIGBUS, which Go turns into a panic with an address only if enabled for the
// goroutine. Other panics are passed on.
func guardMapping(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = errChanged
		default:
			panic(fault)
		}
	}()
	return f()
}

// toUnitLength normalises a vector to length 1. It returns an error for a zero or non-finite vector, which only
// broken weights produce.
func toUnitLength(v []float32) error {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	length := math.Sqrt(square)
	if !(length > 0) || math.IsInf(length, 0) {
		return fmt.Errorf("a vector has the length %v: the weights can't be right", length)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / length)
	}
	return nil
}

var _ io.Closer = (*Embedder)(nil)
