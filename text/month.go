package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const longestMonth = 12 // runes of a month's name

// monthBeginnings are their names, or how these begin, in languages of the product that write them with letters.
// The first line has January and February, and so on. Beginnings may be shared by languages, never by months.
var monthBeginnings = [12][]string{
	{"jan", "ene", "gen", "янв", "sty", "oca"}, {"feb", "fev", "fév", "фев", "lut", "şub"},
	{"mar", "mär", "mrz", "maa", "мар", "mrt"}, {"apr", "avr", "abr", "апр", "kwi", "nis"},
	{"may", "mai", "mag", "mei", "май", "мая", "maj"}, {"jun", "juin", "giu", "июн", "cze", "haz"},
	{"jul", "juil", "lug", "июл", "lip", "tem"}, {"aug", "aoû", "aou", "ago", "авг", "sie", "ağu"},
	{"sep", "set", "сен", "wrz", "eyl"}, {"oct", "okt", "out", "ott", "окт", "paź", "eki"},
	{"nov", "ноя", "lis", "kas"}, {"dec", "dez", "déc", "dic", "дек", "gru", "ara"},
}

// Month is the month of a name or of its beginning, 0 for other words. It is 1 to 12. Case and diacritics make no
// difference.
func Month(word string) int {
	if first, _ := utf8.DecodeRuneInString(word); !unicode.IsLetter(first) {
		return 0
	}
	word = Fold(word)
	if n := utf8.RuneCountInString(word); n < 3 || n > longestMonth {
		return 0
	}
	for i, names := range monthBeginnings {
		for _, name := range names {
			if strings.HasPrefix(word, Fold(name)) {
				return i + 1
			}
		}
	}
	return 0
}
