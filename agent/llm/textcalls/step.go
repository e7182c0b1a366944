package textcalls

import (
	"strings"

	"github.com/footnote/footnote/text/lazy"
)

// Models that were trained with ReAct (Yao and others, 2022) write "Thought: …", and then "Final Answer: …" or
// "Action: …".
var (
	finalAnswer = lazy.Regexp(`(?i)^\s*\**final answer\**\s*:\**\s*`)
	thoughtHead = lazy.Regexp(`(?i)^\**thought\**\s*:\**`)
	thoughtEnds = lazy.Regexp(`(?im)^\s*\**(?:final answer|action)\**\s*:\**\s*[^\s*]`)
	stepHeads   = []string{
		"thought:", "**thought:**", "final answer:", "**final answer:**", "**thought**:", "**final answer**:",
	}
)

// stepOf parses a ReAct step at the start of a text: the thought, and the answer or action after it. ok is false
// until the latter has begun: "Thought: the last frontier" is the start of an ordinary answer.
func stepOf(text string) (thought, rest string, ok bool) {
	if at := finalAnswer().FindStringIndex(text); at != nil {
		return "", text[at[1]:], strings.TrimLeft(text[at[1]:], "* ") != ""
	}
	head := thoughtHead().FindString(text)
	if head == "" {
		return "", "", false
	}
	end := thoughtEnds().FindStringIndex(text)
	if end == nil {
		return "", "", false
	}
	return strings.TrimSpace(text[len(head):end[0]]), strings.TrimLeft(text[end[0]:], " \r\n"), true
}

// mayBeStep reports whether a text may still become a step: it has the head of one, or is a prefix of it.
func mayBeStep(text string) bool {
	lower := strings.ToLower(text)
	for _, head := range stepHeads {
		if strings.HasPrefix(lower, head) || strings.HasPrefix(head, lower) {
			return true
		}
	}
	return false
}

var actionHead = lazy.Regexp(`^\**Action\**:\**`)

// cutAction returns the text after "Action:". For the callBuffer the word starts a call; it does not end a thought.
func cutAction(text string) (string, bool) {
	head := actionHead().FindString(text)
	return text[len(head):], head != ""
}
