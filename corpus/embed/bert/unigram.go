package bert

import (
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
