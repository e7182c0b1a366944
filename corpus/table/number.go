package table

import (
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxDigits       = 400 // digits of a number, with its exponent as zeros
	maxUnit         = 12  // runes of a unit
	maxNumeral      = 500 // maximum bytes of a number cell
	currencyLetters = 3   // letters of a currency such as EUR; the maximum of a unit before a number
)

// form is the number format of a column: the decimal separator. The other separator may group digits.
type form rune

// The forms.
const (
	pointForm form = '.' // 1,234.50
	commaForm form = ',' // 1.234,50
)

// number is a parsed number with its unit: a currency, "%", "kg" or empty. decimals is the number of decimals
// written, so that a sum can be shown with as many.
type number struct {
	value    *big.Rat
	unit     string
	before   bool // the unit precedes the digits
	space    bool // with a space in between
	decimals int
	grouped  rune // the group separator; 0: none
}

// plainSigns normalises characters in numbers. The no-break space, its narrow form and the thin space group digits;
// the minus sign and the dash are signs; Switzerland groups digits with an apostrophe, mostly the curly one; the
// last is the full-width percent sign of East Asia.
var plainSigns = strings.NewReplacer(
	"\u00a0", " ", "\u202f", " ", "\u2009", " ", "−", "-", "–", "-", "’", "'", "％", "%",
)

// plainNumeral returns a cell with normalised signs and digits.
func plainNumeral(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r >= '０' && r <= '９' {
			return r - '０' + '0'
		}
		return r
	}, plainSigns.Replace(s))
}

// readNumber parses a cell in a number format. ok is false for words, dates, and codes with leading zeros. The text
// around the digits must be signs and one unit. Accounting parentheses or a minus on either side make the number
// negative, but not both.
func readNumber(cell string, f form) (n number, ok bool) {
	if len(cell) > maxNumeral {
		return n, false
	}
	s := plainNumeral(strings.TrimSpace(cell))
	// Bytes are enough from here on: all relevant digits and signs are ASCII.
	first, last := strings.IndexAny(s, "0123456789"), strings.LastIndexAny(s, "0123456789")
	if first < 0 {
		return n, false
	}
	// The number may begin with the decimal separator.
	if first > 0 && rune(s[first-1]) == rune(f) { // .5
		first--
	}
	before, middle, after := s[:first], s[first:last+1], s[last+1:]
	negative := false
	if strings.HasPrefix(before, "(") && strings.HasSuffix(after, ")") { // accounting notation
		before, after, negative = before[1:], after[:len(after)-1], true
	}
	// One minus is allowed, on either side. After the digits it must follow directly, as in accounting: "5-".
	for _, side := range []*string{&before, &after} {
		switch {
		case strings.Contains(*side, "-"):
			if negative || strings.Count(*side, "-") > 1 || side == &after && !strings.HasPrefix(*side, "-") {
				return n, false
			}
			*side, negative = strings.Replace(*side, "-", "", 1), true
		case side == &before && strings.Contains(*side, "+"):
			*side = strings.Replace(*side, "+", "", 1)
		}
	}
	if n.unit, n.before, n.space, ok = readUnit(before, after); !ok {
		return n, false
	}
	if ok = n.readDigits(middle, f); !ok {
		return n, false
	}
	if negative {
		n.value.Neg(n.value)
	}
	return n, true
}

// readUnit parses the text before or after the digits, on one side only: a currency or percent sign, or a word. A
// word is separated from the digits, except for a currency of three capitals. A word before the digits must be
// short: “Room 12” is not a number. Four runes may be neither letters nor signs, as in "km/h" or "m²".
func readUnit(before, after string) (unit string, first, space, ok bool) {
	unit = strings.TrimSpace(before)
	first = unit != ""
	if other := strings.TrimSpace(after); other != "" {
		if first {
			return "", false, false, false
		}
		unit = other
	}
	if unit == "" {
		return "", false, false, true
	}
	letters, capitals, sign := 0, 0, false
	for _, r := range unit {
		switch {
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) {
				capitals++
			}
		case unicode.Is(unicode.Sc, r) || r == '%' || r == '‰':
			sign = true
		case !strings.ContainsRune("./°²³", r):
			return "", false, false, false
		}
	}
	space = strings.HasSuffix(before, " ") || strings.HasPrefix(after, " ")
	apart := sign || letters > 0 && space || letters == currencyLetters && capitals == letters
	short := utf8.RuneCountInString(unit) <= maxUnit && (!first || letters <= currencyLetters)
	return unit, first, space, apart && short
}

// readDigits parses the digits of a number, in groups of three (in India two and three) or ungrouped, with decimals
// and an exponent. The exponent counts towards maxDigits, so that "1e999" can't exhaust memory.
func (n *number) readDigits(s string, f form) bool {
	mantissa, exponent := s, 0
	// Parse the exponent by hand, at most four digits, since SetString would compute 1e999999999.
	if at := strings.IndexAny(s, "eE"); at >= 0 {
		mantissa = s[:at]
		for i, r := range strings.TrimLeft(s[at+1:], "+-") {
			if r < '0' || r > '9' || i > 3 {
				return false
			}
			exponent = exponent*10 + int(r-'0')
		}
		if strings.Contains(s[at+1:], "-") {
			exponent = -exponent
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, string(rune(f)))
	digits, ok := n.joinGroups(whole, f)
	if !ok || strings.IndexFunc(fraction, func(r rune) bool { return r < '0' || r > '9' }) >= 0 ||
		len(digits)+len(fraction)+max(exponent, -exponent) > maxDigits || digits == "" && fraction == "" {
		return false
	}
	if len(digits) > 1 && digits[0] == '0' && n.unit == "" && fraction == "" {
		return false // 007
	}
	// Exact arithmetic keeps sums of money exact, unlike float64.
	value, ok := new(big.Rat).SetString("0" + digits + "." + fraction + "0")
	if !ok {
		return false
	}
	if n.value = value; exponent != 0 {
		size := big.NewInt(int64(max(exponent, -exponent)))
		power := new(big.Rat).SetInt(size.Exp(big.NewInt(10), size, nil))
		if exponent < 0 {
			power.Inv(power)
		}
		value.Mul(value, power)
	}
	n.decimals = max(len(fraction)-exponent, 0)
	return true
}

// joinGroups joins the digit groups of a whole number. All groups have the same separator; the first has one to
// three digits and no leading zero. In India the inner groups have two digits, "12,34,567".
func (n *number) joinGroups(s string, f form) (digits string, ok bool) {
	if strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0 {
		return s, true
	}
	groups := []string{""}
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			groups[len(groups)-1] += string(r)
		case r == rune(f) || !strings.ContainsRune(",. '", r) || n.grouped != 0 && n.grouped != r:
			return "", false
		default:
			n.grouped = r
			groups = append(groups, "")
		}
	}
	if len(groups) == 1 {
		return groups[0], true
	}
	for i, g := range groups {
		last := i == len(groups)-1
		short := len(g) == 2 && n.grouped == ',' // 12,34,567
		if i == 0 && (len(g) == 0 || len(g) > 3 || g[0] == '0') || i > 0 && len(g) != 3 && (last || !short) {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}
