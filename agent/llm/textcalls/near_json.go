package textcalls

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/kaptinlin/jsonrepair"
)

// comment is a line or a rest of a line behind //, unless a quote follows (then it is an address in a string), or /* …
// */.
var comment = regexp.MustCompile(`(?m)^\s*//[^\n]*$|//[^\n"]*$|/\*[^*]*\*/`)

// withoutComments takes comments out of what is nearly JSON. jsonrepair does so too; this is for a text that is looked
// at before its end has come.
func withoutComments(text string) string {
	return strings.TrimLeft(comment.ReplaceAllString(text, ""), " \t\r\n")
}

// mendJSON decodes JSON, and what is nearly JSON: single quotes, trailing commas, comments, names without quotes,
// Python's constants. jsonrepair would also close open brackets and strings, so it gets only what is closed: a call
// that was cut off must not run with half of its arguments.
func mendJSON(piece string) (value any, ok bool) {
	if json.Unmarshal([]byte(piece), &value) == nil {
		return value, true
	}
	if closingBracket(piece) != len(strings.TrimRight(piece, " \t\r\n")) {
		return nil, false // cut off: what is missing is not made up
	}
	fixed, err := jsonrepair.Repair(piece)
	if err != nil || json.Unmarshal([]byte(fixed), &value) != nil {
		return nil, false
	}
	return value, true
}

// closingBracket returns how many bytes a text has up to the one that closes the bracket it begins with, -1 if none
// does. Brackets in strings do not count. Both kinds of brackets count alike: whether they match is the decoder's to
// say.
func closingBracket(text string) int {
	depth := 0
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			switch c {
			case '\\':
				i++
			case quote:
				if quote == '"' || endsString(text[i+1:]) {
					quote = 0
				}
			}
		case c == '"', c == '\'' && i > 0 && beginsString(text[:i]):
			quote = c
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		if i == 0 && depth == 0 {
			return -1
		}
	}
	return -1
}

// endsString reports whether a single quote before a text closes a string. What stands beside it tells it from an
// apostrophe.
func endsString(after string) bool {
	after = strings.TrimLeft(after, " \t\r\n")
	return after == "" || strings.IndexByte(",:}]", after[0]) >= 0
}

// beginsString reports whether a single quote behind a text opens a string: where JSON has a key or a value.
func beginsString(before string) bool {
	before = strings.TrimRight(before, " \t\r\n")
	return before == "" || strings.IndexByte(",:{[", before[len(before)-1]) >= 0
}
