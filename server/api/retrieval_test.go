package api

import (
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestTheAverageOfAListIsOfOneKind(t *testing.T) {
	quarter, half, whole := 0.25, 0.5, 1.0
	for _, tt := range []struct {
		list []chat.Hit
		want float64
	}{
		{nil, 0},
		{[]chat.Hit{{}, {}}, 0},
		{[]chat.Hit{{Score: &half}, {Score: &whole}, {}}, 0.75},
		{[]chat.Hit{{Score: &whole, Similarity: &quarter}, {Score: &whole}}, 0.25},
		{[]chat.Hit{{Score: &half}, {Score: &whole, Sub: true}}, 0.5},
	} {
		if got := averageScore(tt.list); got != tt.want {
			t.Errorf("average(%+v) = %v, want %v", tt.list, got, tt.want)
		}
	}
}
