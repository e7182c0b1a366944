package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
