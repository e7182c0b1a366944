package bert

import "math/bits"

// distanceBuckets is the number of relative position buckets of MPNet: half for preceding tokens, half for
// following ones. The model's own setting must be equal, see checkConfig.
const distanceBuckets = 32

// distanceBias returns the bias of each head's scores for count tokens, as in kernel.Mix. It depends only on head
// and distance, so it is computed once for all layers, which share it in MPNet.
func (n *network) distanceBias(count int, s *scratch) []float32 {
	bias := resizeBuffer(&s.bias, n.Heads*(2*count-1))
	for i := range bias {
		head, distance := i/(2*count-1), i%(2*count-1)-count+1
		bias[i] = n.distances[distanceBucket(distance)*n.Heads+head]
	}
	return bias
}

// distanceBucket returns the bucket of a distance. Up to 7 each distance has its own. From 8 on each power of √2
// begins one, and all from 91 on share one. The formula is 8 + ⌊8·log(d/8)/log(128/8)⌋ as in T5, Raffel et al.
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
