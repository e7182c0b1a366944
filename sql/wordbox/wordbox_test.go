package wordbox

import (
	"math/rand/v2"
	"slices"
	"testing"

	"footnote/chat"
	"footnote/corpus"
)

func TestWordBoxesSurviveTheirPacking(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var words []corpus.WordBox
	for i := range 1000 {
		box := chat.Box{float64(1 + i/100)}
		for j := 1; j < 5; j++ {
			box[j] = float64(random.IntN(boxUnits+1)) / boxUnits
		}
		start := random.IntN(1 << 20) // not even in order
		words = append(words, corpus.WordBox{Start: start, End: start + random.IntN(20), Box: box})
	}
	packed := Encode(words)
	if got, err := Decode(packed); err != nil || !slices.Equal(got, words) {
		t.Errorf("%d words came back, %v", len(got), err)
	}
	if _, err := Decode(packed[:len(packed)-1]); err == nil {
		t.Error("half a word was read")
	}
}
