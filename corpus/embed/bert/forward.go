package bert

import (
	"fmt"
	"math"

	"github.com/viterin/vek/vek32"
)

// network is the weights of a model by their place in it. It never changes.
type network struct {
	config
	words, positions, kinds []float32
	entry                   norms
	layers                  []layer
}

// linear is y = x·Wᵀ + b, with a row of W for each output.
type linear struct{ weights, bias []float32 }

type norms struct{ gain, bias []float32 }

type layer struct {
	query, key, value, out linear
	attended               norms
	up, down               linear
	done                   norms
}

// newNetwork finds the tensors of a model in its file.
func newNetwork(c config, w *weights) (*network, error) {
	prefix := ""
	if _, ok := w.tensors["bert.embeddings.word_embeddings.weight"]; ok {
		prefix = "bert."
	}
	var failed error
	floats := func(name string, shape ...int) []float32 {
		values, err := w.tensorFloats(prefix+name, shape...)
		if failed == nil {
			failed = err
		}
		return values
	}
	linearOf := func(name string, out, in int) linear {
		return linear{floats(name+".weight", out, in), floats(name+".bias", out)}
	}
	normsOf := func(name string) norms {
		return norms{floats(name+".weight", c.Hidden), floats(name+".bias", c.Hidden)}
	}
	n := &network{
		config:    c,
		words:     floats("embeddings.word_embeddings.weight", c.Tokens, c.Hidden),
		positions: floats("embeddings.position_embeddings.weight", c.Positions, c.Hidden),
		kinds:     floats("embeddings.token_type_embeddings.weight", c.Types, c.Hidden),
		entry:     normsOf("embeddings.LayerNorm"),
	}
	for i := 0; i < c.Layers && failed == nil; i++ {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		n.layers = append(n.layers, layer{
			query:    linearOf(at+"attention.self.query", c.Hidden, c.Hidden),
			key:      linearOf(at+"attention.self.key", c.Hidden, c.Hidden),
			value:    linearOf(at+"attention.self.value", c.Hidden, c.Hidden),
			out:      linearOf(at+"attention.output.dense", c.Hidden, c.Hidden),
			attended: normsOf(at + "attention.output.LayerNorm"),
			up:       linearOf(at+"intermediate.dense", c.Inner, c.Hidden),
			down:     linearOf(at+"output.dense", c.Hidden, c.Inner),
			done:     normsOf(at + "output.LayerNorm"),
		})
	}
	return n, failed
}

// scratch is the memory of one forward pass. It grows to what the longest text needed.
type scratch struct{ x, q, k, v, y, inner, scores, head, turned []float32 }

func resizeBuffer(buffer *[]float32, n int) []float32 {
	if cap(*buffer) < n {
		*buffer = make([]float32, n)
	}
	return (*buffer)[:n]
}

// textVector runs the tokens ids through the network and returns the text's vector, not yet of unit length: that of the
// first token, or the mean of all. Before each layer it calls turn, and ends with its error.
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

// runTokens runs tokens through the network and returns what it makes of each, a row for each token, in s. Those from
// second on are of the second text of a pair.
func (n *network) runTokens(ids []int32, second int, s *scratch, turn func() error) ([]float32, error) {
	size, count := n.Hidden, len(ids)
	x := resizeBuffer(&s.x, count*size)
	for i, id := range ids {
		kind := n.kinds
		if i >= second {
			kind = n.kinds[size:]
		}
		row := x[i*size : (i+1)*size]
		word, position := n.words[int(id)*size:(int(id)+1)*size], n.positions[i*size:(i+1)*size]
		for j := range row {
			row[j] = word[j] + position[j] + kind[j]
		}
	}
	n.normaliseRows(x, n.entry)
	for i := range n.layers {
		if err := turn(); err != nil {
			return nil, err
		}
		n.runLayer(&n.layers[i], x, count, s)
	}
	return x, nil
}

