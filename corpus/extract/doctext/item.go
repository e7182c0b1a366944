package doctext

import (
	"fmt"
	"strconv"
	"strings"
)

// ItemMark parses the marker of a list item. A bullet has the ordinal 0; numbers are such as "3.", "(3)", "c)" or
// "(iv)". A letter with a full stop is an initial and no marker. The limits are 999 for decimal and 39 for Roman
// numbers, because a year at the start of a line is no marker. "i" in brackets is Roman.
func ItemMark(word string) (ordinal int, ok bool) {
	switch word {
	case "•", "◦", "▪", "■", "●", "○", "‣", "–", "-", "*", "·":
		return 0, true
	}
	body, enclosed := strings.CutPrefix(word, "(")
	body, bracket := strings.CutSuffix(body, ")")
	if !bracket {
		var point bool
		if body, point = strings.CutSuffix(body, "."); !point || enclosed {
			return 0, false
		}
	}
	if len(body) > 4 || body == "" {
		return 0, false
	}
	if n, err := strconv.Atoi(body); err == nil {
		return n, n > 0 && n < 1000
	}
	if !bracket {
		return 0, false
	}
	if len(body) == 1 && body != "i" && body[0] >= 'a' && body[0] <= 'z' {
		return int(body[0]-'a') + 1, true
	}
	for n := 1; n < 40; n++ {
		if romanNumeral(n) == body {
			return n, true
		}
	}
	return 0, false
}

// ItemNumber formats the number of a list item. The styles of HTML's type attribute are "1", "a", "A", "i" and "I".
// Others are "aa" and "AA", where bb follows after aa and not ab, "01" and "1st". Roman numerals from 4000 on fall
// back to decimal. "a" and "i" return "" for zero.
func ItemNumber(n int, style string) string {
	switch style {
	case "a", "A":
		s := ""
		for rest := n; rest > 0; rest = (rest - 1) / 26 {
			s = string(rune('a'+(rest-1)%26)) + s
		}
		return inCase(s, style)
	case "aa", "AA":
		if n > 0 {
			return inCase(strings.Repeat(string(rune('a'+(n-1)%26)), min((n-1)/26+1, maxLetters)), style)
		}
	case "i", "I":
		if n < 4000 {
			return inCase(romanNumeral(n), style)
		}
	case "01":
		return fmt.Sprintf("%02d", n)
	case "1st":
		return strconv.Itoa(n) + ordinalEnding(n)
	}
	return strconv.Itoa(n)
}

// maxLetters bounds the styles "aa" and "AA", which repeat a letter for each round of the alphabet.
const maxLetters = 20 // letters of a number

// ordinalEnding returns the English ordinal suffix; 11, 12 and 13 end with "th".
func ordinalEnding(n int) string {
	switch {
	case n%100/10 == 1:
		return "th"
	case n%10 == 1:
		return "st"
	case n%10 == 2:
		return "nd"
	case n%10 == 3:
		return "rd"
	}
	return "th"
}

// inCase returns s in upper case if the style is upper case.
func inCase(s, style string) string {
	if style == strings.ToUpper(style) {
		return strings.ToUpper(s)
	}
	return s
}

// romanNumeral formats a number from 1 to 3999 in lower case. The values include the pairs for 4 and 9.
func romanNumeral(n int) string {
	var b strings.Builder
	for _, part := range []struct {
		value int
		sign  string
	}{
		{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"},
		{10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"},
	} {
		for ; n >= part.value; n -= part.value {
			b.WriteString(part.sign)
		}
	}
	return b.String()
}
