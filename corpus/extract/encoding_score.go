package extract

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// census counts what a text reads like in one encoding. Counts are of runes above ASCII unless said.
type census struct {
	high       int
	bad        int // not decodable, private use, C1 controls
	kana       int
	halfKana   int // half-width katakana, what most wrong bytes read like in Shift-JIS
	hangul     int
	commonHang int
	han        int
	commonHan  int
	simplified int
	tradition  int
	cyrillic   int
	vowels     int // Cyrillic
	upperCyr   int
	signs      int // quotes, dashes and the like, where they belong
	greek      int
	hebrew     int
	commonHebr int
	arabic     int
	western    int // letters of west European languages
	central    int // letters that only central European languages have
	symbols    int // signs that rarely stand inside words
	caseBreaks int // an upper-case letter right behind a lower-case one, outside ASCII
	inWord     int // letters above ASCII beside an ASCII letter
	wide       int // full-width forms and CJK punctuation
	rareHan    int
}

// tryDecode takes the census of data in enc; ok is false if too much of it is not valid.
func tryDecode(enc encoding.Encoding, data []byte, multi bool) (census, bool) {
	var c census
	out, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return c, false
	}
	prev := ' '
	for _, r := range string(out) {
		if r >= 0x80 {
			c.high++
			c.countRune(r, prev)
		} else if prev >= 0x80 && asciiLetter(r) && unicode.IsLetter(prev) {
			c.inWord++
			if unicode.IsUpper(r) && unicode.IsLower(prev) {
				c.caseBreaks++
			}
		}
		prev = r
	}
	limit := c.high / 100
	if multi {
		limit = max(limit, 1) // the sample may end inside a character
	}
	return c, c.high > 0 && (c.bad <= limit || !multi)
}

func asciiLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func (c *census) countRune(r, prev rune) {
	switch {
	case r == utf8.RuneError || r < 0xA0 || unicode.Is(unicode.Co, r):
		c.bad++
	case r >= 0xFF61 && r <= 0xFF9F:
		c.halfKana++
	case unicode.In(r, unicode.Hiragana, unicode.Katakana) || r == 'ー':
		c.kana++
	case r >= 0xAC00 && r <= 0xD7A3:
		c.hangul++
		if commonHangul[r] {
			c.commonHang++
		}
	case unicode.Is(unicode.Han, r):
		c.han++
		c.countHan(r)
	case unicode.Is(unicode.Cyrillic, r):
		c.cyrillic++
		if unicode.IsUpper(r) {
			c.upperCyr++
		}
		if cyrillicVowels[unicode.ToLower(r)] {
			c.vowels++
		}
	case unicode.Is(unicode.Greek, r):
		c.greek++
	case unicode.Is(unicode.Hebrew, r):
		c.hebrew++
		if commonHebrew[r] {
			c.commonHebr++
		}
	case unicode.Is(unicode.Arabic, r):
		c.arabic++
	case r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFF60:
		c.wide++
	case westernLetters[r]:
		c.western++
	case centralLetters[r]:
		c.central++
	case quotes[r] && !(midWord[r] && unicode.IsLetter(prev)):
		c.signs++
	default:
		c.symbols++
	}
	if unicode.IsUpper(r) && unicode.IsLower(prev) {
		c.caseBreaks++
	}
	if asciiLetter(prev) && unicode.IsLetter(r) {
		c.inWord++
	}
}

func (c *census) countHan(r rune) {
	switch {
	case simplifiedHan[r]:
		c.simplified++
		c.commonHan++
	case traditionalHan[r]:
		c.tradition++
		c.commonHan++
	case commonHan[r]:
		c.commonHan++
	case r < 0x4E00 || r > 0x9FA5:
		c.rareHan++
	}
}

func runeSet(s string) map[rune]bool {
	m := map[rune]bool{}
	for _, r := range s {
		m[r] = true
	}
	return m
}

var (
	westernLetters = runeSet("äöüßÄÖÜéèêëáàâãåæçíìîïñóòôõøœúùûÿýÉÈÊÀÂÁÅÆÇÍÎÑÓÔØŒÚÛ")
	centralLetters = runeSet("ąćęłńśźżĄĆĘŁŃŚŹŻčďěňřšťůžČĎĚŇŘŠŤŮŽőűŐŰșțăȘȚĂşţŞŢđĐľĺŕ")
	quotes         = runeSet("“”‘’„‚«»–—…•·€£§°¿¡\u00a0©®™№")
	midWord        = runeSet("¿¡£§°©®") // wrong inside a word
	cyrillicVowels = runeSet("аеиоуыэюяёіїє")
	commonHebrew   = runeSet("יוהלאת")
	commonHangul   = runeSet("이다는을를의에가하고지은로도사어시기자서나한대정인일스수있아그리전부제여보주장라원해상습니합었되했과와으므만들며것등")
	simplifiedHan  = runeSet("这个们为说时来对会国发学动过现还进经问间关开见实应点业体数没话让认从样东长头书电车门风马鸟鱼龙员买卖请谢谁语读写见规观觉览")
	traditionalHan = runeSet("這個們為說時來對會國發學動過現還進經問間關開見實應點業體數沒話讓認從樣東長頭書電車門風馬鳥魚龍員買賣請謝誰語讀寫見規觀覺覽")
	commonHan      = runeSet(
		"的一是不了在人有我他上大中小到和地出道也子里生以而可下之年自能多那要看天事用主行方又如前所本然同心面起成手日最高于都好只作当想家三二十月水明新工文信名字今金分部法度全物定理利外加合北京市本田山川口目入力平安正公民文化社",
	)
)

