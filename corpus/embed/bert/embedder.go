// Package bert embeds texts in this process, with a sentence model of the BERT family from a folder: all-MiniLM, bge,
// e5, gte; of many languages multilingual-e5 and paraphrase-multilingual-MiniLM; all-mpnet. It reads the folder as
// Hugging Face's libraries write it (model.safetensors, config.json, tokenizer.json or vocab.txt, and what
// sentence-transformers adds), and gives their vectors. Encoders are of the types bert, xlm-roberta and mpnet,
// tokenizers BERT's WordPiece and SentencePiece's Unigram.
//
// embedder.go and reranker.go are what the library uses; lazy.go keeps a model in memory while it is needed. folder.go,
// weights.go, tokenizer.go and normalizer.go read the folder and refuse what this package would compute otherwise than
// the reference: a vector that is nearly right is worse than an error. wordpiece.go, unigram.go and charsmap.go make
// tokens, forward.go and distance.go run the network over them, with the arithmetic of package kernel. crew.go, gate.go
// and yield_linux.go see to it that somebody who waits goes before a library that is being read in.
//
// Nothing leaves the process, and nothing is fetched: a folder is complete or is refused.
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

// Config says which model embeds. Only Dir is required.
type Config struct {
	Dir string
	// QueryPrefix and PassagePrefix are put before each text of their side. nil: what the folder itself says.
	QueryPrefix, PassagePrefix *string
	Workers                    int           // passages embedded at once; 0: see newCrew
	Float32                    bool          // whether the model runs in floats instead of 8 bits: slower, and exact
	Idle                       time.Duration // how long the model stays in memory after its last use; 0: a minute
}

// Embedder is a sentence model. It opens the weights when the first text comes, and gives them back when none came for
// a while. It is safe for concurrent use. Passages and queries have different slots, so that a query never stands in
// line behind passages.
type Embedder struct {
	lazyModel
	name string

	passages crew
	queries  chan struct{} // holds what embeds a query now
	gate     gate
}

// model is what is in memory of a model while it is used. It is shared by all who use it; scratch has the memory of
// single forward passes.
type model struct {
	*network
	tokenizer *tokenizer
	weights   *weights
	scratch   sync.Pool
}

// Open checks the settings in a model's folder and that its weights are there. It reads only what is small. The error
// names the folder and what of it can't be used.
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
	_, err = newNetwork(f.config, w)
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
		passages: newCrew(cfg.Workers),
		queries:  make(chan struct{}, runtime.GOMAXPROCS(0)),
	}, nil
}

// modelIdentity names what makes vectors: the folder's name, with a sum over its settings and samples of its weights,
// so that vectors of two models are never taken for those of one. Hashing all weights would take as long as reading
// them; 64 samples of 4 KiB differ for any two models that were trained.
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

// Model names the model and the version of what is in its folder: the same name means the same vectors of passages.
func (e *Embedder) Model() string { return e.name }

// About says what the model is and how it is computed: "6 layers, vectors of 384 numbers, 256 tokens at once, in 8 bits
// with AVX-512 VNNI". It is for the log and for the command that checks a model.
func (e *Embedder) About() string {
	precision := "8 bits"
	if e.floats {
		precision = "floats"
	}
	return fmt.Sprintf("%d layers, vectors of %d numbers, %d tokens at once, in %s with %s", e.folder.Layers,
		e.folder.Hidden, e.folder.window, precision, kernel.Name())
}

// Embed returns one vector of unit length for each passage, in order. A passage that is longer than the model's window
// is cut at words into windows, and has their mean. It takes all processors, on threads that give way to others, or
// half of them where there are no such threads, and waits for queries. An empty passage has a vector too. It fails when
// ctx ends, when the model can't be loaded, and after Close.
func (e *Embedder) Embed(ctx context.Context, passages []string) ([][]float32, error) {
	return e.embedPassages(ctx, passages, e.passages, e.gate.waitForQueries)
}

// EmbedNow is Embed for a reader who waits: it goes before passages, as queries do, on all processors.
func (e *Embedder) EmbedNow(ctx context.Context, passages []string) ([][]float32, error) {
	defer e.HoldPassages()()
	return e.embedPassages(ctx, passages, crew{slots: e.queries}, context.Context.Err)
}

// HoldPassages has Embed wait until release is called, but for a part of a passage every tenth of a second: for
// somebody who waits for what this process does.
func (e *Embedder) HoldPassages() (release func()) {
	e.gate.enterQuery()
	return sync.OnceFunc(e.gate.leaveQuery)
}

// embedPassages embeds passages, some at once. Between their parts wait is called. A passage's parts are its layers and
// windows: wait is called before each layer.
func (e *Embedder) embedPassages(
	ctx context.Context, passages []string, by crew, wait func(context.Context) error,
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

// EmbedQuery returns the vector of a search query, of unit length. Of one that is longer than the model's window, the
// beginning counts.
func (e *Embedder) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	m, release, err := e.useModel()
	if err != nil {
		return nil, err
	}
	defer release()
	defer e.HoldPassages()()
	select {
	case e.queries <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-e.queries }()
	return m.meanVector(m.cutWindows(e.folder.queryPrefix, query, e.folder.window)[:1], e.folder.poolFirst, ctx.Err)
}

// loadModel maps the weights of a folder and reads its tokenizer. Unless it is to run in floats, it makes the weights
// of 8 bits, which takes some 50 ms for 100 MB. The vocabulary is compared with the weights, because an id beyond them
// would read behind the array.
func loadModel(dir string, f folder, floats bool) (_ *model, err error) {
	m := &model{}
	if m.weights, err = openWeights(filepath.Join(dir, weightsFile)); err != nil {
		return nil, err
	}
	if m.network, err = newNetwork(f.config, m.weights); err == nil {
		m.tokenizer, err = readTokenizer(dir)
	}
	if err == nil && !floats {
		err = guardMapping(m.shorten)
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

// cutWindows cuts a text at words into parts of about the same length that fit into a window with the prefix, each with
// the tokens around it. A text that is empty is one window. A text of window and a half is cut into two equal parts,
// not into a full and a half one: short windows have vague vectors. A prefix that is too long is cut, and leaves room
// for one token at least.
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

// errChanged says that the weights can't be read where they were mapped.
var errChanged = errors.New("the weights could not be read: was their file changed or cut?")

// meanVector returns the mean of the windows' vectors, of unit length. turn is called now and then; its error ends it.
// Windows count alike, each with a vector of length 1.
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

// guardMapping calls f, which reads weights: a mapped file that was cut ends the text, not the program. Reading behind
// the end of a mapped file raises SIGBUS, which Go turns into a panic with an address only if asked to, for this
// goroutine. Other panics go on.
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

// toUnitLength brings a vector to length 1. It fails for a vector that is zero or not finite, which no sound weights
// make.
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
