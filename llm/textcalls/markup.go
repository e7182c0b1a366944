package textcalls

import (
	"regexp"
	"strings"
)

var (
	specialToken = regexp.MustCompile(
		`(?:function)?<[|｜]tool▁sep[|｜]>[\w.-]+|<[|｜][^|｜<>\n]{1,40}[|｜]>(?:\s*(?:analysis|commentary|final|` +
			`assistant|json)\b)?|to=functions\.[\w.-]+|>>>\s*[\w.-]+\s*\n|✿(?:FUNCTION|ARGS|RESULT|RETURN)✿:?`,
	)
	callTag = regexp.MustCompile(
		`</?(?:seed:)?(?:tool_calls?|tools?|tool_use|function_calls?|function|invoke|start_function_call|` +
			`end_function_call)\b[^<>\n]{0,80}>|\[/?TOOL_(?:CALLS|REQUEST)\](?:\s*[\w.-]+\[ARGS\])?|` +
			`\[END_TOOL_REQUEST\]`,
	)
	emptyFence = regexp.MustCompile("(?i)```(?:json|tool_code|tool_call|tool|python|xml|text)?\\s*```")
	emptyCode  = regexp.MustCompile(`(?m)^\s*(?:print\(\s*\)|\[[\s,]*\]|[;,\]})]+|\**Action\**:\**)\s*$`)
)

// withoutMarkup takes the marks of calls out of a text whose calls were taken out.
func withoutMarkup(text string) string {
	text = callTag.ReplaceAllString(specialToken.ReplaceAllString(text, ""), "")
	text = emptyFence.ReplaceAllString(emptyCode.ReplaceAllString(text, ""), "")
	return strings.TrimSpace(emptyCode.ReplaceAllString(text, ""))
}

// isMarked reports whether a text holds a mark that no answer has: it was meant as a call, readable or not.
func isMarked(text string) bool {
	return specialToken.MatchString(text) || callTag.MatchString(text)
}