// Each score is positive for a text that is likely in its encoding; the unit is the share of runes above ASCII.
func (c *census) shareOf(n int) float64 { return float64(n) / float64(max(c.high, 1)) }

func scoreKana(c *census) float64 {
	return c.shareOf(c.kana)*1.6 + c.shareOf(c.wide)*0.8 + c.shareOf(c.commonHan)*0.9 +
		c.shareOf(c.han-c.commonHan)*0.35 -
		c.shareOf(c.halfKana)*1.2 - c.shareOf(c.rareHan+c.symbols+c.cyrillic+c.greek)*1.5 -
		c.shareOf(c.bad)*3 - c.shareOf(
		c.inWord,
	)*0.3
}

func scoreHan(c *census) float64 {
	return c.shareOf(c.commonHan)*1.3 + c.shareOf(c.wide)*0.8 +
		c.shareOf(c.han-c.commonHan)*0.35 - c.shareOf(c.kana)*0.3 -
		c.shareOf(c.rareHan+c.symbols+c.cyrillic+c.greek+c.hangul)*1.5 - c.shareOf(c.bad)*3 - c.shareOf(c.inWord)*0.5
}

func hanSimplified(c *census) float64  { return scoreHan(c) - c.shareOf(c.tradition)*0.8 }
func hanTraditional(c *census) float64 { return scoreHan(c) - c.shareOf(c.simplified)*0.8 }

func scoreHangul(c *census) float64 {
	return c.shareOf(c.hangul)*0.6 + c.shareOf(c.commonHang)*1.5 + c.shareOf(c.wide)*0.5 + c.shareOf(c.han)*0.1 -
		c.shareOf(c.kana+c.rareHan+c.symbols)*1.5 - c.shareOf(c.bad)*3 - c.shareOf(c.inWord)*0.5
}

func scoreWestern(c *census) float64 {
	in := float64(min(c.inWord, c.high)) / float64(max(c.high, 1))
	return c.shareOf(c.western)*(0.55+0.35*in) + c.shareOf(c.signs)*0.4 + 0.4*in - c.shareOf(c.symbols)*0.6 - c.shareOf(
		c.bad,
	)*2 - c.shareOf(c.caseBreaks)
}

func scoreCentral(c *census) float64 {
	in := float64(min(c.inWord, c.high)) / float64(max(c.high, 1))
	return c.shareOf(c.western+c.central)*(0.5+0.35*in) + c.shareOf(c.signs)*0.4 + 0.4*in - c.shareOf(
		c.symbols,
	)*0.7 - c.shareOf(c.bad)*2 - c.shareOf(c.caseBreaks) +
		min(c.shareOf(c.central), 0.5)*0.05 - 0.06
}

func scoreCyrillic(c *census) float64 {
	return c.shareOf(c.cyrillic)*0.6 + min(c.shareOf(c.vowels), 0.5)*1.6 - c.shareOf(c.upperCyr)*0.35 - c.shareOf(
		c.caseBreaks,
	)*2 - c.shareOf(c.inWord)*1.5 - c.shareOf(c.symbols)*0.7 - c.shareOf(c.bad)*2
}

func scoreGreek(c *census) float64 {
	return c.shareOf(c.greek)*1.15 - c.shareOf(c.caseBreaks)*2 - c.shareOf(c.inWord)*1.5 -
		c.shareOf(c.symbols)*0.7 - c.shareOf(
		c.bad,
	)*2
}

func scoreHebrew(c *census) float64 {
	return c.shareOf(c.hebrew)*0.7 + min(c.shareOf(c.commonHebr), 0.5)*1.2 - c.shareOf(c.inWord)*1.5 - c.shareOf(
		c.symbols,
	)*0.9 - c.shareOf(c.bad)*2
}

func scoreArabic(c *census) float64 {
	return c.shareOf(c.arabic)*1.1 - c.shareOf(c.western)*0.8 - c.shareOf(c.inWord)*1.5 -
		c.shareOf(c.symbols)*0.7 - c.shareOf(
		c.bad,
	)*2
}
