package mathml

import "strings"

// font maps letters and digits to the mathematical alphabets of Unicode. A zero first character leaves them
// unchanged.
type font struct {
	upper, lower, digit rune
	holes               map[rune]rune // letters with an older Unicode code point
	words               bool          // adjacent letters are one word
}

var fonts = map[string]*font{
	`\mathrm`: {words: true}, `\mathnormal`: nil, `\mathup`: {words: true}, `\rm`: {words: true},
	`\mathbf`: {upper: 0x1D400, lower: 0x1D41A, digit: 0x1D7CE, words: true},
	`\mathit`: {upper: 0x1D434, lower: 0x1D44E, holes: map[rune]rune{'h': 'ℎ'}, words: true},
	`\bm`:     {upper: 0x1D468, lower: 0x1D482, digit: 0x1D7CE},
	`\mathsf`: {upper: 0x1D5A0, lower: 0x1D5BA, digit: 0x1D7E2, words: true},
	`\mathtt`: {upper: 0x1D670, lower: 0x1D68A, digit: 0x1D7F6, words: true},
	`\mathcal`: {upper: 0x1D49C, lower: 0x1D4B6, holes: map[rune]rune{
		'B': 'ℬ', 'E': 'ℰ', 'F': 'ℱ', 'H': 'ℋ', 'I': 'ℐ', 'L': 'ℒ', 'M': 'ℳ', 'R': 'ℛ', 'e': 'ℯ', 'g': 'ℊ', 'o': 'ℴ',
	}},
	`\mathfrak`: {upper: 0x1D504, lower: 0x1D51E, holes: map[rune]rune{
		'C': 'ℭ', 'H': 'ℌ', 'I': 'ℑ', 'R': 'ℜ', 'Z': 'ℨ',
	}},
	`\mathbb`: {upper: 0x1D538, lower: 0x1D552, digit: 0x1D7D8, holes: map[rune]rune{
		'C': 'ℂ', 'H': 'ℍ', 'N': 'ℕ', 'P': 'ℙ', 'Q': 'ℚ', 'R': 'ℝ', 'Z': 'ℤ',
	}},
}

func init() {
	for same, as := range map[string]string{
		`\boldsymbol`: `\bm`, `\pmb`: `\bm`, `\bold`: `\mathbf`, `\mathscr`: `\mathcal`, `\Bbb`: `\mathbb`,
		`\bf`: `\mathbf`, `\it`: `\mathit`, `\sf`: `\mathsf`, `\tt`: `\mathtt`, `\cal`: `\mathcal`,
	} {
		fonts[same] = fonts[as]
	}
}

// mapped returns a text in the letters of a font.
func (f *font) mapped(s string) string {
	if f == nil || f.upper == 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if hole, ok := f.holes[r]; ok {
			return hole
		}
		switch {
		case r >= 'A' && r <= 'Z':
			return f.upper + r - 'A'
		case r >= 'a' && r <= 'z':
			return f.lower + r - 'a'
		case r >= '0' && r <= '9' && f.digit > 0:
			return f.digit + r - '0'
		case f.upper == 0x1D468 && r >= 'α' && r <= 'ω': // bold italic Greek
			return 0x1D736 + r - 'α'
		case f.upper == 0x1D468 && r >= 'Α' && r <= 'Ω':
			return 0x1D71C + r - 'Α'
		}
		return r
	}, s)
}
