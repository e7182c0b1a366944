package bert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// Both are SentencePiece's: the sign U+2581, and its constant kUnkPenalty.
	space          = "▁" // begins each word
	unknownPenalty = 10  // by which the score of an unknown character is below the least one
)

// unigram cuts texts into the most probable pieces, as SentencePiece does for a model of the type Unigram. It gives
// what the library tokenizers of Hugging Face gives for such a model behind a Metaspace, with one difference: the names
// of special tokens are text ("</s>" in a document ends nothing). It is safe for concurrent use. The model is that of
// Kudo 2018, "Subword Regularization": pieces are independent of each other, so that the probability of a text is the
// product of its pieces'.
type unigram struct {
	folds  []func(string) string // what normalizes a text
	words  bool                  // all white space ends a word, rather than spaces only
	pieces pieceTree
	scores []float64 // by id
	unk    int32
	least  float64 // the score of an unknown character
}

// setPieces gives the pieces of a vocabulary, of which special ones stand for no text.
func (u *unigram) setPieces(list []piece, special map[string]int32) (err error) {
	u.scores = make([]float64, len(list))
	ids := make([]int32, 0, len(list))
	least := list[0].score
	for i, p := range list {
		u.scores[i], least = p.score, min(least, p.score)
		if _, ok := special[p.text]; !ok && int32(i) != u.unk {
			ids = append(ids, int32(i))
		}
	}
	u.least = least - unknownPenalty
	u.pieces, err = newPieceTree(list, ids)
	return err
}

// encodeText normalizes a text, puts ▁ before each word and cuts each word by itself: a piece never reaches over a ▁,
// but for those that begin with one. Bytes that are no UTF-8 count as U+FFFD.
func (u *unigram) encodeText(text string) []token {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	most := maxGrowth * len(text)
	for _, fold := range u.folds {
		if text = fold(text); len(text) > most {
			text = strings.ToValidUTF8(text[:most], "")
		}
	}
	parts := []string{text}
	if u.words {
		parts = strings.Fields(text)
	}
	tokens := make([]token, 0, len(text)/3+1)
	var ends []ending
	for _, part := range parts {
		part = strings.ReplaceAll(part, " ", space)
		if part != "" && !strings.HasPrefix(part, space) {
			part = space + part
		}
		for part != "" {
			word := part
			if end := strings.Index(part[len(space):], space); end >= 0 {
				word = part[:len(space)+end]
			}
			tokens = u.appendPieces(tokens, word, &ends)
			part = part[len(word):]
		}
	}
	return tokens
}

// ending is the best way to cut a word up to one of its bytes.
type ending struct {
	score float64 // sum of its pieces' scores
	from  int     // where its last piece begins
	id    int32   // of that
	known bool    // there is such a way
}

// appendPieces appends the pieces with the highest sum of scores that a word is made of. Unknown characters side by
// side are one token. It is Viterbi's algorithm: the best way to each byte is known before it is used, since pieces
// only lead forward. Then the pieces are read from the end back.
func (u *unigram) appendPieces(tokens []token, word string, memory *[]ending) []token {
	ends := slices.Grow((*memory)[:0], len(word)+1)[:len(word)+1]
	clear(ends)
	*memory = ends
	for at, r := range word {
		offer := func(end int, id int32, score float64) {
			if score += ends[at].score; !ends[end].known || score > ends[end].score {
				ends[end] = ending{score, at, id, true}
			}
		}
		offer(at+utf8.RuneLen(r), u.unk, u.least) // known ones are better
		node, ok := int32(0), true
		for end := at; end < len(word); {
			if node, ok = u.pieces.child(node, word[end]); !ok {
				break
			}
			end++
			if id := u.pieces.ids[node]; id >= 0 {
				offer(end, id, u.scores[id])
			}
		}
	}
	before := len(tokens)
	for end := len(word); end > 0; end = ends[end].from {
		e := ends[end]
		if last := len(tokens) - 1; e.id == u.unk && last >= before && tokens[last].id == u.unk {
			tokens[last].head = beginsWord(word[e.from:])
			continue
		}
		tokens = append(tokens, token{e.id, beginsWord(word[e.from:])})
	}
	slices.Reverse(tokens[before:])
	return tokens
}

// beginsWord reports whether a word may begin where a text does: behind a space, or in a script that has none.
func beginsWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return strings.HasPrefix(text, space) || r > unicode.MaxLatin1 && unicode.In(r, unicode.Han, unicode.Hiragana,
		unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

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
