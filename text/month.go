package text

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const longestMonth = 12 // maximum runes of a month's name

// monthBeginnings are names of months, or their prefixes, in the supported alphabetic languages. The first line has
// January and February, and so on. Languages may share prefixes, months never do.
var monthBeginnings = [12][]string{
	{"jan", "ene", "gen", "янв", "sty", "oca"}, {"feb", "fev", "fév", "фев", "lut", "şub"},
	{"mar", "mär", "mrz", "maa", "мар", "mrt"}, {"apr", "avr", "abr", "апр", "kwi", "nis"},
	{"may", "mai", "mag", "mei", "май", "мая", "maj"}, {"jun", "juin", "giu", "июн", "cze", "haz"},
	{"jul", "juil", "lug", "июл", "lip", "tem"}, {"aug", "aoû", "aou", "ago", "авг", "sie", "ağu"},
	{"sep", "set", "сен", "wrz", "eyl"}, {"oct", "okt", "out", "ott", "окт", "paź", "eki"},
	{"nov", "ноя", "lis", "kas"}, {"dec", "dez", "déc", "dic", "дек", "gru", "ara"},
}

// foldedMonths are monthBeginnings, folded.
var foldedMonths = sync.OnceValue(func() (folded [12][]string) {
	for i, names := range monthBeginnings {
		for _, name := range names {
			folded[i] = append(folded[i], Fold(name))
		}
	}
	return folded
})

// Month returns the month, 1 to 12, of a name or its prefix, 0 for other words. Case and diacritics are ignored.
func Month(word string) int {
	if first, _ := utf8.DecodeRuneInString(word); !unicode.IsLetter(first) {
		return 0
	}
	word = Fold(word)
	if n := utf8.RuneCountInString(word); n < 3 || n > longestMonth {
		return 0
	}
	for i, names := range foldedMonths() {
		for _, name := range names {
			if strings.HasPrefix(word, name) {
				return i + 1
			}
		}
	}
	return 0
}
