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
	// Both are SentencePiece's: the character U+2581, and its constant kUnkPenalty.
	space          = "▁" // begins each word
	unknownPenalty = 10  // subtracted from the minimum score for unknown characters
)

// unigram tokenises texts into the most probable pieces, like SentencePiece for a model of the type Unigram. It is
// equivalent to Hugging Face's library tokenizers for such a model after a Metaspace, with one difference. Names of
// special tokens are text: "</s>" in a document ends nothing. It is safe for concurrent use. The model is that of
// Kudo 2018, "Subword Regularization": pieces are independent, so the probability of a text is the product of its
// pieces'.
type unigram struct {
	folds  []func(string) string // normalisation steps
	words  bool                  // any white space ends a word, rather than only spaces
	pieces pieceTree
	scores []float64 // by ID
	unk    int32
	least  float64 // score of an unknown character
}

// setPieces sets the pieces of a vocabulary; special ones never match text.
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

// encodeText normalises a text, puts ▁ before each word and tokenises each word separately: a piece never contains
// a ▁ except at its beginning. Invalid UTF-8 is decoded as U+FFFD.
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

// ending is the best segmentation of a word up to a byte offset.
type ending struct {
	score float64 // total score of its pieces
	from  int     // start of its last piece
	id    int32   // of the last piece
	known bool    // a segmentation exists
}

// appendPieces appends the pieces of a word with the highest total score. Consecutive unknown characters are one
// token. It is Viterbi's algorithm: the best segmentation of each prefix is known before it is used, since pieces
// only lead forward. The pieces are then read backwards.
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
		offer(at+utf8.RuneLen(r), u.unk, u.least) // known pieces score higher
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

// beginsWord reports whether a word may begin at the start of text: after a space, or in a script without spaces.
func beginsWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return strings.HasPrefix(text, space) || r > unicode.MaxLatin1 && unicode.In(r, unicode.Han, unicode.Hiragana,
		unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

const (
	longestPiece = 512     // bytes; SentencePiece's have up to 16 characters
	maxNodes     = 1 << 24 // XLM-R's 250,000 pieces have 780,000
)

// piece is an entry of the vocabulary with its log probability.
type piece struct {
	text  string
	score float64
}

// readPieces decodes the vocabulary of a Unigram model: a list of texts with their scores. It streams the pairs,
// since decoding 250,000 pairs of any takes many times their size.
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

// pieceTree is a byte trie for the pieces at the beginning of a text, level by level in three arrays: the 250,000
// pieces of XLM-R take 7 MB.
type pieceTree struct {
	bytes []byte  // label of each node
	first []int32 // the children of node n are first[n] to first[n+1]-1, in byte order
	ids   []int32 // ID of the piece that ends at each node; -1: none
}

// newPieceTree builds a trie of the pieces with the given ids. Among duplicates the last counts. The pieces are
// sorted, so that those below a node are adjacent. It builds one level at a time, which stores the children of each
// node contiguously.
func newPieceTree(list []piece, ids []int32) (t pieceTree, err error) {
	slices.SortFunc(ids, func(a, b int32) int {
		return cmp.Or(cmp.Compare(list[a].text, list[b].text), cmp.Compare(a, b))
	})
	t.bytes = make([]byte, 1, 4*len(ids)) // node 0 is the root
	type span struct{ from, to int }      // range of ids: the pieces below a node
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

// child returns the child of a node for a byte, if there is one. Node 0 is the root. Most nodes have few children,
// for which a linear search is fastest.
func (t *pieceTree) child(node int32, b byte) (int32, bool) {
	from, to := t.first[node], t.first[node+1]
	at := bytes.IndexByte(t.bytes[from:to], b)
	return from + int32(at), at >= 0
}
