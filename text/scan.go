// Package text analyses prose of any language: it produces index terms, sentences, token counts and languages. All
// functions are linear in their input, accept invalid UTF-8 and are safe for concurrent use.
//
// scan.go tokenises a text into words and runs; query.go and stem.go normalise these to terms. sentences.go and
// statements.go split text into sentences and statements; detect.go detects the language. formula.go parses TeX,
// quote_markdown.go escapes Markdown, marker.go and running.go parse the footnotes of models. The other files
// classify lines and words.
//
// Documents and queries must be analysed by the same functions, or their terms do not match. A change here
// therefore requires reindexing. The package is a leaf: it imports nothing of this module.
package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxToken is the maximum length of a token in bytes. Longer ones (keys, encoded data) are truncated and stay
// findable by their beginning.
const maxToken = 96

// token is a word, or a run of a script written without spaces. Offsets are in bytes. A number with points or
// commas is one token, see joinSize.
type token struct {
	start, end int
	grams      bool // to be split into bigrams
	beside     bool // an apostrophe joins it to the adjacent word: l'école, don't
}

// scanTokens yields the tokens of s in order until yield returns false. It reads each byte a bounded number of
// times, with a fast path for ASCII letters.
func scanTokens(s string, yield func(token) bool) {
	afterApostrophe := -1 // offset at which a word would follow an apostrophe
	for i := 0; i < len(s); {
		class, size := classifyAt(s, i)
		if class == classOther || class == classRaised {
			i += size
			continue
		}
		t := token{start: i, grams: class == classGram, beside: i == afterApostrophe}
		i += size
		for i < len(s) {
			if c := s[i]; c < utf8.RuneSelf && asciiClass[c] == classWord && !t.grams {
				i++
				continue
			}
			class, size := classifyAt(s, i)
			if class == classOther && !t.grams {
				if n := joinSize(s, t.start, i, size); n > 0 {
					i += n
					continue
				}
			}
			if class == classRaised && !t.grams && isUnit(s[t.start:i]) {
				class = classWord
			}
			if class == classOther || class == classRaised || (class == classGram) != t.grams {
				break
			}
			i += size
		}
		t.end = i
		if n := apostropheSize(s, i); n > 0 && !t.grams && i+n < len(s) {
			if class, _ := classifyAt(s, i+n); class == classWord {
				t.beside, afterApostrophe = true, i+n
			}
		}
		if !yield(t) {
			return
		}
	}
}

// class is the tokenizer class of a rune: separator, part of a word, sign of a run, or raised digit.
type class uint8

const (
	classOther class = iota
	classWord
	classGram
	classRaised // a superscript digit
)

// isUnit reports whether a superscript digit is part of a unit or a variable, as in m², km² and x². After a number
// or a longer word it is a note reference.
func isUnit(piece string) bool {
	return !isDigit(piece[len(piece)-1]) && utf8.RuneCountInString(piece) <= 3
}

var asciiClass = func() (table [utf8.RuneSelf]class) {
	for c := range table {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' {
			table[c] = classWord
		}
	}
	return table
}()

// classifyAt returns the class of the rune at s[i] and its size in bytes. Combining marks belong to their word.
func classifyAt(s string, i int) (class, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return asciiClass[c], 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case IsSuperscript(r):
		return classRaised, size
	case !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r):
		return classOther, size
	case isUnspaced(r) && !unicode.IsNumber(r):
		return classGram, size
	default:
		return classWord, size
	}
}

// isUnspaced reports whether r belongs to a script without spaces between words, or to Hangul, whose words carry
// particles that bigrams tolerate. The ranges are Unicode blocks, compared as numbers because it is called for each
// rune above ASCII.
func isUnspaced(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r <= 0x0eff, // Thai, Lao
		r >= 0x1000 && r <= 0x11ff && !(r >= 0x10a0 && r <= 0x10ff), // Myanmar, Hangul Jamo
		r >= 0x1780 && r <= 0x17ff,                                  // Khmer
		r >= 0x3005 && r <= 0x9fff,                                  // kana, Bopomofo, Han
		r >= 0xa960 && r <= 0xa97f, r >= 0xac00 && r <= 0xd7ff,      // Hangul
		r >= 0xf900 && r <= 0xfaff, r >= 0xff66 && r <= 0xffdc, // compatibility Han, half-width forms
		r >= 0x20000 && r <= 0x3ffff:
		return true
	}
	return false
}

