package text

import (
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

// sample is how much of a text decides its language, in bytes.
const sample = 8 << 10

// Detect returns the language of s as ISO 639-1, or "" if it can't be told. It looks at the first 8 KiB.
func Detect(s string) string {
	if len(s) > sample {
		n := sample
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	if lang := byScript(s); lang != "" {
		return lang
	}
	if lang := byStopWords(s); lang != "" {
		return lang
	}
	info := whatlanggo.DetectWithOptions(s, whatlanggo.Options{Whitelist: detectable})
	if !info.IsReliable() {
		return ""
	}
	return info.Lang.Iso6391()
}

// detectable are the languages worth telling apart: the rest are mostly mistakes on short or technical texts.
var detectable = map[whatlanggo.Lang]bool{
	whatlanggo.Eng: true, whatlanggo.Fra: true, whatlanggo.Spa: true, whatlanggo.Deu: true, whatlanggo.Ita: true,
	whatlanggo.Por: true,
	whatlanggo.Nld: true, whatlanggo.Swe: true, whatlanggo.Nob: true, whatlanggo.Dan: true, whatlanggo.Fin: true,
	whatlanggo.Pol: true,
	whatlanggo.Ces: true, whatlanggo.Hun: true, whatlanggo.Ron: true, whatlanggo.Tur: true, whatlanggo.Vie: true,
	whatlanggo.Ind: true,
	whatlanggo.Rus: true, whatlanggo.Ukr: true, whatlanggo.Bul: true, whatlanggo.Srp: true, whatlanggo.Ell: true,
	whatlanggo.Arb: true,
	whatlanggo.Pes: true, whatlanggo.Urd: true, whatlanggo.Heb: true, whatlanggo.Hin: true, whatlanggo.Ben: true,
	whatlanggo.Tam: true,
	whatlanggo.Hrv: true,
}

// byScript tells the languages whose script is enough: a fifth of the letters, for technical texts are full of Latin
// words.
func byScript(s string) string {
	var han, kana, hangul, thai, letters int
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			if r|0x20 >= 'a' && r|0x20 <= 'z' {
				letters++
			}
			continue
		case r >= 0x3041 && r <= 0x30ff:
			kana++
		case unicode.Is(unicode.Han, r):
			han++
		case r >= 0xac00 && r <= 0xd7a3:
			hangul++
		case r >= 0x0e01 && r <= 0x0e4e:
			thai++
		}
		letters++
	}
	switch most := max(han+kana, hangul, thai); {
	case most == 0 || most*5 < letters:
		return ""
	case most == thai:
		return "th"
	case most == hangul:
		return "ko"
	case kana*10 > han:
		return "ja"
	default:
		return "zh"
	}
}

// byStopWords returns the language whose stop words make up most of the text, if they are at least a sixth of at
// least six words and well ahead of the next language's.
func byStopWords(s string) string {
	counts := make(map[string]int, len(languages))
	words := 0
	scanTokens(s, func(t token) bool {
		if t.grams {
			return true
		}
		words++
		lower := cleanToken(cutToken(s[t.start:t.end]))
		for lang, l := range languages {
			if l.stop != nil && l.stop(lower) {
				counts[lang]++
			}
		}
		return true
	})
	best, first, second := "", 0, 0
	for lang, n := range counts {
		switch {
		case n > first:
			best, first, second = lang, n, first
		case n > second:
			second = n
		}
	}
	if words >= 6 && first*6 >= words && first*4 > second*5 {
		return best
	}
	return ""
}
