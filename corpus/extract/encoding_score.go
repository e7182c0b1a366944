package extract

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// census counts classes of runes in a text decoded with one encoding. Counts are of runes above ASCII unless noted.
// Detection decodes the same bytes with every candidate encoding and compares the scores of their censuses. The
// share of common letters or syllables is a better signal than that of the script: wrongly decoded bytes become any
// letter, real text the common ones.
type census struct {
	high       int
	bad        int // not decodable, private use, C1 controls
	kana       int
	halfKana   int // half-width katakana, which wrong bytes mostly decode to in Shift-JIS
	hangul     int
	commonHang int
	han        int
	commonHan  int
	simplified int
	tradition  int
	cyrillic   int
	vowels     int // Cyrillic
	upperCyr   int
	signs      int // quotes, dashes and other punctuation in plausible positions
	greek      int
	hebrew     int
	commonHebr int
	arabic     int
	western    int // letters of west European languages
	central    int // letters that only central European languages have
	symbols    int // symbols that are rare inside words
	caseBreaks int // an upper-case letter right after a lower-case one, outside ASCII
	inWord     int // letters above ASCII next to an ASCII letter
	wide       int // full-width forms and CJK punctuation
	rareHan    int
}

// tryDecode decodes data with enc and returns its census. ok is false if too much of it is invalid. More than one
// bad rune in a hundred rules out a multi-byte encoding. It never rules out a single-byte encoding, whose score
// falls instead. Data without bytes above ASCII is never ok, since it has no evidence.
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

// countRune counts a rune above ASCII in the first class that matches. Half-width katakana and bad runes are checked
// first, since they also match a larger class.
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

// countHan counts a Chinese character by its frequency and spelling. U+4E00 to U+9FA5 are the 20,902 characters of
// Unicode 1.1. Ordinary text hardly has others, and wrongly decoded text does.
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
	// Each set holds only the letters or syllables that are the most frequent in running text. A missing rune only
	// makes the guess weaker.
	westernLetters = runeSet("äöüßÄÖÜéèêëáàâãåæçíìîïñóòôõøœúùûÿýÉÈÊÀÂÁÅÆÇÍÎÑÓÔØŒÚÛ")
	centralLetters = runeSet("ąćęłńśźżĄĆĘŁŃŚŹŻčďěňřšťůžČĎĚŇŘŠŤŮŽőűŐŰșțăȘȚĂşţŞŢđĐľĺŕ")
	quotes         = runeSet("“”‘’„‚«»–—…•·€£§°¿¡\u00a0©®™№")
	midWord        = runeSet("¿¡£§°©®") // implausible inside a word
	cyrillicVowels = runeSet("аеиоуыэюяёіїє")
	commonHebrew   = runeSet("יוהלאת")
	commonHangul   = runeSet("이다는을를의에가하고지은로도사어시기자서나한대정인일스수있아그리전부제여보주장라원해상습니합었되했과와으므만들며것등")
	simplifiedHan  = runeSet("这个们为说时来对会国发学动过现还进经问间关开见实应点业体数没话让认从样东长头书电车门风马鸟鱼龙员买卖请谢谁语读写见规观觉览")
	traditionalHan = runeSet("這個們為說時來對會國發學動過現還進經問間關開見實應點業體數沒話讓認從樣東長頭書電車門風馬鳥魚龍員買賣請謝誰語讀寫見規觀覺覽")
	commonHan      = runeSet(
		"的一是不了在人有我他上大中小到和地出道也子里生以而可下之年自能多那要看天事用主行方又如前所本然同心面起成手日最高于都好只作当想家三二十月水明新工文信名字今金分部法度全物定理利外加合北京市本田山川口目入力平安正公民文化社",
	)
)

// shareOf returns n as a share of the runes above ASCII. All scores are weighted sums of such shares: weights are
// positive for runes that are likely in a text of that encoding, and negative for unlikely ones. Only the order of
// scores matters, not their values. TestTextInAnyEncodingIsDecoded has the texts that the weights must distinguish.
func (c *census) shareOf(n int) float64 { return float64(n) / float64(max(c.high, 1)) }

// scoreKana scores both Japanese encodings. Kana are most of a Japanese text. Half-width katakana result from
// decoding other encodings as Shift-JIS.
func scoreKana(c *census) float64 {
	return c.shareOf(c.kana)*1.6 + c.shareOf(c.wide)*0.8 + c.shareOf(c.commonHan)*0.9 +
		c.shareOf(c.han-c.commonHan)*0.35 -
		c.shareOf(c.halfKana)*1.2 - c.shareOf(c.rareHan+c.symbols+c.cyrillic+c.greek)*1.5 -
		c.shareOf(c.bad)*3 - c.shareOf(
		c.inWord,
	)*0.3
}

// scoreHan is the common part of both Chinese scores. hanSimplified and hanTraditional subtract the share of the
// other spelling.
func scoreHan(c *census) float64 {
	return c.shareOf(c.commonHan)*1.3 + c.shareOf(c.wide)*0.8 +
		c.shareOf(c.han-c.commonHan)*0.35 - c.shareOf(c.kana)*0.3 -
		c.shareOf(c.rareHan+c.symbols+c.cyrillic+c.greek+c.hangul)*1.5 - c.shareOf(c.bad)*3 - c.shareOf(c.inWord)*0.5
}

func hanSimplified(c *census) float64  { return scoreHan(c) - c.shareOf(c.tradition)*0.8 }
func hanTraditional(c *census) float64 { return scoreHan(c) - c.shareOf(c.simplified)*0.8 }

// scoreHangul prefers common syllables. The bytes of EUC-KR and GB18030 have the same range, and a Chinese text
// decoded as Korean has rare syllables.
func scoreHangul(c *census) float64 {
	return c.shareOf(c.hangul)*0.6 + c.shareOf(c.commonHang)*1.5 + c.shareOf(c.wide)*0.5 + c.shareOf(c.han)*0.1 -
		c.shareOf(c.kana+c.rareHan+c.symbols)*1.5 - c.shareOf(c.bad)*3 - c.shareOf(c.inWord)*0.5
}

// scoreWestern prefers western letters inside words of ASCII letters, as in "für". in is the share of such letters.
func scoreWestern(c *census) float64 {
	in := float64(min(c.inWord, c.high)) / float64(max(c.high, 1))
	return c.shareOf(c.western)*(0.55+0.35*in) + c.shareOf(c.signs)*0.4 + 0.4*in - c.shareOf(c.symbols)*0.6 - c.shareOf(
		c.bad,
	)*2 - c.shareOf(c.caseBreaks)
}

// scoreCentral is close to scoreWestern, because Windows-1250 and 1252 share most letters. It starts a little lower,
// and only letters that western languages don't have can raise it above.
func scoreCentral(c *census) float64 {
	in := float64(min(c.inWord, c.high)) / float64(max(c.high, 1))
	return c.shareOf(c.western+c.central)*(0.5+0.35*in) + c.shareOf(c.signs)*0.4 + 0.4*in - c.shareOf(
		c.symbols,
	)*0.7 - c.shareOf(c.bad)*2 - c.shareOf(c.caseBreaks) +
		min(c.shareOf(c.central), 0.5)*0.05 - 0.06
}

// scoreCyrillic prefers vowels and lower-case letters. Text decoded with the wrong one of the three Cyrillic
// encodings has capitals in place of small letters and consonants in place of vowels.
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
