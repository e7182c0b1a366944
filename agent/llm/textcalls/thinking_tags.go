package textcalls

import (
	"strings"

	"github.com/footnote/footnote/agent/llm"
)

// unopenedEnd finds where a thought without an opening tag ends: a closing tag alone on its line, since in a line it
// may be a word of the thought. It returns -1, -1 if there is none yet; the end of the text ends a line only if it is
// final.
func unopenedEnd(text string, final bool) (at, end int) {
	for _, t := range thoughts {
		for from := 0; ; {
			i := strings.Index(text[from:], t.closing)
			if i < 0 {
				break
			}
			at, end = from+i, from+i+len(t.closing)
			after := strings.TrimLeft(text[end:], " \t\r")
			before := strings.TrimRight(text[:at], " \t")
			if (before == "" || before[len(before)-1] == '\n') &&
				(after == "" && final || after != "" && after[0] == '\n') {
				return at, end
			}
			from = end
		}
	}
	return -1, -1
}

// appendReasoning adds a piece of a thought. Empty ones are left out: models that may think or not write empty
// thoughts.
func appendReasoning(parts []llm.Part, text string) []llm.Part {
	if text == "" {
		return parts
	}
	return append(parts, llm.Reasoning(text))
}

// hasToken reports whether a text begins with one of some tokens.
func hasToken(text string, tokens []string) bool {
	for _, token := range tokens {
		if strings.HasPrefix(text, token) {
			return true
		}
	}
	return false
}

// longestToken is more than the bytes of the longest token, which is Llama's
// <|start_header_id|>assistant<|end_header_id|>: nothing longer can become one.
const longestToken = 48

// mayBecome reports whether a text is the begin of a tag or a token.
func mayBecome(text string) bool {
	if text == "" || len(text) > longestToken {
		return false
	}
	for _, t := range thoughts {
		if strings.HasPrefix(t.opening, text) || strings.HasPrefix(t.closing, text) {
			return true
		}
	}
	for _, w := range wrappers {
		if strings.HasPrefix(w.opening, text) || strings.HasPrefix(w.closing, text) {
			return true
		}
	}
	for _, tokens := range [][]string{endings, openers} {
		for _, token := range tokens {
			if strings.HasPrefix(token, text) {
				return true
			}
		}
	}
	return false
}

// tailOf is how many bytes at the end of a text begin a tag: they wait for the next piece.
func tailOf(text, tag string) int {
	for n := min(len(text), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}
