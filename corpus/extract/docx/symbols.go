package docx

import (
	"strconv"
	"strings"
)

// symbol returns the Unicode character of a code in a symbol font, "" for an unknown one. A sym element (§17.3.3.30)
// has a font and a hexadecimal code. Word adds 0xF000 to codes of symbol fonts, which is Unicode's private area.
// Characters of other fonts are returned unchanged.
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
	case font == "wingdings 2":
		return wingdings2[at]
	case strings.HasPrefix(font, "wingdings"):
		return wingdings[at]
	case at >= 0xE000 && at <= 0xF8FF: // a private character
		return ""
	}
	return string(at)
}

// symbolFont maps codes of the font Symbol to characters, following Adobe's encoding. Codes that Adobe leaves free
// or uses for pieces of brackets are missing.
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
	for at := rune(0x20); at < 0x40; at++ { // digits and punctuation have their ASCII codes
		m[at] = string(at)
	}
	return m
}()

// wingdings maps the codes of that font that have a meaning in text.
var wingdings = map[rune]string{
	0x6C: "•", 0x6E: "■", 0x6F: "☐", 0x71: "❑", 0x76: "❖", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢", 0xE0: "→", 0xDF: "←",
	0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑", 0x4A: "☺", 0x4C: "☹", 0x28: "☎", 0x2A: "✉",
}

// wingdings2 maps the marks and boxes of that font.
var wingdings2 = map[rune]string{
	0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐",
}
