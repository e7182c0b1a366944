package bert

import "math/bits"

// distanceBuckets is how many kinds of distances between tokens MPNet tells apart: half of them for tokens before. The
// other half is for tokens behind. The model's own setting must say the same, see checkConfig.
const distanceBuckets = 32

// distanceBias returns what is added to each head's scores of count tokens, as kernel.Mix has it. A bias depends on the
// head and the distance only, so that it is made once for all layers, which share it in MPNet.
func (n *network) distanceBias(count int, s *scratch) []float32 {
	bias := resizeBuffer(&s.bias, n.Heads*(2*count-1))
	for i := range bias {
		head, distance := i/(2*count-1), i%(2*count-1)-count+1
		bias[i] = n.distances[distanceBucket(distance)*n.Heads+head]
	}
	return bias
}

// distanceBucket is the kind of a distance from a token to another behind it. Up to 7 each is one of its own; from 8 on
// each power of √2 begins one, and all from 91 on are the same: 8 + ⌊8·log(d/8)/log(128/8)⌋ as of T5, Raffel et al.
// 2020, which is 8 + ⌊log2(d²/64)⌋.
func distanceBucket(distance int) int {
	const half = distanceBuckets / 2
	first := 0
	if distance > 0 {
		first = half
	} else {
		distance = -distance
	}
	if distance < half/2 {
		return first + distance
	}
	return first + min(half-1, 1+bits.Len(uint(distance*distance)))
}
