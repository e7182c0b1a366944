package text

import (
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

// sample is the number of bytes used for language detection.
const sample = 8 << 10

// Detect returns the language of s as ISO 639-1, or "" if it is unknown. It looks at the first 8 KiB. It checks the
// script first, then stop words, then the letter statistics of the library whatlanggo if they are reliable.
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

// DetectForCertain is Detect for languages that are shown to users. It also returns "" if stop words and letters
// indicate different languages, as in Portuguese, whose stop words are not known here and often Spanish as well.
// Chinese requires two of its particles: signs alone may be a Japanese table.
func DetectForCertain(s string) string {
	lang := Detect(s)
	if lang == "zh" {
		seen := map[rune]bool{}
		for _, r := range s {
			if _, ok := particles[string(r)]; ok {
				seen[r] = true
			}
		}
		if len(seen) < 2 {
			return ""
		}
	}
	if byScript(s) != "" {
		return lang
	}
	letters := whatlanggo.DetectWithOptions(s[:min(len(s), sample)], whatlanggo.Options{Whitelist: detectable})
	if letters.IsReliable() && letters.Lang.Iso6391() != lang {
		return ""
	}
	return lang
}

// detectable are the supported languages of whatlanggo: others are mostly errors on short or technical texts.
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

// byScript returns the language if the script determines it: a fifth of the letters, since technical texts are full
// of Latin words. Kana indicate Japanese even if they are only a tenth of the signs.
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

// byStopWords returns the language whose stop words are at least a sixth of at least six words, and a quarter more
// than the next language's. Fewer words are ambiguous: "in" and "die" are words of several languages.
func byStopWords(s string) string {
	best, words, first, second := mostStopWords(s)
	if words >= 6 && first*6 >= words && first*4 > second*5 {
		return best
	}
	return ""
}

// SmallWords returns a function that reports whether a word of the question is a stop word. The language must have
// two stop words that are at least half of the words, and twice as many as the next language's. It accepts shorter
// texts than Detect, since an error costs little here.
func SmallWords(question string) func(word string) bool {
	best, words, first, second := mostStopWords(question)
	if first < 2 || first*2 < words || first < second*2 {
		return func(string) bool { return false }
	}
	return languages[best].stop
}

// mostStopWords counts the words of a text, and the stop words of the languages with the most and the second most.
// Languages without a list are skipped.
func mostStopWords(s string) (best string, words, first, second int) {
	counts := make(map[string]int, len(languages))
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
	for lang, n := range counts {
		switch {
		case n > first:
			best, first, second = lang, n, first
		case n > second:
			second = n
		}
	}
	return best, words, first, second
}
