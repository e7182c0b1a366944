package bert

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longestWord is how many characters a word may have that is looked up; longer ones are unknown.
const longestWord = 100

// wordPiece cuts texts into the pieces of words that a model knows. It gives what the library tokenizers of Hugging
// Face gives for a BertNormalizer, a BertPreTokenizer and a WordPiece model, with two differences: the names of special
// tokens are text ("[SEP]" in a document ends nothing), and punctuation and marks that are younger than that library's
// tables are such. It is safe for concurrent use.
type wordPiece struct {
	first map[string]int32 // pieces that begin a word
	later map[string]int32 // pieces that go on with one, without the ## of the vocabulary
	most  int              // bytes of the longest piece
	folds folding
	unk   int32
}

// folding says what a tokenizer does to a text before it looks words up. The order is the reference's: clean, spaces
// around ideographs, accents, small letters.
type folding struct {
	clean, cjk, accents, lower bool // accents: they are removed
}

// newTokenizer makes the tokenizer of a vocabulary, in which the unknown token and those around a text must be.
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
	}{{unk, &w.unk}, {around.start, &t.start}, {around.end, &t.end}} { // of which some may be one
		known, ok := vocabulary[mark.name]
		if !ok {
			return nil, fmt.Errorf("the vocabulary has no %q", mark.name)
		}
		*mark.id = known
	}
	return t, nil
}

// encodeText returns the tokens of a text, without those before and behind it. Punctuation characters are words of
// their own.
func (w *wordPiece) encodeText(text string) []token {
	text = w.foldText(text)
	tokens := make([]token, 0, len(text)/4+1)
	word := -1 // where the present one starts
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

// foldText brings a text to the form that the vocabulary has. Accents are the marks of category Mn after canonical
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

// appendPieces appends the longest pieces that a word is made of, from its start on; the unknown token if it is not.
// That is greedy, the longest piece first, as in the reference: it is not the best way to cut a word, but the one that
// the model was trained with.
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

// isPunctuation reports what stands alone: all signs of ASCII, as BERT has it, and Unicode's punctuation.
func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return unicode.IsPunct(r)
}

// isControl reports what the reference removes as control characters.
func isControl(r rune) bool {
	return r != '\t' && r != '\n' && r != '\r' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
}

// isIdeograph reports the characters that stand alone as words: the blocks of CJK ideographs in BERT's own tokenizer.
func isIdeograph(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0x20000 && r <= 0x2A6DF || r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F ||
		r >= 0x2B920 && r <= 0x2CEAF || r >= 0x2F800 && r <= 0x2FA1F
}
