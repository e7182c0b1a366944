// Package kernel implements the arithmetic of a transformer: linear layers with 8-bit or float weights, attention,
// and the activation function. It uses AVX-512 VNNI, AVX2, NEON with dot products, or plain Go, depending on the
// processor. All give the same integers; floats differ in their last digits. Rows are contiguous.
package kernel

import (
	"iter"
	"math"
)

//go:generate sh -c "cd generate && go run . -pkg kernel -out ../assembly_amd64.s -stubs ../assembly_amd64.go"
//go:generate sh -c "cd generate && go run . -arm64 > ../assembly_arm64.s"

const (
	unrolled = 4  // steps of the innermost loop of a tile of codes
	block    = 32 // floats; a multiple of every vector register. Padded rows have a multiple of it
	mostRows = 12 // maximum rows of a tile
)

// set holds the routines for a processor type, see routines_amd64.go and its counterparts. best is the set for this
// machine; tests run all supported ones.
type set struct {
	name    string
	outputs int // of a tile
	depth   int // inputs whose products are summed in one lane of a register
	code    int // bytes per input code
	floats  int // of a block

	tiles    []tileRoutine  // of 1, 2, … rows
	fused    []fusedRoutine // as many
	exp      func(x *float32, blocks uintptr) float32
	gelu     func(x *float32, blocks uintptr)
	quantise func(q *byte, x *float32, blocks uintptr, scales *float32)
}

// tileRoutine computes a tile: step·scale·sum + low·total + bias for each row and output. sum is the dot product of
// codes and weights. scales holds step and low of each row, columns the scales, totals and biases of the outputs.
// Strides are in bytes; steps is the number of iterations of the innermost loop.
type tileRoutine func(
	y *float32, yStride uintptr, x *byte, xStride, steps uintptr, w *byte, scales, columns *float32,
)

// fusedRoutine computes a tile of c = a·b. Strides are in bytes.
type fusedRoutine func(c *float32, cStride uintptr, a *float32, aStride uintptr, b *float32, bStride, depth uintptr)

// Name returns the name of the instruction set in use.
func Name() string { return best.name }

// Scratch holds reusable buffers. It is not safe for concurrent use.
type Scratch struct {
	row, columns, values, scores []float32
	tile                         [mostRows * block]float32
}

// groups yields the row ranges that are processed as one tile: as few groups as possible, of similar size, since a
// group of few rows takes hardly less time.
func (k *set) groups(count int) iter.Seq2[int, int] {
	groups := (count + len(k.tiles) - 1) / len(k.tiles)
	return func(yield func(int, int) bool) {
		for g := range groups {
			if !yield(count*g/groups, count*(g+1)/groups) {
				return
			}
		}
	}
}

// store lets tile write rows at column from of y, whose rows have size floats. A tile always writes its full width;
// if that exceeds the row, it writes to a buffer from which store copies. The stride is in bytes.
func (k *set) store(y []float32, from, size, rows int, s *Scratch, tile func(y *float32, stride uintptr)) {
	if from+k.outputs <= size {
		tile(&y[from], bytesOf(size))
		return
	}
	tile(&s.tile[0], bytesOf(k.outputs))
	for r := range rows {
		copy(y[r*size+from:(r+1)*size], s.tile[r*k.outputs:])
	}
}

// bytesOf returns the size of floats in bytes.
func bytesOf(floats int) uintptr { return uintptr(4 * floats) }

// padded rounds up to a multiple of block, so that loops have no remainder.
func padded(n int) int { return (n + block - 1) / block * block }

