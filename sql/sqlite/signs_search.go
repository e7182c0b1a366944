package sqlite

import (
	"cmp"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/footnote/footnote/chat"
)

// Parameters of a vector search. Up to allCompared vectors are all compared. Of more, it first counts the signs that
// differ from the query's. For those with the fewest it sums the query's values where a sign is positive. Those with
// the largest sums are compared themselves (Vectors.compare). Of 41,700 sentences in English the ten nearest to 300
// others, by all-MiniLM-L6-v2, were all compared, of the fifty nearest 99.9 % (make recall: of 20,000 comments of
// Go's library 99.97 and 99.7 %).
//
// Comparing signs instead of numbers is sign quantisation, or binary embeddings: for vectors of about unit length
// the number of equal signs grows as the angle shrinks (Charikar, "Similarity Estimation Techniques from Rounding
// Algorithms", 2002, for random directions). It only selects candidates here.
const (
	allCompared    = 4000
	leastSummed    = 4000
	shareSummed    = 200 // or one in 200 of all
	leastCompared  = 500
	comparedPerHit = 20
)

// blocksPerGoroutine is the number of blocks for each further goroutine. A block has up to 128 vectors
// (signsPerBlock).
const blocksPerGoroutine = 64

// nearVector is a candidate vector.
//
// Its values are not loaded yet: compare reads them from its cache or the file.
type nearVector struct {
	n     int64 // vectors.n
	place int32 // index into signSnapshot.places
}

// allowed reports for each of places whether it is visible to a search. That is checked once for each place, not for
// each vector.
func (s *signSnapshot) allowed(scope chat.Scope, documents []string) []bool {
	wanted := make(map[string]bool, len(documents))
	for _, id := range documents {
		wanted[id] = true
	}
	allowed := make([]bool, len(s.places))
	for i, place := range s.places {
		allowed[i] = place.user == scope.User && scope.Holds(place.namespace) &&
			(len(documents) == 0 || wanted[place.document])
	}
	return allowed
}

// seenBlock is a block that is visible to a search.
//
// It shares the snapshot's memory and is made for one search.
type seenBlock struct {
	*signBlock
	from int // index of its first vector among those of all visible blocks
}

// nearest returns the nearest vectors to the query by their signs: count of them, or all if they are few enough to
// compare. They are unordered. Each of the three steps has fewer vectors and a higher cost for each.
func (s *signSnapshot) nearest(query []float32, allowed []bool, count int) []nearVector {
	var seen []seenBlock
	all, words := 0, signWords(s.dimension)
	for i := range s.blocks {
		if b := &s.blocks[i]; allowed[b.place] {
			seen = append(seen, seenBlock{b, all})
			all += len(b.rows)
		}
	}
	if all <= max(count, allCompared) {
		return takeAll(seen, all)
	}
	near, signs := leastDiffering(seen, signsOf(query), all, max(leastSummed, all/shareSummed))
	sums, ranked := newSignSums(query), make([]rankedSum, len(near))
	for i := range near {
		ranked[i] = rankedSum{sums.sum(signs[i*words : (i+1)*words]), int32(i)}
	}
	slices.SortFunc(ranked, func(a, b rankedSum) int { return cmp.Compare(b.sum, a.sum) })
	largest := make([]nearVector, min(count, len(ranked)))
	for i := range largest {
		largest[i] = near[ranked[i].of]
	}
	return largest
}

// rankedSum is the sum of the query's values where a vector's sign is positive, and the vector's index.
type rankedSum struct {
	sum float32
	of  int32
}

// takeAll returns all visible vectors, without comparing signs.
func takeAll(seen []seenBlock, all int) []nearVector {
	near := make([]nearVector, 0, all)
	for _, b := range seen {
		for _, n := range b.rows {
			near = append(near, nearVector{n, b.place})
		}
	}
	return near
}

