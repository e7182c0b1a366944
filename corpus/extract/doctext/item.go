package doctext

import (
	"fmt"
	"strconv"
	"strings"
)

// ItemMark reads the mark that a list item begins with: a bullet, whose ordinal is 0, or a number such as "3.", "(3)",
// "c)" or "(iv)". A letter with a point is an initial, no mark. Numbers go up to 999 and Roman ones up to 39: a year at
// the beginning of a line is no mark. "i" in brackets is Roman.
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

// ItemNumber is the number of a list item as a program writes it: in the styles that HTML's type attribute has, "1",
// "a", "A", "i" and "I"; "aa" and "AA", where bb follows after aa and not ab; "01" and "1st". Roman numerals from 4000
// on are decimal. The alphabet and Roman numerals have no zero, for which "a" and "i" give "".
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

// Programs repeat a letter for each round of the alphabet, so that a list of thousands would have marks of hundreds.
const maxLetters = 20 // of a number in letters

// ordinalEnding is what English puts behind a number; 11, 12 and 13 are regular.
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

// inCase writes s in capitals if the style is.
func inCase(s, style string) string {
	if style == strings.ToUpper(style) {
		return strings.ToUpper(s)
	}
	return s
}

// romanNumeral is a number from 1 to 3999 in small letters; the pairs for 4 and 9 stand among the values.
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
