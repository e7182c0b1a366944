package corpus

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestWordBoxesRoundTrip(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var words []WordBox
	for i := range 1000 {
		box := chat.Box{float64(1 + i/100)}
		for j := 1; j < 5; j++ {
			box[j] = float64(random.IntN(boxUnits+1)) / boxUnits
		}
		start := random.IntN(1 << 20) // not even in order
		words = append(words, WordBox{Start: start, End: start + random.IntN(20), Box: box, Turn: i % 4})
	}
	packed := PackWords(words)
	if got, err := packed.Unpack(); err != nil || !slices.Equal(got, words) {
		t.Errorf("%d words came back, %v; want %v", len(got), err, words)
	}
	if _, err := packed[:len(packed)-1].Unpack(); err == nil {
		t.Error("Unpack of truncated words: got no error, want one")
	}
}

func TestWordPiecesContainEachWordOnce(t *testing.T) {
	t.Parallel()
	var want []WordBox
	var blocks []Block
	for i := range 7 {
		var words []WordBox
		for j := range i {
			words = append(words, WordBox{Start: 100*i + 5*j, End: 100*i + 5*j + 4, Box: chat.Box{1, 0, 0, 1, 1}})
		}
		want = append(want, words...)
		blocks = append(blocks, Block{Words: PackWords(words)})
	}
	var got []WordBox
	for piece, err := range WordPieces(blocks, 4) {
		words, bad := piece.Words.Unpack()
		if err != nil || bad != nil || len(words) == 0 || len(words) > 4 || piece.Start != words[0].Start ||
			piece.End != words[len(words)-1].End {
			t.Errorf("%d words in [%d, %d): %v, %v; want some words, at most 4 words, %d, %d",
				len(words), piece.Start, piece.End, err, bad, words[0].Start, words[len(words)-1].End)
		}
		got = append(got, words...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d words, want %d", len(got), len(want))
	}
	blocks[3].Words = blocks[3].Words[:5]
	var failed error
	for _, err := range WordPieces(blocks, 4) {
		failed = err
	}
	if failed == nil {
		t.Error("damaged block: got no error, want one")
	}
}
