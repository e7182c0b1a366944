package bert

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longestWord is the maximum length of a known word in characters; longer ones are unknown tokens.
const longestWord = 100

// wordPiece tokenises texts into the pieces of a vocabulary. It is equivalent to Hugging Face's library tokenizers
// with a BertNormalizer, a BertPreTokenizer and a WordPiece model, with two differences. Names of special tokens
// are text: "[SEP]" in a document is no separator. Punctuation and marks newer than that library's tables are
// recognised. It is safe for concurrent use.
type wordPiece struct {
	first map[string]int32 // pieces at the beginning of a word
	later map[string]int32 // continuation pieces, without the ## of the vocabulary
	most  int              // bytes of the longest piece
	folds folding
	unk   int32
}

// folding is the normalisation before the lookup of words. Its order is the reference's: clean, spaces around
// ideographs, accents, lower case.
type folding struct {
	clean, cjk, accents, lower bool // accents: strip them
}

// newTokenizer returns the tokenizer of a vocabulary, which must have the unknown token and the special tokens.
func newTokenizer(vocabulary map[string]int32, folds folding, unk string, around marks) (*tokenizer, error) {
	w := &wordPiece{first: make(map[string]int32, len(vocabulary)), later: make(map[string]int32), folds: folds}
	t := &tokenizer{encoder: w, tokens: len(vocabulary), pair: around.pair}
	for piece, id := range vocabulary {
		t.tokens = max(t.tokens, int(id)+1)
		if id < 0 {
			return nil, fmt.Errorf("the vocabulary has the number %d for %q", id, piece)
		}
		if rest, ok := strings.CutPrefix(piece, "##"); ok {
			w.later[rest] = id
		}
		w.first[piece] = id // "##" typed in a text is punctuation, so no word begins with it
		w.most = max(w.most, len(piece))
	}
	for _, mark := range []struct {
		name string
		id   *int32
	}{{unk, &w.unk}, {around.start, &t.start}, {around.end, &t.end}} { // some may be the same
		known, ok := vocabulary[mark.name]
		if !ok {
			return nil, fmt.Errorf("the vocabulary has no %q", mark.name)
		}
		*mark.id = known
	}
	return t, nil
}

// encodeText returns the tokens of a text, without special tokens. Each punctuation character is a word.
func (w *wordPiece) encodeText(text string) []token {
	text = w.foldText(text)
	tokens := make([]token, 0, len(text)/4+1)
	word := -1 // start of the current word
	finish := func(at int) {
		if word >= 0 {
			tokens = w.appendPieces(tokens, text[word:at])
			word = -1
		}
	}
	for i, r := range text {
		switch {
		case unicode.IsSpace(r):
			finish(i)
		case isPunctuation(r):
			finish(i)
			tokens = w.appendPieces(tokens, text[i:i+utf8.RuneLen(r)])
		case word < 0:
			word = i
		}
	}
	finish(len(text))
	return tokens
}

// foldText normalises a text to the form of the vocabulary. Accents are the marks of category Mn after canonical
// decomposition.
func (w *wordPiece) foldText(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		if w.folds.clean {
			if r == 0 || r == utf8.RuneError || isControl(r) {
				continue
			}
			if unicode.IsSpace(r) {
				r = ' '
			}
		}
		if w.folds.cjk && isIdeograph(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(r)
	}
	text = b.String()
	if w.folds.accents {
		text = norm.NFD.String(text)
	}
	return strings.Map(func(r rune) rune {
		if w.folds.accents && unicode.Is(unicode.Mn, r) {
			return -1
		}
		if w.folds.lower {
			return unicode.ToLower(r)
		}
		return r
	}, text)
}

// appendPieces appends the pieces of a word, or the unknown token. It is greedy, the longest piece first, as in the
// reference: that is not the best way to split a word, but the one that the model was trained with.
func (w *wordPiece) appendPieces(tokens []token, word string) []token {
	if utf8.RuneCountInString(word) > longestWord {
		return append(tokens, token{w.unk, true})
	}
	before := len(tokens)
	known := w.first
	for at := 0; at < len(word); known = w.later {
		end := min(len(word), at+w.most)
		for ; end > at; end-- {
			if end < len(word) && !utf8.RuneStart(word[end]) {
				continue
			}
			if id, ok := known[word[at:end]]; ok {
				tokens = append(tokens, token{id, at == 0})
				break
			}
		}
		if end == at {
			return append(tokens[:before], token{w.unk, true})
		}
		at = end
	}
	return tokens
}

// isPunctuation reports whether r is a separate word: all ASCII symbols, as in BERT, and Unicode's punctuation.
func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return unicode.IsPunct(r)
}

// isControl reports whether the reference removes r as a control character.
func isControl(r rune) bool {
	return r != '\t' && r != '\n' && r != '\r' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
}

// isIdeograph reports whether r is a separate word as a CJK ideograph, by the blocks of BERT's own tokenizer.
func isIdeograph(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0x20000 && r <= 0x2A6DF || r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F ||
		r >= 0x2B920 && r <= 0x2CEAF || r >= 0x2F800 && r <= 0x2FA1F
}
