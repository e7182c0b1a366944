package kernel

import (
	"errors"
	"math"
)

// Linear is a layer y = x·Wᵀ + b with 8-bit weights, in the layout of the routines. It is immutable. A weight is
// code·scale of its output. An input is code·step + low of its row. So an output is step·scale·Σ(codes) +
// low·scale·Σ(weights' codes) + bias; the second sum is computed when the layer is packed.
type Linear struct {
	inputs, outputs int       // as given; codes and columns are padded to full tiles
	codes           []byte    // by tile: for each group of inputs, the codes of each output
	columns         []float32 // by tile: scale, sum of the weights, bias of each output
}

// Pack quantises the weights of a layer, a row for each output, each with its own scale: the largest weight has the
// code 127. Weights and biases must be finite.
func Pack(weights, bias []float32) (Linear, error) { return best.pack(weights, bias) }

func (k *set) pack(weights, bias []float32) (Linear, error) {
	outputs := len(bias)
	inputs := len(weights) / outputs
	l := Linear{inputs, outputs, make([]byte, padded(inputs)*padded(outputs)), make([]float32, 3*padded(outputs))}
	for o := range outputs {
		row := weights[o*inputs : (o+1)*inputs]
		most := float32(0)
		for _, w := range row {
			if !finite(w) {
				return Linear{}, errNotFinite
			}
			most = max(most, w, -w)
		}
		if !finite(bias[o]) {
			return Linear{}, errNotFinite
		}
		scale, per := most/127, float32(0)
		if scale > 0 {
			per = 1 / scale
		}
		tile, column := o/k.outputs, o%k.outputs
		codes := l.codes[tile*k.outputs*padded(inputs):]
		sum := 0
		for i, w := range row {
			code := int(max(-127, min(127, math.RoundToEven(float64(w*per)))))
			sum += code
			codes[(i/k.depth*k.outputs+column)*k.depth+i%k.depth] = byte(int8(code))
		}
		columns := l.columns[3*tile*k.outputs+column:]
		columns[0], columns[k.outputs], columns[2*k.outputs] = scale, scale*float32(sum), bias[o]
	}
	return l, nil
}

var errNotFinite = errors.New("a weight is not a finite number")

func finite(x float32) bool { return x-x == 0 }

// Rows holds quantised input rows: 8-bit codes in steps of a 255th of the row's range from its minimum. Its buffers
// are reusable.
type Rows struct {
	count  int
	codes  []byte
	scales []float32 // step and minimum of each row
}

// Set quantises rows of inputs. Padding repeats a number of the row, so that it does not extend its range.
func (r *Rows) Set(x []float32, inputs int, s *Scratch) { best.setRows(r, x, inputs, s) }

func (k *set) setRows(r *Rows, x []float32, inputs int, s *Scratch) {
	r.count = len(x) / inputs
	size := padded(inputs)
	r.codes, r.scales = resize(r.codes, r.count*size*k.code), resize(r.scales, 2*r.count)
	for t := range r.count {
		row := x[t*inputs : (t+1)*inputs]
		if size > inputs { // the weights there are 0: any number of the row will do
			s.row = append(append(s.row[:0], row...), make([]float32, size-inputs)...)
			for i := inputs; i < size; i++ {
				s.row[i] = row[0]
			}
			row = s.row
		}
		k.quantise(&r.codes[t*size*k.code], &row[0], uintptr(size/k.floats), &r.scales[2*t])
	}
}

// Apply sets y to the output of the layer for rows. Tiles of outputs are the outer loop, so that their codes stay
// in the processor's cache for all rows.
func (l *Linear) Apply(y []float32, x *Rows, s *Scratch) { best.apply(l, y, x, s) }

func (k *set) apply(l *Linear, y []float32, x *Rows, s *Scratch) {
	inputs := padded(l.inputs)
	for from := 0; from < l.outputs; from += k.outputs {
		codes, columns := &l.codes[from*inputs], &l.columns[3*from]
		for t, end := range k.groups(x.count) {
			k.store(y[t*l.outputs:], from, l.outputs, end-t, s, func(y *float32, stride uintptr) {
				k.tiles[end-t-1](y, stride, &x.codes[t*inputs*k.code], uintptr(inputs*k.code),
					uintptr(inputs/(unrolled*k.depth)), codes, &x.scales[2*t], columns)
			})
		}
	}
}

// Multiply sets y to x·Wᵀ + b in floats, a row of outputs for each row of x. The weights have a row for each
// output.
func Multiply(y, x, weights, bias []float32, s *Scratch) { best.multiply(y, x, weights, bias, s) }

func (k *set) multiply(y, x, weights, bias []float32, s *Scratch) {
	outputs := len(bias)
	inputs := len(weights) / outputs
	s.columns = resize(s.columns, inputs*k.outputs)
	for from := 0; from < outputs; from += k.outputs {
		turn(s.columns, weights[from*inputs:], min(k.outputs, outputs-from), k.outputs, inputs, inputs)
		for t, end := range k.groups(len(x) / inputs) {
			k.store(y[t*outputs:], from, outputs, end-t, s, func(y *float32, stride uintptr) {
				k.fused[end-t-1](
					y,
					stride,
					&x[t*inputs],
					bytesOf(inputs),
					&s.columns[0],
					bytesOf(k.outputs),
					uintptr(inputs),
				)
			})
		}
	}
	for t := 0; t < len(y); t += outputs {
		row := y[t:][:outputs]
		for o, b := range bias {
			row[o] += b
		}
	}
}