// joinSize returns the size of the character at s[i] if it continues the word that begins at start: the point of
// 3.14 and v2.1, the comma of 1,000 and 3,5, a soft hyphen or a joiner. Otherwise it returns 0. A comma joins
// before three digits, as in thousands, or before one or two final digits, as in decimals. In a list such as 1,2,3
// it does not join.
func joinSize(s string, start, i, size int) int {
	switch c := s[i]; {
	case c == '.' && i+1 < len(s) && isDigit(s[i-1]) && isDigit(s[i+1]):
		return 1
	case c == ',' && isDigit(s[i-1]) && allDigits(s[start:i]):
		n := countDigits(s, i+1)
		after := i + 1 + n
		last := after >= len(s) || s[after] != ',' && s[after] != '.' || after+1 >= len(s) || !isDigit(s[after+1])
		listed := start > 0 && s[start-1] == ','
		if n == 3 || n > 0 && n < 3 && last && !listed && isPlain(s[start:i]) {
			return 1
		}
	case c >= utf8.RuneSelf && i+size < len(s):
		r, _ := utf8.DecodeRuneInString(s[i:])
		if r == 0x00ad || r == 0x200c || r == 0x200d || r == 0x2060 {
			return size
		}
	}
	return 0
}

// apostropheSize returns the size of an apostrophe at s[i], or 0.
func apostropheSize(s string, i int) int {
	switch {
	case i < len(s) && s[i] == '\'':
		return 1
	case i+2 < len(s) && s[i] == 0xe2 && s[i+1] == 0x80 && (s[i+2] == 0x99 || s[i+2] == 0x98):
		return 3
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// countDigits counts the digits from s[i] on, up to four: more than three are no digit group.
func countDigits(s string, i int) int {
	n := 0
	for i+n < len(s) && n < 4 && isDigit(s[i+n]) {
		n++
	}
	return n
}

// allDigits reports whether s is a number so far. The limit of 20 bytes keeps the scanner linear.
func allDigits(s string) bool {
	if len(s) > 20 {
		return false
	}
	for i := range len(s) {
		if !isDigit(s[i]) && s[i] != ',' && s[i] != '.' {
			return false
		}
	}
	return true
}

// isPlain reports whether s has only digits.
func isPlain(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

var superscripts = []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")

// Superscript converts digits, with a minus sign before them and the commas and dashes between them, to superscript,
// and returns other text unchanged. Otherwise a note reference after 1921 would be read as a digit of the number.
func Superscript(s string) string {
	if s == "" || strings.Trim(s, "0123456789,-–−") != "" || strings.Trim(s, ",-–−") == "" {
		return s
	}
	sign := ""
	for _, minus := range []string{"-", "−"} {
		if digits, ok := strings.CutPrefix(s, minus); ok {
			sign, s = "⁻", digits
		}
	}
	return sign + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return superscripts[r-'0']
		}
		return r
	}, s)
}

// IsSuperscript reports whether a rune is a superscript digit.
func IsSuperscript(r rune) bool {
	return r == '²' || r == '³' || r == '¹' || r == '⁰' || r >= '⁴' && r <= '⁹'
}

// Compose returns the composed rune of a base letter and a combining mark, if it exists. Marks are the combining
// diacritical marks (U+0300 to U+036F) and the two of kana. PDFs often store letter and mark separately.
func Compose(base, mark rune) (rune, bool) {
	if mark < 0x0300 || mark > 0x036f && mark != 0x3099 && mark != 0x309a {
		return 0, false
	}
	s := norm.NFC.String(string([]rune{base, mark}))
	r, size := utf8.DecodeRuneInString(s)
	return r, size == len(s)
}

// Unspaced reports whether r belongs to a script without spaces between words, or to Hangul.
func Unspaced(r rune) bool { return isUnspaced(r) }

// Tokens estimates the number of a model's tokens in s: a quarter for each ASCII character, a half for other
// letters, one for each sign of a script without spaces. The error is about 5 % for English prose. An estimate is
// enough, since token budgets and passage sizes have a margin; not every model's tokenizer is available.
func Tokens(s string) int {
	quarters := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			quarters++
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if isUnspaced(r) {
			quarters += 4
		} else {
			quarters += 2
		}
		i += size
	}
	return (quarters + 3) / 4
}

// Run is a run of a script written without spaces. Bigrams match words without segmentation. Grammar marks function
// words, which would otherwise give any two questions common terms.
type Run struct {
	Runes   []rune   // as typed
	Terms   []string // Terms[i] is the bigram of Runes[i] and Runes[i+1]; a run of one rune has one term
	Grammar []bool   // by rune: it is part of a function word
	Letters []bool   // by rune: it is a letter or a sign, not a combining mark
}

