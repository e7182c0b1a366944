package text_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/text"
)

func TestReadMarker(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		given   string
		numbers []int
		size    int
		partial bool
	}{
		{"[3]", []int{3}, 3, false},
		{"[1, 2]x", []int{1, 2}, 6, false},
		{"[4-6]", []int{4, 5, 6}, 5, false},
		{"【2】", []int{2}, len("【2】"), false},
		{"【2†source】", []int{2}, len("【2†source】"), false},
		{"[Source 3]", []int{3}, 10, false},
		{"[^7]", []int{7}, 4, false},
		{"[", nil, 0, true},
		{"[1", nil, 0, true},
		{"[1, ", nil, 0, true},
		{"[4-", nil, 0, true},
		{"[sou", nil, 0, true},
		{"[2019]", nil, 0, false},
		{"[link](x)", nil, 0, false},
		{"[ ]", nil, 0, false},
		{"[]", nil, 0, false},
		{"[1a]", nil, 0, false},
		{"[9-1]", nil, 0, false},
		{"[" + strings.Repeat("1,", 40), nil, 0, false},
		{"[[1]]", []int{1}, 5, false},
		{"[[1, 2]](https://x.org/a_(b)?c) d", []int{1, 2}, 31, false},
		{"[[1]](two words)", []int{1}, 5, false},
		{"[[1]](https://x", []int{1}, 5, true},
		{"[[1]](" + strings.Repeat("x", 3000), []int{1}, 5, false},
		{"[[1]", nil, 0, true},
		{"[[", nil, 0, true},
		{"[[1] 2]", nil, 0, false},
		{"[[x]]", nil, 0, false},
		{`\[1\]`, []int{1}, 5, false},
		{`\[1, 2\]`, []int{1, 2}, 8, false},
		{`\[1\`, nil, 0, true},
		{`\[1`, nil, 0, true},
		{`\[ 1 \]`, nil, 0, false},
		{`\[1 + 2\]`, nil, 0, false},
	} {
		m := text.ReadMarker(tt.given)
		if !slices.Equal(m.Numbers, tt.numbers) || m.Size != tt.size || m.Partial != tt.partial {
			t.Errorf("ReadMarker(%q) = %+v, want %v %d %v", tt.given, m, tt.numbers, tt.size, tt.partial)
		}
	}
}