// runLayer changes x to what a layer makes of it.
func (n *network) runLayer(l *layer, x []float32, count int, s *scratch) {
	size := n.Hidden
	q, k, v := resizeBuffer(&s.q, count*size), resizeBuffer(&s.k, count*size), resizeBuffer(&s.v, count*size)
	y, inner := resizeBuffer(&s.y, count*size), resizeBuffer(&s.inner, count*n.Inner)
	l.query.applyLinear(q, x, count)
	l.key.applyLinear(k, x, count)
	l.value.applyLinear(v, x, count)
	n.mixValues(y, q, k, v, count, s)
	l.out.applyLinear(q, y, count)
	vek32.Add_Inplace(x, q)
	n.normaliseRows(x, l.attended)
	l.up.applyLinear(inner, x, count)
	gelu(inner)
	l.down.applyLinear(y, inner, count)
	vek32.Add_Inplace(x, y)
	n.normaliseRows(x, l.done)
}

// mixValues mixes the values of all tokens into each, by how well its query fits their keys, for each head by itself.
func (n *network) mixValues(out, q, k, v []float32, count int, s *scratch) {
	size, width := n.Hidden, n.Hidden/n.Heads
	scores, keys, turned := resizeBuffer(&s.scores, count), resizeBuffer(&s.head, count*width), resizeBuffer(&s.turned,
		count*width)
	scale := float32(1 / math.Sqrt(float64(width)))
	for from := 0; from < size; from += width {
		for t := range count {
			at := t*size + from
			copy(keys[t*width:], k[at:at+width])
			for d, value := range v[at : at+width] {
				turned[d*count+t] = value
			}
		}
		for t := range count {
			at := t*size + from
			query := q[at : at+width]
			for u := range scores {
				scores[u] = vek32.Dot(query, keys[u*width:(u+1)*width]) * scale
			}
			share := 1 / softmax(scores)
			for d := range width {
				out[at+d] = vek32.Dot(scores, turned[d*count:(d+1)*count]) * share
			}
		}
	}
}

// softmax puts e to the power of each score, less the greatest, in its place, and returns the sum.
func softmax(scores []float32) float32 {
	most := vek32.Max(scores)
	var sum float32
	for i, score := range scores {
		e := exp(score - most)
		scores[i] = e
		sum += e
	}
	return sum
}

// exp is e to the power of x ≤ 0, within 3e-7 of it.
func exp(x float32) float32 {
	const log2e, ln2High, ln2Low = 1.44269504, 0.693359375, -2.12194440e-4
	if x < -87 {
		return 0
	}
	whole := float32(int32(x*log2e - 0.5))
	r := x - whole*ln2High - whole*ln2Low
	p := ((((1.9875691500e-4*r+1.3981999507e-3)*r+8.3334519073e-3)*r+4.1665795894e-2)*r+1.6666665459e-1)*r + 0.5
	return (p*r*r + r + 1) * math.Float32frombits(uint32(int32(whole)+127)<<23)
}

// normaliseRows brings each row to mean 0 and variance 1, then to the layer's gain and bias.
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

// applyLinear sets y to x·Wᵀ + b for count rows.
func (l linear) applyLinear(y, x []float32, count int) {
	out := len(l.bias)
	in := len(l.weights) / out
	tile := max(4, cachedFloats/in) // rows of x that stay in the fastest cache while all of W goes past
	for from := 0; from < count; from += tile {
		to := min(count, from+tile)
		for o := range out {
			row, bias := l.weights[o*in:(o+1)*in], l.bias[o]
			for t := from; t < to; t++ {
				y[t*out+o] = vek32.Dot(x[t*in:(t+1)*in], row) + bias
			}
		}
	}
}

const cachedFloats = 6144

// The table of ½(1 + erf(x/√2)) from -geluEnd to geluEnd, of which values between are taken.
const (
	geluEnd   = 8
	geluSteps = 1024 // of each 1
)

var geluTable = func() (table [2*geluEnd*geluSteps + 1]float32) {
	for i := range table {
		x := float64(i)/geluSteps - geluEnd
		table[i] = float32(0.5 * (1 + math.Erf(x/math.Sqrt2)))
	}
	return table
}()

// gelu puts x·½(1 + erf(x/√2)) in the place of each x.
func gelu(x []float32) {
	const end = geluEnd - 1.0/geluSteps
	for i, a := range x {
		switch {
		case a >= end:
		case a <= -end:
			x[i] = 0
		case a == a: // what is not a number stays so
			at := (a + geluEnd) * geluSteps
			k := int(at)
			x[i] = a * (geluTable[k] + (at-float32(k))*(geluTable[k+1]-geluTable[k]))
		}
	}
}
