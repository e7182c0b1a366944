package bert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/viterin/vek/vek32"
)

// ErrOtherModel means that the changes of a Reader belong to another model than the one in the folder.
var ErrOtherModel = errors.New("the weights were trained with another model")

// readerOutputs is the number of outputs of a Reader.
const readerOutputs = 2

// sampledToken is the token whose embedding identifies the model that a Reader was trained with.
const sampledToken = 1996

// Reader is a cross-encoder that was trained from a sentence model: the model's weights with low-rank changes, and a
// linear head on the first token. It reads a text for a question. Like Embedder it is loaded only while in use. It is
// safe for concurrent use.
type Reader struct {
	lazyModel
	slots chan struct{} // semaphore of the texts being read
	head  linear
}

// OpenReader opens the sentence model in a folder with changes in the format of safetensors. A tensor replaces the one
// with its name; NAME.left and NAME.right are a low-rank change, see changedFloats. The tensors head.weight
// [readerOutputs, hidden] and head.bias are the head, and sample is the model's embedding of the token sampledToken. It
// returns ErrOtherModel if the folder has another model. It computes in 8 bits unless floats is set.
func OpenReader(dir string, changes []byte, floats bool) (*Reader, error) {
	f, err := readFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("reader: %w", err)
	}
	c := &weights{file: changes, unmap: func() error { return nil }}
	if err := c.readHeader(); err != nil {
		return nil, fmt.Errorf("weights of the reader: %w", err)
	}
	r := &Reader{
		lazyModel: lazyModel{dir: dir, folder: f, floats: floats, changes: c, idle: time.Minute},
		slots:     make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	sample, err := c.tensorFloats("sample", f.Hidden)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOtherModel, err)
	}
	base, err := openWeights(filepath.Join(dir, weightsFile))
	if err != nil {
		return nil, fmt.Errorf("reader: %w", err)
	}
	err = guardMapping(func() error {
		n, err := newNetwork(f.config, base, false)
		if err != nil {
			return err
		}
		if f.Tokens <= sampledToken || !slices.Equal(n.words[sampledToken*f.Hidden:(sampledToken+1)*f.Hidden], sample) {
			return ErrOtherModel
		}
		return nil
	})
	if err := errors.Join(err, base.close()); err != nil {
		return nil, fmt.Errorf("reader with the model in %s: %w", dir, err)
	}
	var failed error
	r.head.weights, err = c.tensorFloats("head.weight", readerOutputs, f.Hidden)
	r.head.bias, failed = c.tensorFloats("head.bias", readerOutputs)
	if err := cmp.Or(err, failed); err != nil {
		return nil, fmt.Errorf("the head of the reader: %w", err)
	}
	return r, nil
}

// Read returns the readerOutputs outputs of the head for a question and each text, in order. A text that exceeds the
// context window with the question is truncated, and a question to half of it. Texts are read concurrently, one per
// processor. It returns the first error.
func (r *Reader) Read(ctx context.Context, question string, texts []string) ([][readerOutputs]float64, error) {
	m, release, err := r.useModel()
	if err != nil {
		return nil, err
	}
	defer release()
	out := make([][readerOutputs]float64, len(texts))
	see := func(i int, first []float32) (err error) {
		for o, bias := range r.head.bias {
			row := r.head.weights[o*m.Hidden : (o+1)*m.Hidden]
			score := float64(vek32.Dot(first, row) + bias)
			out[i][o], err = score, cmp.Or(err, notANumber(score))
		}
		return err
	}
	if err := m.eachPair(ctx, r.slots, question, texts, r.folder.window, 1, see); err != nil {
		return nil, fmt.Errorf("reader with the model in %s: %w", r.dir, err)
	}
	return out, nil
}
