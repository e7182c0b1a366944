package text

import (
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/text/lazy"
)

// maxAddress is the number of bytes before a bracket that are checked for an address or an identifier.
const maxAddress = 2048

// Texts before a bracket that is no footnote: an address, as autolinked by the page's Markdown renderer, and an
// identifier of program code, as in "a[2]" or "max_size[2]".
var (
	address = lazy.Regexp(`(?:(?:https?|ftp)://|www\.)[-a-zA-Z0-9@:%._+~#=]+[/?#]` +
		`[-a-zA-Z0-9@:%_+.~#$!?&/=();,'">^{}\[\]` + "`" + `]*$`)
	pointed  = lazy.Regexp(`<[a-zA-Z][a-zA-Z0-9+.-]*:[^\s<>]*$`)
	codeName = lazy.Regexp("(?:(?:^|[=(,;+/`-])[a-z]|[A-Za-z0-9]_[A-Za-z0-9]+)$")
)

// IsRunning reports whether a bracket directly after a text is in running text, so that "[2]" may be a footnote. It
// is not in an address, in the target or title of a link, or after an identifier or an escaping backslash. Code
// spans and code blocks are not detected. Only the line before the bracket is read, at most its last maxAddress
// bytes.
func IsRunning(before string) bool {
	if (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1 {
		return false
	}
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if from := len(before) - maxAddress; from > 0 {
		for from < len(before) && !utf8.RuneStart(before[from]) {
			from++
		}
		before = before[from:]
	}
	if at := strings.LastIndex(before, "]("); at >= 0 {
		rest, open := behindTarget(before[at+2:])
		if open {
			return false
		}
		before = rest
	}
	word := before[strings.LastIndexAny(before, " \t")+1:]
	return !((strings.Contains(word, "://") || strings.Contains(word, "www.")) && address().MatchString(word) ||
		strings.Contains(word, "<") && pointed().MatchString(word) || codeName().MatchString(word))
}

// behindTarget returns the text after a link's target. s begins after the target's opening parenthesis. open
// reports that the target or its title has not ended; a space without a title ends it too. A target may contain
// balanced parentheses, as in CommonMark (§6.3).
func behindTarget(s string) (rest string, open bool) {
	if strings.HasPrefix(s, "<") && !strings.Contains(s, ">") {
		return "", true
	}
	depth := 0
	for i, c := range s {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return s[i+1:], false
			}
		case ' ', '\t':
			title := strings.TrimLeft(s[i:], " \t")
			if title == "" || !strings.ContainsAny(title[:1], `"'`) {
				return s, false
			}
			_, rest, closed := strings.Cut(title[1:], title[:1])
			return rest, !closed
		}
	}
	return "", true
}
