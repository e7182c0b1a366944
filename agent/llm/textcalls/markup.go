package textcalls

import (
	"strings"

	"github.com/footnote/footnote/text/lazy"
)

// Remains of a reply after its calls and their marks are removed: empty fences, and the code or ReAct step around a
// call.
var (
	emptyFence = lazy.Regexp("(?i)```(?:" + strings.Join(languages, "|") + ")\\s*```")
	emptyCode  = lazy.Regexp(`(?m)^\s*(?:print\(\s*\)|\[[\s,]*\]|[;,\]})]+|\**Action\**:\**)\s*$`)
)

// withoutMarkup removes the marks of calls from a text without its calls. Fences and lines that become empty are
// removed too.
func withoutMarkup(text string) string {
	text = emptyCode().ReplaceAllString(callMarks().ReplaceAllString(text, ""), "")
	return strings.TrimSpace(emptyCode().ReplaceAllString(emptyFence().ReplaceAllString(text, ""), ""))
}
