package chat

import (
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/text/locale"
)

const (
	titleRunes    = 60
	maxTitleRunes = 200 // of a user's title
)

// CheckTitle fails with CodeInvalid for an invalid session title.
func CheckTitle(title string) error {
	if n := utf8.RuneCountInString(title); n < 1 || n > maxTitleRunes {
		return &Error{Code: CodeInvalid, Message: locale.Say("A title must have 1 to {1} characters.", maxTitleRunes)}
	}
	return nil
}

// TitleOf returns a session's title from its first question: the first line that is not blank, with collapsed white
// space, truncated before the word that exceeds 60 runes. It is empty for a blank question. It uses no model, since
// the title is stored with the first run.
func TitleOf(question string) string {
	for line := range strings.Lines(question) {
		if words := strings.Fields(line); len(words) > 0 {
			return cutTitle(strings.Join(words, " "))
		}
	}
	return ""
}

// cutTitle truncates a line to titleRunes runes plus an ellipsis, at the last space if that leaves any text. It
// scans once, so that a question of 32,000 runes is not converted to runes.
func cutTitle(line string) string {
	end, space := -1, -1 // byte offsets: of the rune after the limit, of the last space before it
	n := 0
	for i, r := range line {
		if n == titleRunes {
			end = i
		}
		if n <= titleRunes && r == ' ' {
			space = i
		}
		if n++; n > titleRunes && end >= 0 {
			break
		}
	}
	switch {
	case end < 0:
		return line
	case space > 0:
		return line[:space] + "…"
	}
	return line[:end] + "…" // one long word, or a script without spaces
}

// SectionIn returns a heading path without its document's title as prefix. Headings often begin with the title,
// which is already shown beside the section.
func SectionIn(title, section string) string {
	if rest, ok := strings.CutPrefix(section, title); ok && title != "" &&
		(rest == "" || strings.HasPrefix(rest, " › ")) {
		return strings.TrimPrefix(rest, " › ")
	}
	return section
}
