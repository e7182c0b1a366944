package text

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxAddress is how many bytes before a place are looked at for the address or the name that goes on there.
const maxAddress = 2048

// The ends of texts behind which a bracket goes on: an address as the page's own reader of Markdown takes one, and a
// name of program code, "a[2]" or "max_size[2]".
var (
	address = regexp.MustCompile(`(?:(?:https?|ftp)://|www\.)[-a-zA-Z0-9@:%._+~#=]+[/?#]` +
		`[-a-zA-Z0-9@:%_+.~#$!?&/=();,'">^{}\[\]` + "`" + `]*$`)
	pointed  = regexp.MustCompile(`<[a-zA-Z][a-zA-Z0-9+.-]*:[^\s<>]*$`)
	codeName = regexp.MustCompile("(?:(?:^|[=(,;+/`-])[a-z]|[A-Za-z0-9]_[A-Za-z0-9]+)$")
)

// IsRunning reports whether a bracket right behind a text stands in running text, so that "[2]" may be a footnote: not
// in an address, in the target or the title of a link, behind a name of program code or a backslash that escapes it.
// Code between backticks and in blocks is not looked for. Only the line before the bracket is looked at, and of that
// the last maxAddress bytes.
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
	return !((strings.Contains(word, "://") || strings.Contains(word, "www.")) && address.MatchString(word) ||
		strings.Contains(word, "<") && pointed.MatchString(word) || codeName.MatchString(word))
}

// behindTarget returns the text that follows a link's target. s begins behind the target's opening parenthesis. open
// means that the target or its title has not ended; a space that no title follows ends it too. A target may hold
// parentheses if they are balanced, as CommonMark has it (§6.3).
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
