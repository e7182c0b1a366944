package pack

import (
	"strings"
	"testing"
)

// A part is what stands in that place, across the pieces that were packed one after the other.
func TestPart(t *testing.T) {
	t.Parallel()
	first, second := strings.Repeat("one piece ", 5000), strings.Repeat("and another ", 5000)
	var packed []byte
	for _, piece := range []string{first, second} {
		p, err := Pack(piece)
		if err != nil {
			t.Fatalf("Pack: %v", err)
		}
		packed = append(packed, p...)
	}
	whole := first + second
	for _, at := range []int{0, 1, len(first) - 3, len(first), len(whole) - 10, len(whole)} {
		part, more, err := Part(packed, at, 1000)
		want := whole[at:min(len(whole), at+1000)]
		if err != nil || string(part) != want || more != (at+1000 < len(whole)) {
			t.Errorf("Part at %d: %d bytes, more %v, %v; want %d, %v", at, len(part), more, err, len(want),
				at+1000 < len(whole))
		}
	}
}
