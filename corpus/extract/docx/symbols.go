package docx

import (
	"strconv"
	"strings"
)

// symbol is the character that a symbol font draws for a code. One that is not known is left out. A sym element
// (§17.3.3.30) names a font and a code in hexadecimal; Word adds 0xF000 to codes of symbol fonts, which moves them into
// Unicode's private area. Characters of other fonts stand for themselves.
func symbol(font, code string) string {
	n, err := strconv.ParseUint(code, 16, 32)
	if err != nil {
		return ""
	}
	at := rune(n)
	if at >= 0xF000 && at <= 0xF0FF {
		at -= 0xF000
	}
	switch font = strings.ToLower(font); {
	case font == "symbol":
		return symbolFont[at]
	case strings.HasPrefix(font, "wingdings"):
		return wingdings[at]
	case at >= 0xE000 && at <= 0xF8FF: // a private character
		return ""
	}
	return string(at)
}

// symbolFont are the letters and signs of the font Symbol, by Adobe's encoding of it. Codes that Adobe leaves free or
// uses for pieces of brackets are missing.
var symbolFont = func() map[rune]string {
	m := map[rune]string{}
	for first, signs := range map[rune]string{
		0x41: "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", 0x61: "αβχδεφγηιϕκλμνοπθρστυϖωξψζ",
		0xA3: "≤⁄∞", 0xAB: "↔←↑→↓°±″≥×∝∂•÷≠≡≈…", 0xC4: "⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓",
	} {
		for i, sign := range []rune(signs) {
			m[first+rune(i)] = string(sign)
		}
	}
	for at := rune(0x20); at < 0x40; at++ { // digits and punctuation are where they are in ASCII
		m[at] = string(at)
	}
	return m
}()

// wingdings are the signs of that font that stand for something in a text.
var wingdings = map[rune]string{
	0x6C: "•", 0x6E: "■", 0x6F: "☐", 0x71: "❑", 0x76: "❖", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢", 0xE0: "→", 0xDF: "←",
	0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑", 0x4A: "☺", 0x4C: "☹", 0x28: "☎", 0x2A: "✉",
}