// leastDiffering returns the count vectors with the fewest signs that differ from the query's, and their signs. Each
// goroutine writes its own part of distances, without a lock. Ties at the last distance are taken in the order of
// blocks.
//
// query has the query's signs in words of 64; all is the number of vectors of all visible blocks, and count is at
// most that.
func leastDiffering(seen []seenBlock, query []uint64, all, count int) (near []nearVector, signs []uint64) {
	distances := make([]uint16, all)
	workers := max(1, min(runtime.GOMAXPROCS(0), len(seen)/blocksPerGoroutine))
	share := (len(seen) + workers - 1) / workers
	var counting sync.WaitGroup
	for part := range slices.Chunk(seen, share) {
		counting.Go(func() {
			for _, b := range part {
				countDiffering(distances[b.from:b.from+len(b.rows)], b.signs, query)
			}
		})
	}
	counting.Wait()

	most, ties := leastWithin(distances, 64*len(query), count)
	near, signs = make([]nearVector, 0, count), make([]uint64, 0, count*len(query))
	for _, b := range seen {
		for i, n := range b.rows {
			distance := distances[b.from+i]
			if distance > most {
				continue
			}
			if distance == most {
				if ties == 0 {
					continue
				}
				ties--
			}
			near = append(near, nearVector{n, b.place})
			signs = append(signs, b.signs[i*len(query):(i+1)*len(query)]...)
		}
	}
	return near, signs
}

// countDiffering computes the Hamming distance of each vector of a block to the query: the number of differing
// signs.
//
// 0 means equal signs, and the number of dimensions opposite ones.
func countDiffering(distances []uint16, signs, query []uint64) {
	if len(query) == 6 { // 384 dimensions, of the built-in model and most small ones: unrolled, half the time
		q := [6]uint64(query)
		for i := range distances {
			s := (*[6]uint64)(signs[6*i:])
			distances[i] = uint16(bits.OnesCount64(s[0]^q[0]) + bits.OnesCount64(s[1]^q[1]) +
				bits.OnesCount64(s[2]^q[2]) + bits.OnesCount64(s[3]^q[3]) +
				bits.OnesCount64(s[4]^q[4]) + bits.OnesCount64(s[5]^q[5]))
		}
		return
	}
	for i := range distances {
		differing := 0
		for j, word := range signs[i*len(query) : (i+1)*len(query)] {
			differing += bits.OnesCount64(word ^ query[j])
		}
		distances[i] = uint16(differing)
	}
}

// leastWithin returns the distance of the count-th nearest vector, and how many vectors at that distance to take. It
// counts distances (the first half of a counting sort), as there are only as many as a vector has signs.
//
// largest is the maximum distance. All vectors nearer than most are taken, and ties of those at most.
func leastWithin(distances []uint16, largest, count int) (most uint16, ties int) {
	counts := make([]int, largest+1)
	for _, d := range distances {
		counts[d]++
	}
	for d, n := range counts {
		if n >= count {
			return uint16(d), count
		}
		count -= n
	}
	return uint16(largest), len(distances)
}

// signsOf encodes the signs of a query like those of vectors.
func signsOf(query []float32) []uint64 {
	words := make([]uint64, signWords(len(query)))
	for i, value := range query {
		if value > 0 {
			words[i/64] |= 1 << (i % 64)
		}
	}
	return words
}

// signSums is a lookup table: for each byte of signs, the sum of the query's values where a bit is set. A sum over a
// vector's signs is then one lookup for each eight dimensions.
//
// It takes 1 KB for each eight dimensions, 48 KB for 384, and is built for each query.
type signSums [][256]float32

// newSignSums builds the table for a query. b&(b-1) is b without its lowest bit, so each entry is an earlier one
// plus one value.
func newSignSums(query []float32) signSums {
	sums := make(signSums, 8*signWords(len(query)))
	for i := range sums {
		for b := 1; b < 256; b++ {
			sums[i][b] = sums[i][b&(b-1)]
			if at := 8*i + bits.TrailingZeros8(uint8(b)); at < len(query) {
				sums[i][b] += query[at]
			}
		}
	}
	return sums
}

// sum returns the sum of the query's values where a vector's signs are set, with eight table lookups for each word
// of 64 signs.
//
// The rest of a word is skipped when all of its further signs are negative.
func (s signSums) sum(signs []uint64) (sum float32) {
	for i, word := range signs {
		for at := 8 * i; word != 0; at, word = at+1, word>>8 {
			sum += s[at][uint8(word)]
		}
	}
	return sum
}
