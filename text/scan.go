// Package text turns prose of any language into what the library works with: terms for the lexical index, sentences,
// token counts and languages. All of it is linear in its input and accepts invalid UTF-8. Its functions are safe for
// concurrent use.
//
// scan.go cuts a text into words and runs, query.go and stem.go make terms of these. sentences.go and statements.go
// find what can be read by itself, detect.go tells the language. formula.go knows TeX, quote_markdown.go escapes
// Markdown, marker.go and running.go read footnotes of models. The rest are small tests of a line's or a word's form.
//
// Documents and questions must go through the same functions: a term that is made in two ways is never found. A change
// here therefore needs the index to be made anew. It is a leaf: it imports nothing of this module.
package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxToken bounds one token in bytes: what is longer (keys, encoded data) is cut, so that it stays findable by its
// start.
const maxToken = 96

// token is a word or an unbroken run of a script that is written without spaces. Offsets are bytes. A number with
// points or commas in it is one token, see joinSize.
type token struct {
	start, end int
	grams      bool // to be cut in bigrams
	beside     bool // an apostrophe joins it to its neighbour: l'école, don't
}

// scanTokens yields the tokens of s in order until yield returns false. It looks at each byte a bounded number of
// times. ASCII letters, the most frequent, take a short way.
func scanTokens(s string, yield func(token) bool) {
	afterApostrophe := -1 // where a word would have to start to be beside one
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

// class says what a rune is for words: nothing, part of a word, a sign of a run, or a raised digit.
type class uint8

const (
	classOther class = iota
	classWord
	classGram
	classRaised // a superscript digit
)

// isUnit reports whether a superscript digit belongs to a piece of a word: to a unit or a variable, as in m², km² and
// x². Behind a number or a longer word it is the mark of a note.
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

// classifyAt returns the class of the rune at s[i] and its size in bytes. Marks belong to the word that they stand on.
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

// isUnspaced reports whether r belongs to a script whose words are not separated by spaces, or, for Hangul, whose words
// carry particles that bigrams see through. The ranges are blocks of Unicode, compared as numbers because it is asked
// for each rune above ASCII.
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

// joinSize returns the size of the mark at s[i] if the word from start goes on behind it: the point of 3.14 and v2.1,
// the comma of 1,000 and 3,5, a soft hyphen or a joiner. Else it returns 0. A comma joins if three digits follow it, as
// between thousands, or one or two that end the number, as before decimals. In a list such as 1,2,3 it joins nothing.
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

// countDigits counts the digits from s[i] on, up to four: more than three are no group.
func countDigits(s string, i int) int {
	n := 0
	for i+n < len(s) && n < 4 && isDigit(s[i+n]) {
		n++
	}
	return n
}

// allDigits reports whether s is a number so far. A number longer than 20 bytes is none, which also keeps scan linear.
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

// isPlain reports whether s has digits alone.
func isPlain(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

var superscripts = []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")

// Superscript returns digits, with the commas and dashes between them, as superscript digits, and any other text as it
// is. The mark of a note behind 1921 would else be read as a digit of the number.
func Superscript(s string) string {
	if s == "" || strings.Trim(s, "0123456789,-–") != "" || strings.Trim(s, ",-–") == "" {
		return s
	}
	return strings.Map(func(r rune) rune {
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

// Compose returns the one rune that a base letter and a combining mark make, if there is one. The marks are the
// combining diacritical marks (U+0300 to U+036F) and the two of kana. PDFs often have letter and mark apart.
func Compose(base, mark rune) (rune, bool) {
	if mark < 0x0300 || mark > 0x036f && mark != 0x3099 && mark != 0x309a {
		return 0, false
	}
	s := norm.NFC.String(string([]rune{base, mark}))
	r, size := utf8.DecodeRuneInString(s)
	return r, size == len(s)
}

// Unspaced reports whether r belongs to a script that is written without spaces between words, or to Hangul.
func Unspaced(r rune) bool { return isUnspaced(r) }

// Tokens estimates how many tokens a model makes of s: a quarter for each ASCII character, a half for other letters,
// one for each sign of a script without spaces. On English prose it is within about 5 %. An estimate is enough: there
// is no tokenizer for every model here, and budgets and sizes of passages have room for an error.
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

// Run is an unbroken run of a script that is written without spaces. Bigrams find words without knowing where these
// begin; what of a run is grammar must be known, or any two questions would have terms in common.
type Run struct {
	Runes   []rune   // as typed
	Terms   []string // Terms[i] stands for Runes[i] and Runes[i+1]; of a run of one rune there is one
	Grammar []bool   // of each rune: it carries no subject
	Letters []bool   // of each rune: it is a letter or a sign, not a mark on one
}

// Runs returns the runs of a question in scripts without spaces. A name in hiragana at the beginning of a sentence is
// no grammar, see leadingName.
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

// WordLetters is how many letters a word has at least in the script of a rune: two where one stands for a syllable or a
// meaning, three where it stands for a sound.
func WordLetters(r rune) int {
	if isAlphabetic(r) {
		return 3
	}
	return 2
}

// isAlphabetic reports whether a sign of a script without spaces stands for a sound: of Thai, Lao, Myanmar and Khmer.
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
	// what begins a Japanese question in hiragana without naming anything
	japaneseOpenings = slices.Collect(strings.FieldsSeq(
		`いつ どこ だれ どな なに なん なぜ いくら いくつ どの どう どれ どち この その あの これ それ あれ ここ そこ`,
	))
	japaneseParticles = "のはがをにでともへやか"
)

// grammarOf tells of each rune of a run whether it carries no subject. Hiragana are endings and particles in Japanese;
// the rest is told by the lists above.
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

// leadingName is how many runes of hiragana at the beginning of a run name something: behind a sign of another kind
// they are its ending or a particle, at the beginning of a sentence they are a word, up to its particle.
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
