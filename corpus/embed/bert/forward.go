package bert

import (
	"fmt"
	"math"

	"github.com/viterin/vek/vek32"

	"github.com/footnote/footnote/corpus/embed/bert/kernel"
)

// network holds the weights of a model by layer. It is immutable. kinds are BERT's token types. The layers are
// those of Devlin et al. 2018: attention and a feed-forward layer of two matrices, each with a residual connection
// and layer normalisation.
type network struct {
	config
	words, positions, kinds []float32
	distances               []float32 // of mpnet: bias of each head's scores by relative distance
	entry                   norms
	layers                  []layer
}

// linear is y = x·Wᵀ + b, with a row of W for each output; it has 8-bit weights instead if short is set.
type linear struct {
	inputs        int
	weights, bias []float32
	short         *kernel.Linear
}

// norms are the gain and bias of a layer normalisation.
type norms struct{ gain, bias []float32 }

// layer is a layer of the encoder. attended is the norm after attention, done the norm after the two matrices.
type layer struct {
	query, key, value, out linear
	attended               norms
	up, down               linear
	done                   norms
}

// newNetwork loads the tensors of a model from its file and validates their shapes. MPNet has other names for the
// same parts, no token types, and distances. With short it quantises the weights of the layers to 8 bits; attention and
// norms stay in float32. It returns an error for the first missing tensor, and for weights that are not finite.
func newNetwork(c config, w *weights, short bool) (*network, error) {
	prefix := w.prefixOf(c.Type)
	var failed error
	floats := func(name string, shape ...int) []float32 {
		values, err := w.tensorFloats(prefix+name, shape...)
		if failed == nil {
			failed = err
		}
		return values
	}
	linearOf := func(name string, out, in int) linear {
		l := linear{inputs: in, weights: floats(name+".weight", out, in), bias: floats(name+".bias", out)}
		if short && failed == nil {
			var packed kernel.Linear
			if packed, failed = kernel.Pack(l.weights, l.bias); failed != nil {
				failed = fmt.Errorf("%s%s: %w", prefix, name, failed)
			}
			l.weights, l.short = nil, &packed
		}
		return l
	}
	normsOf := func(name string) norms {
		return norms{floats(name+".weight", c.Hidden), floats(name+".bias", c.Hidden)}
	}
	n := &network{
		config:    c,
		words:     floats("embeddings.word_embeddings.weight", c.Tokens, c.Hidden),
		positions: floats("embeddings.position_embeddings.weight", c.Positions, c.Hidden),
		entry:     normsOf("embeddings.LayerNorm"),
	}
	query, key, value := "attention.self.query", "attention.self.key", "attention.self.value"
	out, attended := "attention.output.dense", "attention.output.LayerNorm"
	if c.Type == "mpnet" {
		query, key, value = "attention.attn.q", "attention.attn.k", "attention.attn.v"
		out, attended = "attention.attn.o", "attention.LayerNorm"
		n.kinds = make([]float32, c.Hidden)
		n.distances = floats("encoder.relative_attention_bias.weight", c.Buckets, c.Heads)
	} else {
		n.kinds = floats("embeddings.token_type_embeddings.weight", c.Types, c.Hidden)
	}
	for i := 0; i < c.Layers && failed == nil; i++ {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		n.layers = append(n.layers, layer{
			query:    linearOf(at+query, c.Hidden, c.Hidden),
			key:      linearOf(at+key, c.Hidden, c.Hidden),
			value:    linearOf(at+value, c.Hidden, c.Hidden),
			out:      linearOf(at+out, c.Hidden, c.Hidden),
			attended: normsOf(at + attended),
			up:       linearOf(at+"intermediate.dense", c.Inner, c.Hidden),
			down:     linearOf(at+"output.dense", c.Hidden, c.Inner),
			done:     normsOf(at + "output.LayerNorm"),
		})
	}
	return n, failed
}

// scratch holds the buffers of one forward pass, sized for the longest text. It is not safe for concurrent use.
type scratch struct {
	x, q, k, v, y, inner, bias []float32

	rows kernel.Rows
	kernel.Scratch
}

// resizeBuffer returns n floats of the buffer, with arbitrary content.
func resizeBuffer(buffer *[]float32, n int) []float32 {
	if cap(*buffer) < n {
		*buffer = make([]float32, n)
	}
	return (*buffer)[:n]
}

