package search

import "testing"

func TestTyposCountsSwapsOnce(t *testing.T) {
	for _, tt := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"roof", "roof", 2, 0}, {"roof", "rofo", 2, 1}, {"roof", "rof", 2, 1}, {"roof", "proof", 2, 1},
		{"elefant", "elephant", 2, 2}, {"roof", "cellar", 2, 3}, {"", "ab", 2, 2}, {"首都", "首部", 2, 1},
	} {
		if got := Typos(tt.a, tt.b, tt.limit); got != tt.want && (got <= tt.limit || tt.want <= tt.limit) {
			t.Errorf("Typos(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
