package run

import "testing"

func TestWhatSearchesFindIsRerankedWhereThereIsARerankerUnlessARequestSaysOtherwise(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, tt := range []struct {
		reranker bool
		asked    *bool
		want     bool
	}{{true, nil, true}, {true, &no, false}, {true, &yes, true}, {false, nil, false}, {false, &yes, true}} {
		e := &Engine{}
		e.cfg.Store(&Config{Reranker: tt.reranker})
		if got := e.reranks(tt.asked); got != tt.want {
			t.Errorf("reranker %v, asked for %v: %v, want %v", tt.reranker, tt.asked, got, tt.want)
		}
	}
}
