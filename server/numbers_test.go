package server

import "testing"

func TestWholeNumbersOfBodiesMayHaveAPoint(t *testing.T) {
	b := newBench(t)
	for body, want := range map[string]int{
		`{"query":"roof","top_k":5.0}`: 200, `{"query":"roof","top_k":5.5}`: 400, `{"query":"roof","top_k":51e0}`: 400,
		`{"query":"roof","filters":{"document_ids":[null]}}`: 400,
	} {
		if got := b.send("POST", "/search", body); got.status != want {
			t.Errorf("%s: %d %s, want %d", body, got.status, got.body, want)
		}
	}
}
