package offline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	frameLines = 3  // of a block that frames a text, at most
	frameRunes = 80 // of a line of it
)

// markFrames marks the units of a source that only frame its text: a salutation, the closing of a letter with the name
// below it, a title that no style says to be one. They are blocks of a few lines that begin with a capital letter, have
// no figure and no colon, and don't end as sentences do.
func (p pile) markFrames(units []unit) {
	for from := 0; from < len(units); {
		to := from + 1
		for to < len(units) && blankLines(p.between(units[to-1], units[to])) == 0 {
			to++
		}
		block := units[from:to]
		framing, lines := true, 0
		for _, u := range block {
			lines += 1 + strings.Count(u.text, "\n")
			framing = framing && lines <= frameLines && u.row == nil && !u.names && frames(u.text)
		}
		for i := range block {
			block[i].frame = framing
		}
		from = to
	}
}

// between is what stands between a unit and the next of its source.
func (p pile) between(before, after unit) []rune {
	return p.runes[before.source][before.end:after.start]
}

func frames(line string) bool {
	first, _ := utf8.DecodeRuneInString(line)
	line = strings.TrimRightFunc(line, func(r rune) bool {
		return r == '"' || unicode.In(r, unicode.Pe, unicode.Pf, unicode.Z)
	})
	last, _ := utf8.DecodeLastRuneInString(line)
	return unicode.IsUpper(first) && utf8.RuneCountInString(line) <= frameRunes && !unicode.Is(unicode.STerm, last) &&
		!strings.ContainsFunc(line, func(r rune) bool { return unicode.IsDigit(r) || r == ':' || r == ';' })
}
