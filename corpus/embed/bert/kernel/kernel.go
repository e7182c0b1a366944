// Package kernel is the arithmetic of a transformer: layers with weights of 8 bits or floats, attention, and the
// activation between. It runs with AVX-512 and its products of bytes, with AVX2, with NEON and its products of bytes,
// or in plain Go, whichever the processor has. All give the same whole numbers; floats differ in their last digits.
// Rows lie behind each other without gaps.
package kernel

import (
	"iter"
	"math"
)

//go:generate sh -c "cd generate && go run . -pkg kernel -out ../assembly_amd64.s -stubs ../assembly_amd64.go"
//go:generate sh -c "cd generate && go run . -arm64 > ../assembly_arm64.s"

const (
	unrolled = 4  // steps of the innermost loop of a tile of codes
	block    = 32 // floats that every kind of register has a part of: padded rows have a multiple of it
	mostRows = 12 // of a tile of any kind
)

// set is the routines for a kind of processor. There is one for each kind of processor, see routines_amd64.go and its
// neighbours; best is the one of this machine, and tests run all that it can.
type set struct {
	name    string
	outputs int // of a tile
	depth   int // inputs whose products are summed in one place of a register
	code    int // bytes of a code of an input
	floats  int // of a block

	tiles    []tileRoutine  // of 1, 2, … rows
	fused    []fusedRoutine // as many
	exp      func(x *float32, blocks uintptr) float32
	gelu     func(x *float32, blocks uintptr)
	quantise func(q *byte, x *float32, blocks uintptr, scales *float32)
}

// A tileRoutine stores rows of as many outputs as a tile has: step·scale·sum + low·total + bias, where the sum is that
// of the products of codes and weights, the row has its step and low in scales, and the outputs have their scales,
// totals and biases in columns. Strides are in bytes; steps is how often the innermost loop is run.
type tileRoutine func(
	y *float32, yStride uintptr, x *byte, xStride, steps uintptr, w *byte, scales, columns *float32,
)

// A fusedRoutine stores rows of as many columns as a tile has: c = a·b. Strides are in bytes.
type fusedRoutine func(c *float32, cStride uintptr, a *float32, aStride uintptr, b *float32, bStride, depth uintptr)

// Name says which routines run here.
func Name() string { return best.name }

// Scratch is memory that is used again. It serves one caller at a time.
type Scratch struct {
	row, columns, values, scores []float32
	tile                         [mostRows * block]float32
}

// groups yields the rows that go through a tile at once, from and to: in as few groups as there can be, of about one
// size, since a group of a few rows takes hardly less time.
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

// store has tile write rows of a tile at column from of y, whose rows have size floats: into y itself, or into memory
// from which what belongs to y is copied. The stride is in bytes. Outputs that fill no tile are why memory is needed: a
// tile always writes its whole width.
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

// bytesOf is how many bytes floats take.
func bytesOf(floats int) uintptr { return uintptr(4 * floats) }

// padded is the next multiple of a block, so that loops need no rest.
func padded(n int) int { return (n + block - 1) / block * block }

// resize returns n elements, of arbitrary content.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// turn makes columns of rows: the first width floats of count rows, which are size floats apart. A column has room for
// height floats; what is left of it is 0. Four columns are written at once, as each row is then read in runs of four.
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

// Gelu puts x·½(1 + erf(x/√2)) in the place of each x.
func Gelu(x []float32) { best.geluAll(x) }

// geluAll runs over whole blocks, and over a copy of the rest.
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

// Mix sets out to the values of all tokens, mixed for each token by how well its query fits their keys: for each head
// by itself, by the softmax of the products. All have size floats a token, of which each head has width. A bias that is
// not nil is added to the products: of n tokens it has for each head 2n-1 floats, by how far the key's token is behind
// the query's, from 1-n to n-1. Tokens go through in groups, as many as a tile has rows: scores of the group with all
// keys, softmax, then their sum of values. So the scores of all pairs are never in memory at once.
func Mix(out, query, key, value, bias []float32, size, width int, s *Scratch) {
	best.mix(out, query, key, value, bias, size, width, s)
}

// mix turns keys and values into the form that tiles read: keys as columns, values side by side, both padded.
func (k *set) mix(out, query, key, value, bias []float32, size, width int, s *Scratch) {
	count := len(query) / size
	height, wide := padded(count), padded(width)
	s.columns, s.values = resize(s.columns, width*height), resize(s.values, count*wide)
	s.scores = resize(s.scores, len(k.fused)*height)
	for head := 0; head < size; head += width {
		turn(s.columns, key[head:], count, height, size, width)
		for t := range count { // side by side: they are read once for each group of tokens
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

// softmax puts e to the power of each of count scores, less the greatest, in its place, 0 in those behind, and returns
// the inverse of the sum. Taking off the greatest keeps the powers from overflowing. The sum is divided by later, over
// fewer numbers.
func (k *set) softmax(scores []float32, count int) float32 {
	for i := count; i < len(scores); i++ {
		scores[i] = float32(math.Inf(-1))
	}
	return 1 / k.exp(&scores[0], uintptr(len(scores)/k.floats))
}
