package chat

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	titleRunes    = 60
	maxTitleRunes = 200 // of a title that a user gives
)

// CheckTitle fails with CodeInvalid for a title that a user can't give to a session.
func CheckTitle(title string) error {
	if n := utf8.RuneCountInString(title); n < 1 || n > maxTitleRunes {
		return &Error{Code: CodeInvalid, Message: fmt.Sprintf("A title has 1 to %d characters.", maxTitleRunes)}
	}
	return nil
}

// TitleOf makes a session's title from its first question: the first line that is not blank, its white space collapsed,
// cut before the word that would pass 60 runes. It is empty for a blank question. It asks no model: a title is needed
// at once, and it is stored with the first run.
func TitleOf(question string) string {
	for line := range strings.Lines(question) {
		if words := strings.Fields(line); len(words) > 0 {
			return cutTitle(strings.Join(words, " "))
		}
	}
	return ""
}

// cutTitle shortens a line to titleRunes runes, at a space where there is one. It is cut at the last space only if that
// leaves something; the ellipsis comes on top of the limit. One pass finds both places, so a question of 32,000 runes
// is not turned into runes.
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