// textVector runs the token ids through the network and returns the pooled vector, not normalised: that of the
// first token, or the mean of all, including special tokens. It calls turn before each layer and stops on its
// error. There is no padding, since each text is run by itself.
func (n *network) textVector(ids []int32, first bool, s *scratch, turn func() error) ([]float32, error) {
	x, err := n.runTokens(ids, len(ids), s, turn)
	if err != nil {
		return nil, err
	}
	size, count := n.Hidden, len(ids)
	out := make([]float32, size)
	if first {
		copy(out, x)
		return out, nil
	}
	for i := range count {
		vek32.Add_Inplace(out, x[i*size:(i+1)*size])
	}
	vek32.MulNumber_Inplace(out, 1/float32(count))
	return out, nil
}

// runTokens runs tokens through the network and returns the output rows, in s. Tokens from second on belong to the
// second text of a pair; for a single text second is the number of tokens. A token's input is the sum of its word,
// position and type embeddings.
func (n *network) runTokens(ids []int32, second int, s *scratch, turn func() error) ([]float32, error) {
	size, count := n.Hidden, len(ids)
	x := resizeBuffer(&s.x, count*size)
	positions := n.positions[n.firstPosition()*size:]
	for i, id := range ids {
		kind := n.kinds
		if i >= second {
			kind = n.kinds[size:]
		}
		row := x[i*size : (i+1)*size]
		word, position := n.words[int(id)*size:(int(id)+1)*size], positions[i*size:(i+1)*size]
		for j := range row {
			row[j] = word[j] + position[j] + kind[j]
		}
	}
	n.normaliseRows(x, n.entry)
	var bias []float32
	if n.distances != nil {
		bias = n.distanceBias(count, s)
	}
	for i := range n.layers {
		if err := turn(); err != nil {
			return nil, err
		}
		n.runLayer(&n.layers[i], x, bias, count, s)
	}
	return x, nil
}

// runLayer computes a layer in place on x. bias is that of kernel.Mix. Queries are scaled by 1/√d for heads of d
// numbers (Vaswani et al. 2017, section 3.2.1). Buffers are reused, so that a pass allocates nothing.
func (n *network) runLayer(l *layer, x, bias []float32, count int, s *scratch) {
	size := n.Hidden
	q, k, v := resizeBuffer(&s.q, count*size), resizeBuffer(&s.k, count*size), resizeBuffer(&s.v, count*size)
	y, inner := resizeBuffer(&s.y, count*size), resizeBuffer(&s.inner, count*n.Inner)
	applyLinears(x, s, []linear{l.query, l.key, l.value}, q, k, v)
	vek32.MulNumber_Inplace(q, float32(1/math.Sqrt(float64(size/n.Heads))))
	kernel.Mix(y, q, k, v, bias, size, size/n.Heads, &s.Scratch)
	applyLinears(y, s, []linear{l.out}, q)
	vek32.Add_Inplace(x, q)
	n.normaliseRows(x, l.attended)
	applyLinears(x, s, []linear{l.up}, inner)
	kernel.Gelu(inner)
	applyLinears(inner, s, []linear{l.down}, y)
	vek32.Add_Inplace(x, y)
	n.normaliseRows(x, l.done)
}

// applyLinears sets each of ys to the output of a layer for the rows of x. It quantises the rows once for all
// layers.
func applyLinears(x []float32, s *scratch, layers []linear, ys ...[]float32) {
	for i, l := range layers {
		if l.short == nil {
			kernel.Multiply(ys[i], x, l.weights, l.bias, &s.Scratch)
			continue
		}
		if i == 0 {
			s.rows.Set(x, l.inputs, &s.Scratch)
		}
		l.short.Apply(ys[i], &s.rows, &s.Scratch)
	}
}

// normaliseRows applies layer normalisation (Ba et al. 2016) to each row, with epsilon under the root, then the
// gain and bias.
func (n *network) normaliseRows(x []float32, by norms) {
	size := n.Hidden
	for ; len(x) > 0; x = x[size:] {
		row := x[:size]
		mean := vek32.Sum(row) / float32(size)
		vek32.SubNumber_Inplace(row, mean)
		variance := float64(vek32.Dot(row, row)) / float64(size)
		vek32.MulNumber_Inplace(row, float32(1/math.Sqrt(variance+n.Epsilon)))
		vek32.Mul_Inplace(row, by.gain)
		vek32.Add_Inplace(row, by.bias)
	}
}
