package text

import (
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

// sample is how much of a text decides its language, in bytes.
const sample = 8 << 10

// Detect returns the language of s as ISO 639-1, or "" if it can't be told. It looks at the first 8 KiB. The surest
// sign comes first: the script, then small words, of which every sentence has some, then the statistics of letters that
// the library whatlanggo has, if it is sure.
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

// DetectForCertain is Detect for what is said to people. It is empty too where the small words of s tell one language
// and its letters another, as in Portuguese, whose small words are not known here and many of which are Spanish as
// well. Signs alone may be a Japanese table: for Chinese there must be two of its particles.
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
// words. Kana tell Japanese from Chinese even where they are only a tenth of the signs.
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

// byStopWords returns the language whose stop words make up most of the text, if they are at least a sixth of at least
// six words and well ahead of the next language's. "Well ahead" is a quarter more. Fewer words say too little: "in" and
// "die" are words of several languages.
func byStopWords(s string) string {
	best, words, first, second := mostStopWords(s)
	if words >= 6 && first*6 >= words && first*4 > second*5 {
		return best
	}
	return ""
}

// SmallWords reports of the words of a question whether they only join others: stop words of the language that two and
// at least half of its words are of, and twice as many as of the next. It tells more languages than Detect of a few
// words, for which a mistake costs little.
func SmallWords(question string) func(word string) bool {
	best, words, first, second := mostStopWords(question)
	if first < 2 || first*2 < words || first < second*2 {
		return func(string) bool { return false }
	}
	return languages[best].stop
}

// mostStopWords counts the words of a text, and those that are stop words of the language that has most, and of the
// next. Languages without a list are never the best.
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
