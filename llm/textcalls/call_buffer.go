package written

import (
	"slices"
	"strings"

	"footnote/llm"
)

// marks begin what may be a call. Nothing after one is shown before it is known what it is.
var marks = []string{
	"<tool_call", "<function", "<tools>", "<tool>", "<tool_use>", "<invoke", "<start_function_call>", "<seed:tool_call>", "<|tool", "<|python_tag|>", "<|python_start|>",
	"<|channel|>", "<|start|>", "<|message|>", "<|action_start|>", "<|START_ACTION|>", "<｜tool", "[TOOL_CALLS]", "[TOOL_REQUEST]", "✿FUNCTION✿",
	">>>", "{", "[{",
}

// marksBegin are the bytes that marks begin with in the middle of a line, and those of lines and code.
const marksBegin = "\n`<[{>"

// sieve shows a text as it comes, but for what may be a call. What stands in code is none, unless it is all of a block.
type sieve struct {
	tools    []string
	text     string // not shown yet
	held     bool   // text begins with a mark
	midway   bool   // the mark stood behind other text on its line
	code     code
	lineMark []string // marks at the begin of a line
}

func newSieve(tools []llm.ToolSpec) sieve {
	s := sieve{lineMark: []string{"Action:", "**Action:**", "**Action**:"}}
	for _, t := range tools {
		s.tools = append(s.tools, t.Name)
		for _, before := range []string{"", "[", "print(", "default_api.", "print(default_api."} {
			s.lineMark = append(s.lineMark, before+t.Name+"(")
		}
		s.lineMark = append(s.lineMark, "<"+t.Name+">")
	}
	return s
}

// next takes a piece and returns what can be shown of the text so far.
func (s *sieve) next(piece string) string {
	if s.text == "" && s.code.line && !s.code.in() && !strings.ContainsAny(piece, marksBegin) && !strings.Contains(piece, "✿") {
		return piece
	}
	s.text += piece
	i := 0
	if s.held {
		if s.stays(s.text) {
			return ""
		}
		s.held = false
		i = s.pass(0)
	}
	for i < len(s.text) {
		if !s.code.in() && !s.code.line {
			i += len(s.text[i:]) - len(strings.TrimLeft(s.text[i:], " \t"))
			if i == len(s.text) {
				break
			}
		}
		rest := s.text[i:]
		switch {
		case rest[0] == '`' && strings.Trim(rest, "`") == "": // more of them may come
			return s.show(i)
		case s.code.in() || rest[0] == '`' && !s.block(rest):
			i = s.pass(i)
		case s.begins(rest):
			if s.stays(rest) {
				s.held, s.midway = true, s.code.line
				return s.show(i)
			}
			i = s.pass(i)
		case s.mayBegin(rest):
			return s.show(i)
		default:
			i = s.pass(i)
		}
	}
	return s.show(i)
}

// show lets go of the first n bytes.
func (s *sieve) show(n int) string {
	text := s.text[:n]
	s.text = s.text[n:]
	return text
}

// pass steps over what is no mark, up to where the next one may be.
func (s *sieve) pass(i int) int {
	switch c := s.text[i]; c {
	case '\n':
		s.code.newline()
		return i + 1
	case '`':
		n := len(s.text[i:]) - len(strings.TrimLeft(s.text[i:], "`"))
		s.code.ticks(n)
		return i + n
	}
	n := strings.IndexAny(s.text[i+1:], "\n`<[{>✿")
	if n < 0 {
		n = len(s.text) - i - 1
	}
	s.code.text(s.text[i : i+1+n])
	return i + 1 + n
}

// block reports whether a run of backticks opens a block.
func (s *sieve) block(rest string) bool { return !s.code.line && strings.HasPrefix(rest, "```") }

// begins reports whether a text begins with a mark.
func (s *sieve) begins(rest string) bool {
	return s.block(rest) || hasToken(rest, marks) || !s.code.line && hasToken(rest, s.lineMark)
}