// Runs returns the runs of a query in scripts without spaces. A hiragana word at the beginning of a sentence is not
// grammar, see leadingName.
func Runs(q string) []Run {
	var out []Run
	scanTokens(q, func(t token) bool {
		if !t.grams {
			return true
		}
		r := Run{Runes: []rune(q[t.start:t.end])}
		eachGram(q[t.start:t.end], func(g string, _, _ int) { r.Terms = append(r.Terms, g) })
		for _, sign := range r.Runes {
			r.Letters = append(r.Letters, !unicode.IsMark(sign))
		}
		r.Grammar = grammarOf(r.Runes)
		if before, _ := utf8.DecodeLastRuneInString(
			q[:t.start],
		); !unicode.IsLetter(before) &&
			!unicode.IsNumber(before) {
			clear(r.Grammar[:leadingName(r.Runes)])
		}
		out = append(out, r)
		return true
	})
	return out
}

// WordLetters returns the minimum letters of a word in the script of a rune: two in syllabic and logographic
// scripts, three in alphabetic ones.
func WordLetters(r rune) int {
	if isAlphabetic(r) {
		return 3
	}
	return 2
}

// isAlphabetic reports whether a rune of a script without spaces is alphabetic: Thai, Lao, Myanmar or Khmer.
func isAlphabetic(r rune) bool { return r < 0x1100 || r >= 0x1780 && r < 0x1800 }

// Function words of the scripts without spaces: interrogatives, pronouns, particles, copulas and endings.
var (
	functionWords = slices.Collect(strings.FieldsSeq(`
什么 什麼 怎么 怎麼 怎样 怎樣 为什么 為什麼 如何 是否 可以 哪里 哪裡 哪个 哪個 哪些 多少 多久 多大 几点 請問 请问 时候 時候
还有 還有 一个 一個 何で 何時 何処
อะไร ที่ไหน ไหน เท่าไร เท่าไหร่ กี่ ใคร เมื่อไร เมื่อไหร่ อย่างไร ยังไง ทำไม หรือไม่ ไหม ที่ คือ เป็น อยู่ มี ของ ใน และ
กับ จาก
โดย ให้ ได้ จะ แล้ว นี้ นั้น
무엇 무슨 누구 누가 어디 언제 얼마 어느 어떤 어떻 입니 습니 합니 니까 니다 나요 까요 인가 는가`))
	functionSigns = "的了是吗嗎呢么麼在有和与與或从從到对對被把给給这這那哪几幾谁誰我你他她它们們个個何吧啊몇왜"
	// openings of Japanese questions in hiragana that name no subject
	japaneseOpenings = slices.Collect(strings.FieldsSeq(
		`いつ どこ だれ どな なに なん なぜ いくら いくつ どの どう どれ どち この その あの これ それ あれ ここ そこ`,
	))
	japaneseParticles = "のはがをにでともへやか"
)

// grammarOf reports for each rune of a run whether it is grammar. Hiragana are endings and particles in Japanese;
// other function words are in the lists above.
func grammarOf(runes []rune) []bool {
	out := make([]bool, len(runes))
	for i, r := range runes {
		out[i] = out[i] || isHiragana(r) || strings.ContainsRune(functionSigns, r)
		for _, w := range functionWords {
			if word := []rune(w); hasPrefix(runes[i:], word) {
				for k := range word {
					out[i+k] = true
				}
			}
		}
	}
	return out
}

// leadingName returns the number of leading hiragana runes that are a word, up to its particle. It applies at the
// beginning of a sentence; after another script hiragana are endings or particles.
func leadingName(runes []rune) int {
	n := 0
	for n < len(runes) && isHiragana(runes[n]) {
		n++
	}
	if slices.ContainsFunc(japaneseOpenings, func(w string) bool { return hasPrefix(runes, []rune(w)) }) {
		return 0
	}
	for k := 2; k < n; k++ {
		if strings.ContainsRune(japaneseParticles, runes[k]) {
			n = k
		}
	}
	if n < 3 {
		return 0
	}
	return n
}

func hasPrefix(runes, prefix []rune) bool {
	return len(runes) >= len(prefix) && slices.Equal(runes[:len(prefix)], prefix)
}

func isHiragana(r rune) bool { return r >= 0x3041 && r <= 0x309f }
