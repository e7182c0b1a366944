package written

import (
	"regexp"
	"strings"
)

// marks begin what may be a call. Nothing after one is shown before it is known what it is.
var marks = []string{
	"<tool_call", "<function", "<tools>", "<|tool", "<|python_tag|>", "<|channel|>", "<|start|>", "<|message|>", "<|action_start|>", "<｜tool",
	"[TOOL_CALLS]", "[TOOL_REQUEST]", ">>>", "```", "{", "[{",
}

var (
	specialToken = regexp.MustCompile(`(?:function)?<｜tool▁sep｜>[\w.-]+|<[|｜][^|｜<>\n]{1,40}[|｜]>(?:\s*(?:analysis|commentary|final|assistant|json)\b)?|to=functions\.[\w.-]+|>>>\s*[\w.-]+\s*\n`)
	callTag      = regexp.MustCompile(`</?(?:tool_calls?|tools|function_calls?|function)\b[^<>\n]{0,80}>|\[/?TOOL_(?:CALLS|REQUEST)\](?:\s*[\w.-]+\[ARGS\])?|\[END_TOOL_REQUEST\]`)
	emptyFence   = regexp.MustCompile("```(?:json|tool_code|tool_call)?\\s*```")
)

// withoutMarkup takes the marks of calls out of a text whose calls were taken out.
func withoutMarkup(text string) string {
	text = callTag.ReplaceAllString(specialToken.ReplaceAllString(text, ""), "")
	return strings.TrimSpace(emptyFence.ReplaceAllString(text, ""))
}

// isMarked reports whether a text holds a mark that no answer has: it was meant as a call, readable or not.
func isMarked(text string) bool {
	return specialToken.MatchString(text) || callTag.MatchString(text)
}

// sieve shows a text as it comes, but for what may be a call.
type sieve struct {
	held strings.Builder // from a mark on
	tail string          // may be the begin of a mark
}

// next takes a piece and returns what can be shown of the text so far.
func (s *sieve) next(piece string) string {
	if s.held.Len() > 0 {
		s.held.WriteString(piece)
		if s.stays() {
			return ""
		}
		piece = s.held.String()
		s.held.Reset()
	}
	text, from := s.tail+piece, 0
	s.tail = ""
	for {
		at := firstMark(text[from:])
		if at < 0 {
			break
		}
		at += from
		s.held.WriteString(text[at:])
		if s.stays() {
			return text[:at]
		}
		s.held.Reset()
		from = at + 1
	}
	if n := partMark(text[from:]); n > 0 {
		s.tail = text[len(text)-n:]
		text = text[:len(text)-n]
	}
	return text
}

// stays reports whether what is held may be a call. A bracket that opens no object of a call is none, nor is code in another language.
func (s *sieve) stays() bool {
	held := s.held.String()
	held = held[:min(len(held), 300)]
	return isMarked(held) || mayBeCall(held)
}

// mayBeCall reports whether a text that begins with a bracket or a fence may still become a call.
func mayBeCall(text string) bool {
	switch text[0] {
	case '<', '>':
		return partOfMark(text)
	case '`':
		if len(text) < 3 || !strings.HasPrefix(text, "```") {
			return strings.HasPrefix("```", text)
		}
		body, known := strings.TrimLeft(text[3:], "`"), false
		for _, language := range []string{"json", "tool_code", "tool_call", ""} {
			if rest, ok := strings.CutPrefix(body, language); ok {
				body, known = strings.TrimLeft(rest, " \t\r\n"), true
				break
			} else if strings.HasPrefix(language, body) {
				return true
			}
		}
		return known && (body == "" || (body[0] == '{' || body[0] == '[') && mayBeCall(body))
	case '[':
		rest := strings.TrimLeft(text[1:], " \t\r\n")
		return rest == "" || partOfMark(text) || rest[0] == '{' && mayBeCall(rest)
	}
	rest := strings.TrimLeft(text[1:], " \t\r\n\"'")
	for _, key := range callKeys {
		if strings.HasPrefix(rest, key) || strings.HasPrefix(key, rest) {
			return true
		}
	}
	return false
}

// callKeys are the first names in the object of a call.
var callKeys = []string{
	"tool", "name", "function", "action", "recipient_name", "calls", "type", "id", "arguments", "parameters", "input", "args",
	"thought", "reasoning", "answer", "final", "response", "query", "doc_id",
}

// rest is what was held back, at the end of the text.
func (s *sieve) rest() string { return s.held.String() + s.tail }

func firstMark(text string) int {
	first := -1
	for _, mark := range marks {
		if at := strings.Index(text, mark); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// partMark returns how many bytes at the end of a text begin a mark.
func partMark(text string) int {
	for n := min(len(text), 20); n > 0; n-- {
		if end := text[len(text)-n:]; beginsMark[end[0]] && partOfMark(end) {
			return n
		}
	}
	return 0
}

// beginsMark holds the bytes that marks begin with.
var beginsMark = func() (begins [256]bool) {
	for _, mark := range marks {
		begins[mark[0]] = true
	}
	return begins
}()

func partOfMark(text string) bool {
	for _, mark := range marks {
		if strings.HasPrefix(mark, text) {
			return true
		}
		if len(mark) >= 3 && strings.HasPrefix(text, mark) {
			return true
		}
	}
	return false
}
