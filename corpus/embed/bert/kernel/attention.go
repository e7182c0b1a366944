package kernel

import "math"

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
