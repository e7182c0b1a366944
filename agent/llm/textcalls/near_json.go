package textcalls

import (
	"encoding/json"
	"strings"

	"github.com/kaptinlin/jsonrepair"

	"github.com/footnote/footnote/text/lazy"
)

// comment matches a // comment up to the end of its line, unless a quote follows (then it is a URL in a string), or
// /* … */.
var comment = lazy.Regexp(`(?m)^\s*//[^\n]*$|//[^\n"]*$|/\*[^*]*\*/`)

// withoutComments removes comments from near-JSON. jsonrepair does so too; this is for text that is parsed while it
// is streamed.
func withoutComments(text string) string {
	return strings.TrimLeft(comment().ReplaceAllString(text, ""), " \t\r\n")
}

// mendJSON decodes JSON and near-JSON: single quotes, trailing commas, comments, names without quotes, Python's
// constants. jsonrepair would also close open brackets and strings, so it only gets balanced text: a truncated call
// must not run with half of its arguments.
func mendJSON(piece string) (value any, ok bool) {
	if json.Unmarshal([]byte(piece), &value) == nil {
		return value, true
	}
	if closingBracket(piece) != len(strings.TrimRight(piece, " \t\r\n")) {
		return nil, false // truncated: the missing part is not invented
	}
	fixed, err := jsonrepair.Repair(piece)
	if err != nil || json.Unmarshal([]byte(fixed), &value) != nil {
		return nil, false
	}
	return value, true
}

// closingBracket returns the length of the text up to the bracket that closes its first one, -1 if it is not closed.
// Brackets in strings do not count. Both kinds of brackets are counted as one; the decoder rejects a mismatch.
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

// endsString reports whether a single quote before a text closes a string. The next character distinguishes it from
// an apostrophe.
func endsString(after string) bool {
	after = strings.TrimLeft(after, " \t\r\n")
	return after == "" || strings.IndexByte(",:}]", after[0]) >= 0
}

// beginsString reports whether a single quote after a text opens a string, as a key or a value of JSON.
func beginsString(before string) bool {
	before = strings.TrimRight(before, " \t\r\n")
	return before == "" || strings.IndexByte(",:{[", before[len(before)-1]) >= 0
}
