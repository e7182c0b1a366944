package bert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

const (
	longestPiece = 512     // bytes; SentencePiece's have up to 16 characters
	maxNodes     = 1 << 24 // XLM-R's 250,000 pieces have 780,000
)

// A piece is a part of a word, with the logarithm of how probable it is.
type piece struct {
	text  string
	score float64
}

// readPieces reads a vocabulary as a Unigram model has it: a list of texts with their scores. It reads pair by pair,
// since a list of 250,000 pairs of any takes many times their size.
func readPieces(raw json.RawMessage) ([]piece, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, errors.New("it is no list")
	}
	var list []piece
	for d.More() {
		if len(list) == maxVocabulary {
			return nil, fmt.Errorf("it has over %d pieces", maxVocabulary)
		}
		var text *string
		var score *float64
		pair := []any{&text, &score}
		if err := d.Decode(&pair); err != nil {
			return nil, fmt.Errorf("piece %d: %w", len(list), err)
		}
		if len(pair) != 2 || text == nil || score == nil {
			return nil, fmt.Errorf("piece %d is no text with a score", len(list))
		}
		list = append(list, piece{*text, *score})
	}
	return list, nil
}

// pieceTree finds the pieces that a text begins with. It is a tree of bytes, level by level in three arrays: the
// 250,000 pieces of XLM-R take 7 MB.
type pieceTree struct {
	bytes []byte  // that lead to each node
	first []int32 // the children of node n are first[n] to first[n+1]-1, in the order of their bytes
	ids   []int32 // of the piece that ends at each node; -1: none
}

// newPieceTree makes a tree of the pieces whose ids are given. Of equal ones the last counts. The pieces are sorted, so
// that those below a node are neighbours. It goes down one byte at a time, over all nodes of a level: that gives the
// children of each node one after another.
func newPieceTree(list []piece, ids []int32) (t pieceTree, err error) {
	slices.SortFunc(ids, func(a, b int32) int {
		return cmp.Or(cmp.Compare(list[a].text, list[b].text), cmp.Compare(a, b))
	})
	t.bytes = make([]byte, 1, 4*len(ids)) // node 0 is the root
	type span struct{ from, to int }      // of ids: the pieces below a node
	level := []span{{0, len(ids)}}
	for depth := 0; len(level) > 0; depth++ {
		var next []span
		for _, s := range level {
			t.first, t.ids = append(t.first, int32(len(t.bytes))), append(t.ids, -1)
			for ; s.from < s.to && len(list[ids[s.from]].text) == depth; s.from++ {
				t.ids[len(t.ids)-1] = ids[s.from]
			}
			for end := s.from; s.from < s.to; s.from = end {
				b := list[ids[s.from]].text[depth]
				for end < s.to && list[ids[end]].text[depth] == b {
					end++
				}
				t.bytes, next = append(t.bytes, b), append(next, span{s.from, end})
			}
		}
		if len(t.bytes) > maxNodes || depth > longestPiece {
			return t, errors.New("its pieces are too long")
		}
		level = next
	}
	t.first = append(t.first, int32(len(t.bytes)))
	return t, nil
}

// child is the node that a byte leads to from another, if there is one. Node 0 is the root. Most nodes have few
// children, among which looking one by one is fastest.
func (t *pieceTree) child(node int32, b byte) (int32, bool) {
	from, to := t.first[node], t.first[node+1]
	at := bytes.IndexByte(t.bytes[from:to], b)
	return from + int32(at), at >= 0
}
