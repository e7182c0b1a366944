package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/unicode/rangetable"
)

// candidate is an encoding with the script of its languages. alphabets has a language's letters above ASCII, or its
// most frequent ones, in lower case. A missing letter only makes the guess weaker.
type candidate struct {
	enc       encoding.Encoding
	script    *unicode.RangeTable
	alphabets []string
}

// candidates are in the order of preference for equal scores. Windows-1252 is the most common encoding, and English
// text with a few curly quotes hardly distinguishes the others.
var candidates = []candidate{
	{charmap.Windows1252, unicode.Latin, []string{
		"äöüß", "àâçéèêëîïôùûœ", "áéíñóúü", "àáâãçéêíóôõú", "åäöæøé", "àèéìòù", "áæðéíóöúýþ", "áèéëïóöü",
	}},
	{japanese.ShiftJIS, kanjiAndKana, []string{kana + han}},
	{japanese.EUCJP, kanjiAndKana, []string{kana + han}},
	{simplifiedchinese.GB18030, unicode.Han, []string{han + "这个们为说时来对会国发学动过现还进经问间关开见实应点业体数没话" +
		"让认从样东长头书电车门风马鸟鱼龙员买卖请谢谁语读写规观觉览"}},
	{traditionalchinese.Big5, unicode.Han, []string{han + "這個們為說時來對會國發學動過現還進經問間關開見實應點業體數沒話" +
		"讓認從樣東長頭書電車門風馬鳥魚龍員買賣請謝誰語讀寫規觀覺覽"}},
	{korean.EUCKR, unicode.Hangul, []string{"이다는을를의에가하고지은로도사어시기자서나한대정인일스수있아그리전부제여보주장라원해상" +
		"습니합었되했과와으므만들며것등"}},
	{charmap.Windows1251, unicode.Cyrillic, []string{cyrillic}},
	{charmap.KOI8R, unicode.Cyrillic, []string{cyrillic}},
	{charmap.CodePage866, unicode.Cyrillic, []string{cyrillic}},
	{charmap.ISO8859_5, unicode.Cyrillic, []string{cyrillic}},
	{charmap.Windows1253, unicode.Greek, []string{"αοιετσνηυρκπμάέήίόύώς"}},
	{charmap.Windows1250, unicode.Latin, central},
	{charmap.ISO8859_2, unicode.Latin, central},
	{charmap.Windows1254, unicode.Latin, []string{"çğıİöşüâ"}},
	{charmap.Windows1257, unicode.Latin, []string{"ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"}},
	{charmap.Windows1255, unicode.Hebrew, []string{"אבדהוילמנרשת"}},
	{charmap.Windows1256, unicode.Arabic, []string{"اليمنرتوبةدعس"}},
	{charmap.Windows874, unicode.Thai, []string{"านรกอเงมยลว่"}},
}

var (
	kanjiAndKana = rangetable.Merge(unicode.Han, unicode.Hiragana, unicode.Katakana, rangetable.New('ー'))
	central      = []string{"ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíľňóôšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž"}
)

const (
	cyrillic = "аеиоуыэюянтсрвлкмдпіїєј"
	kana     = "あいうえおかがきぎくぐけげこごさざしじすせそただちっつてでとどなにぬねのはばひびふぶへべほまみむめもやゆよらり" +
		"るれろわをんアイウカキクグコサシジスタダチッテデトドナニネノバパフブプマムメャュョラリルレロワンー"
	han = "的一是不了在人有我他上大中小到和地出道也子里生以而可下之年自能多那要看天事用主行方又如前所本然同心面起成手日最高于都好" +
		"只作当想家三二十月水明新工文信名字今金分部法度全物定理利外加合北京市本田山川口目入力平安正公民文化社"
	signs = "“”‘’„‚«»–—…•·€£§°¿¡\u00a0©®™№" // probable in texts of any language
)

// guessEncoding returns the encoding as which a sample reads best, nil for UTF-8 with a few invalid bytes.
// TestEncodingsAreDecoded has texts that the weights of score must distinguish.
func guessEncoding(data []byte) encoding.Encoding {
	head := data[:min(len(data), sampleSize)]
	if mostlyUTF8(head) {
		return nil
	}
	best, bestScore := candidates[0].enc, -100.0
	for _, c := range candidates {
		out, err := c.enc.NewDecoder().Bytes(head)
		if err != nil {
			continue
		}
		if s := c.score(string(out)); s > bestScore {
			best, bestScore = c.enc, s
		}
	}
	return best
}

// score returns how much a decoded text reads like one: about 10 for a real text, less for wrongly decoded bytes. It
// is the mean over all runes above ASCII. A text has one language, so that its letters are of one alphabet. Letters
// of Latin script stand among those of ASCII, letters of other scripts among themselves.
func (c candidate) score(text string) float64 {
	sum, high := 0, 0
	letters := map[rune]int{}
	latin := c.script == unicode.Latin
	prev := ' '
	for i, r := range text {
		before := prev
		prev = r
		if max(before, r) < utf8.RuneSelf {
			continue
		}
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			sum -= 10
		}
		if r < utf8.RuneSelf {
			continue
		}
		high++
		switch {
		case unicode.Is(c.script, r):
			letters[r]++
			after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
			among := asciiLetter(before) || asciiLetter(after)
			if latin && !among {
				sum -= 3
			} else if !latin && (among || max(before, after) < utf8.RuneSelf) {
				sum -= 12
			}
		case isBad(r):
			sum -= 30
		case r >= 0x3000 && r <= 0x303F, r >= 0xFF00 && r <= 0xFF60, strings.ContainsRune(signs, r):
			sum += 9
		default:
			sum -= 10
		}
	}
	best := 0
	for _, alphabet := range c.alphabets {
		found := 0
		for r, n := range letters {
			switch {
			case strings.ContainsRune(alphabet, r):
				found += 10 * n
			case r >= 0x3000, strings.ContainsRune(alphabet, unicode.ToLower(r)):
				found += 5 * n
			default:
				found += 3 * n
			}
		}
		best = max(best, found)
	}
	return float64(sum+best) / float64(max(high, 1))
}

// isBad reports whether a rune is hardly in a text: not decodable, a C1 control character or private use.
func isBad(r rune) bool {
	return r == utf8.RuneError || r >= utf8.RuneSelf && r < 0xA0 || unicode.Is(unicode.Co, r)
}

func asciiLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
