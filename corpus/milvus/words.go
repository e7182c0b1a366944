package milvus

import (
	"fmt"
	"hash/fnv"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"footnote/corpus"
)

// noWords is the dimension of what has no words: Milvus takes no empty vector, and the last of 32 bits is not allowed.
const noWords = 1<<32 - 2

// dimensionOfTerm is a term's place in the vector of words: a hash that stays the same everywhere and for ever. Of a million different terms
// one in 4,300 shares its place with another. Then a search for the one also finds passages with the other, with that one's weight: a hit too
// many by words, never one too few.
func dimensionOfTerm(term string) uint32 {
	sum := fnv.New32a()
	sum.Write([]byte(term)) // never fails
	return sum.Sum32() % noWords
}

// sparseOf makes a vector of weighted words.
func sparseOf(words []corpus.TermWeight) (entity.SparseEmbedding, error) {
	at := make(map[uint32]int, len(words))
	dimensions, values := make([]uint32, 0, len(words)), make([]float32, 0, len(words))
	for _, w := range words {
		if w.Weight <= 0 {
			continue
		}
		place := dimensionOfTerm(w.Term)
		if i, shared := at[place]; shared {
			values[i] += w.Weight
			continue
		}
		at[place] = len(values)
		dimensions, values = append(dimensions, place), append(values, w.Weight)
	}
	if len(values) == 0 {
		dimensions, values = []uint32{noWords}, []float32{1}
	}
	vector, err := entity.NewSliceSparseEmbedding(dimensions, values)
	if err != nil {
		return nil, fmt.Errorf("make a vector of words: %w", err)
	}
	return vector, nil
}
