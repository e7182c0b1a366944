package textcalls

import (
	"regexp"
	"strings"
)

// What is left of a reply when its calls and their marks are gone: fences around nothing, and of code and of ReAct's
// steps what stood around a call.
var (
	emptyFence = regexp.MustCompile("(?i)```(?:" + strings.Join(languages, "|") + ")\\s*```")
	emptyCode  = regexp.MustCompile(`(?m)^\s*(?:print\(\s*\)|\[[\s,]*\]|[;,\]})]+|\**Action\**:\**)\s*$`)
)

// withoutMarkup takes the marks of calls out of a text whose calls were taken out. A fence may become empty by its
// empty lines, and a line by its fence.
func withoutMarkup(text string) string {
	text = emptyCode.ReplaceAllString(callMarks.ReplaceAllString(text, ""), "")
	return strings.TrimSpace(emptyCode.ReplaceAllString(emptyFence.ReplaceAllString(text, ""), ""))
}