// mayBegin reports whether a text is the begin of a mark.
func (s *sieve) mayBegin(rest string) bool {
	begins := func(mark string) bool { return strings.HasPrefix(mark, rest) }
	return slices.ContainsFunc(marks, begins) || !s.code.line && slices.ContainsFunc(s.lineMark, begins)
}

// stays reports whether what begins with a mark may be a call. A bracket that opens no object of a call is none, nor is code in another language.
func (s *sieve) stays(text string) bool {
	text = text[:min(len(text), 300)]
	return isMarked(text) && text[0] != '`' || s.mayBeCall(text)
}

// mayBeCall reports whether a text that begins with a mark may still become a call.
func (s *sieve) mayBeCall(text string) bool {
	if action, ok := cutAction(text); ok {
		if fenced := strings.TrimLeft(action, " \r\n"); strings.HasPrefix(fenced, "```") || fenced == "``" {
			return true
		}
		word, _, ended := strings.Cut(action, "\n")
		word = strings.Trim(word, " `*")
		if at := strings.IndexAny(word, "([{"); at > 0 {
			word, ended = word[:at], true
		}
		return word == "" || strings.HasPrefix(word, "{") || ended && llm.ToolNamed(word, s.tools) != "" ||
			!ended && slices.ContainsFunc(s.tools, func(t string) bool { return strings.HasPrefix(t, word) })
	}
	if hasToken(text, s.lineMark) {
		return true
	}
	switch text[0] {
	case '`':
		return s.mayBeBlock(strings.TrimLeft(text, "`"))
	case '[':
		rest := strings.TrimLeft(text[1:], " \t\r\n")
		return rest == "" || strings.HasPrefix("[TOOL_", text) || rest[0] == '{' && s.mayBeCall(rest)
	case '{':
		return s.mayBeObject(text[1:])
	}
	return hasToken(text, marks)
}

// mayBeObject reports whether what follows a brace is the first name in the object of a call.
func (s *sieve) mayBeObject(rest string) bool {
	rest = withoutComments(strings.TrimLeft(rest, " \t\r\n{"))
	if rest == "" || rest[0] == '/' {
		return true
	}
	rest = strings.TrimLeft(rest, "\"'")
	known := func(key string) bool { return strings.HasPrefix(rest, key) || strings.HasPrefix(key, rest) }
	return slices.ContainsFunc(callKeys, known) || slices.ContainsFunc(s.tools, known)
}

// languages are those of blocks in which models write calls.
var languages = []string{"tool_code", "tool_call", "tool", "json", "python", "xml", "text", ""}

// mayBeBlock reports whether a block of code, of which its backticks were taken, may be a call.
func (s *sieve) mayBeBlock(body string) bool {
	lower := strings.ToLower(body)
	for _, language := range languages {
		if rest, ok := strings.CutPrefix(lower, language); ok && (rest == "" || strings.IndexByte(" \t\r\n{[", rest[0]) >= 0) {
			body = strings.TrimLeft(body[len(language):], " \t\r\n")
			return body == "" || (hasToken(body, marks) || hasToken(body, s.lineMark)) && s.mayBeCall(body) || s.lineBegins(body)
		}
		if strings.HasPrefix(language, lower) {
			return true
		}
	}
	return false
}

func (s *sieve) lineBegins(body string) bool {
	begins := func(mark string) bool { return strings.HasPrefix(mark, body) }
	return slices.ContainsFunc(s.lineMark, begins) || slices.ContainsFunc(marks, begins)
}

// callKeys are the first names in the object of a call.
var callKeys = []string{
	"tool", "name", "function", "action", "recipient_name", "calls", "type", "id", "arguments", "parameters", "input", "args",
	"thought", "reasoning", "answer", "final", "response", "query", "doc_id",
}

// rest is what was held back, at the end of the text.
func (s *sieve) rest() string { return s.text }