// resize returns a slice of n elements with arbitrary content.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// turn transposes the first width floats of count rows, which are size floats apart. A column has room for height
// floats; the remainder is 0. It writes four columns at once, so that each row is read in runs of four.
func turn(columns, x []float32, count, height, size, width int) {
	d := 0
	for ; d+4 <= width; d += 4 {
		a, b := columns[d*height:][:count], columns[(d+1)*height:][:count]
		c, e := columns[(d+2)*height:][:count], columns[(d+3)*height:][:count]
		for t := range count {
			four := x[t*size+d:][:4:4]
			a[t], b[t], c[t], e[t] = four[0], four[1], four[2], four[3]
		}
	}
	for ; d < width; d++ {
		for t := range count {
			columns[d*height+t] = x[t*size+d]
		}
	}
	for d := range width {
		clear(columns[d*height+count : (d+1)*height])
	}
}

// Gelu replaces each x with x·½(1 + erf(x/√2)).
func Gelu(x []float32) { best.geluAll(x) }

// geluAll processes whole blocks, and a copy of the remainder.
func (k *set) geluAll(x []float32) {
	whole := len(x) / block * block
	if whole > 0 {
		k.gelu(&x[0], uintptr(whole/k.floats))
	}
	if whole < len(x) {
		var rest [block]float32
		copy(rest[:], x[whole:])
		k.gelu(&rest[0], uintptr(block/k.floats))
		copy(x[whole:], rest[:])
	}
}

// Mix computes multi-head attention: it sets out to the values weighted by the softmax of the products of queries
// and keys, for each head of width floats. Tokens have size floats. A bias, if not nil, is added to the products:
// for n tokens it has 2n-1 floats for each head, by relative position of key and query, from 1-n to n-1. Tokens are
// processed in groups of a tile's rows, so that the scores of all pairs are never in memory at once.
func Mix(out, query, key, value, bias []float32, size, width int, s *Scratch) {
	best.mix(out, query, key, value, bias, size, width, s)
}

// mix arranges keys and values for the tiles: keys transposed, values in rows, both padded.
func (k *set) mix(out, query, key, value, bias []float32, size, width int, s *Scratch) {
	count := len(query) / size
	height, wide := padded(count), padded(width)
	s.columns, s.values = resize(s.columns, width*height), resize(s.values, count*wide)
	s.scores = resize(s.scores, len(k.fused)*height)
	for head := 0; head < size; head += width {
		turn(s.columns, key[head:], count, height, size, width)
		for t := range count { // contiguous: they are read once for each group of tokens
			copy(s.values[t*wide:], value[t*size+head:][:width])
		}
		for t, end := range k.groups(count) {
			rows := end - t
			for column := 0; column < height; column += k.outputs {
				k.fused[rows-1](&s.scores[column], bytesOf(height), &query[t*size+head], bytesOf(size),
					&s.columns[column], bytesOf(height), uintptr(width))
			}
			var share [mostRows]float32
			for r := range rows {
				if bias != nil {
					scores := s.scores[r*height:][:count]
					for i, b := range bias[head/width*(2*count-1)+count-1-t-r:][:count] {
						scores[i] += b
					}
				}
				share[r] = k.softmax(s.scores[r*height:(r+1)*height], count)
			}
			for column := 0; column < width; column += k.outputs {
				k.fused[rows-1](&s.tile[0], bytesOf(k.outputs), &s.scores[0], bytesOf(height),
					&s.values[column], bytesOf(wide), uintptr(count))
				for r := range rows {
					row, from := out[(t+r)*size+head:][:width][column:], s.tile[r*k.outputs:][:k.outputs]
					for i := range min(len(row), len(from)) {
						row[i] = from[i] * share[r]
					}
				}
			}
		}
	}
}

// softmax replaces each of count scores with e to the power of the score minus the maximum, sets the rest to 0, and
// returns the inverse of the sum. Subtracting the maximum prevents overflow. The caller divides by the sum later,
// over fewer numbers.
func (k *set) softmax(scores []float32, count int) float32 {
	for i := count; i < len(scores); i++ {
		scores[i] = float32(math.Inf(-1))
	}
	return 1 / k.exp(&scores[0], uintptr(len(scores)/k.floats))
}
