package textcalls

import (
	"slices"
	"strings"

	"footnote/llm"
)

// marks begin what may be a call. Nothing after one is shown before it is known what it is.
var marks = []string{
	"<tool_call", "<function", "<tools>", "<tool>", "<tool_use>", "<invoke", "<start_function_call>",
	"<seed:tool_call>", "<|tool", "<|python_tag|>", "<|python_start|>",
	"<|channel|>", "<|start|>", "<|message|>", "<|action_start|>", "<|START_ACTION|>", "<｜tool", "[TOOL_CALLS]",
	"[TOOL_REQUEST]", "✿FUNCTION✿",
	">>>", "{", "[{",
}

// marksBegin are the bytes that marks begin with in the middle of a line, and those of lines and code.
const marksBegin = "\n`<[{>"

// callBuffer passes text on as it comes and holds back whatever may be a call. Text inside code is never a call,
// unless the code block is all of it.
type callBuffer struct {
	tools    []string
	text     string // not shown yet
	held     bool   // text begins with a mark
	midway   bool   // the mark stood behind other text on its line
	code     code
	lineMark []string // marks at the begin of a line
}

// newCallBuffer knows the tools of a request by name: some models write a call as name(…) or <name>.
func newCallBuffer(tools []llm.ToolSpec) callBuffer {
	b := callBuffer{lineMark: []string{"Action:", "**Action:**", "**Action**:"}}
	for _, t := range tools {
		b.tools = append(b.tools, t.Name)
		for _, before := range []string{"", "[", "print(", "default_api.", "print(default_api."} {
			b.lineMark = append(b.lineMark, before+t.Name+"(")
		}
		b.lineMark = append(b.lineMark, "<"+t.Name+">")
	}
	return b
}

// takePiece takes a piece and returns what can be shown of the text so far.
func (b *callBuffer) takePiece(piece string) string {
	if b.text == "" && b.code.line && !b.code.isOpen() && !strings.ContainsAny(piece, marksBegin) &&
		!strings.Contains(piece, "✿") {
		return piece
	}
	b.text += piece
	i := 0
	if b.held {
		if b.stays(b.text) {
			return ""
		}
		b.held = false
		i = b.skipText(0)
	}
	for i < len(b.text) {
		if !b.code.isOpen() && !b.code.line {
			i += len(b.text[i:]) - len(strings.TrimLeft(b.text[i:], " \t"))
			if i == len(b.text) {
				break
			}
		}
		rest := b.text[i:]
		switch {
		case rest[0] == '`' && strings.Trim(rest, "`") == "": // more of them may come
			return b.releaseText(i)
		case b.code.isOpen() || rest[0] == '`' && !b.opensBlock(rest):
			i = b.skipText(i)
		case b.beginsMark(rest):
			if b.stays(rest) {
				b.held, b.midway = true, b.code.line
				return b.releaseText(i)
			}
			i = b.skipText(i)
		case b.mayBegin(rest):
			return b.releaseText(i)
		default:
			i = b.skipText(i)
		}
	}
	return b.releaseText(i)
}

// releaseText lets go of the first n bytes.
func (b *callBuffer) releaseText(n int) string {
	text := b.text[:n]
	b.text = b.text[n:]
	return text
}

// skipText steps over what is no mark, up to where the next one may be.
func (b *callBuffer) skipText(i int) int {
	switch c := b.text[i]; c {
	case '\n':
		b.code.endLine()
		return i + 1
	case '`':
		n := len(b.text[i:]) - len(strings.TrimLeft(b.text[i:], "`"))
		b.code.noteTicks(n)
		return i + n
	}
	n := strings.IndexAny(b.text[i+1:], "\n`<[{>✿")
	if n < 0 {
		n = len(b.text) - i - 1
	}
	b.code.noteText(b.text[i : i+1+n])
	return i + 1 + n
}

// opensBlock reports whether a run of backticks opens a block.
func (b *callBuffer) opensBlock(rest string) bool {
	return !b.code.line && strings.HasPrefix(rest, "```")
}

// beginsMark reports whether a text begins with a mark.
func (b *callBuffer) beginsMark(rest string) bool {
	return b.opensBlock(rest) || hasToken(rest, marks) || !b.code.line && hasToken(rest, b.lineMark)
}

// mayBegin reports whether a text is the begin of a mark.
func (b *callBuffer) mayBegin(rest string) bool {
	begins := func(mark string) bool { return strings.HasPrefix(mark, rest) }
	return slices.ContainsFunc(marks, begins) || !b.code.line && slices.ContainsFunc(b.lineMark, begins)
}

// stays reports whether what begins with a mark may be a call. A bracket that opens no object of a call is none, nor
// is code in another language.
func (b *callBuffer) stays(text string) bool {
	text = text[:min(len(text), 300)]
	return isMarked(text) && text[0] != '`' || b.mayBeCall(text)
}

// mayBeCall reports whether a text that begins with a mark may still become a call.
func (b *callBuffer) mayBeCall(text string) bool {
	if action, ok := cutAction(text); ok {
		if fenced := strings.TrimLeft(action, " \r\n"); strings.HasPrefix(fenced, "```") || fenced == "``" {
			return true
		}
		word, _, ended := strings.Cut(action, "\n")
		word = strings.Trim(word, " `*")
		if at := strings.IndexAny(word, "([{"); at > 0 {
			word, ended = word[:at], true
		}
		return word == "" || strings.HasPrefix(word, "{") || ended && llm.ToolNamed(word, b.tools) != "" ||
			!ended && slices.ContainsFunc(b.tools, func(t string) bool { return strings.HasPrefix(t, word) })
	}
	if hasToken(text, b.lineMark) {
		return true
	}
	switch text[0] {
	case '`':
		return b.mayBeBlock(strings.TrimLeft(text, "`"))
	case '[':
		rest := strings.TrimLeft(text[1:], " \t\r\n")
		return rest == "" || strings.HasPrefix("[TOOL_", text) || rest[0] == '{' && b.mayBeCall(rest)
	case '{':
		return b.mayBeObject(text[1:])
	}
	return hasToken(text, marks)
}

// mayBeObject reports whether what follows a brace is the first name in the object of a call.
func (b *callBuffer) mayBeObject(rest string) bool {
	rest = withoutComments(strings.TrimLeft(rest, " \t\r\n{"))
	if rest == "" || rest[0] == '/' {
		return true
	}
	rest = strings.TrimLeft(rest, "\"'")
	known := func(key string) bool { return strings.HasPrefix(rest, key) || strings.HasPrefix(key, rest) }
	return slices.ContainsFunc(callKeys, known) || slices.ContainsFunc(b.tools, known)
}

// languages are those of blocks in which models write calls.
var languages = []string{"tool_code", "tool_call", "tool", "json", "python", "xml", "text", ""}

// mayBeBlock reports whether a block of code, of which its backticks were taken, may be a call.
func (b *callBuffer) mayBeBlock(body string) bool {
	lower := strings.ToLower(body)
	for _, language := range languages {
		if rest, ok := strings.CutPrefix(lower, language); ok &&
			(rest == "" || strings.IndexByte(" \t\r\n{[", rest[0]) >= 0) {
			body = strings.TrimLeft(body[len(language):], " \t\r\n")
			return body == "" || (hasToken(body, marks) || hasToken(body, b.lineMark)) && b.mayBeCall(body) ||
				b.lineBegins(body)
		}
		if strings.HasPrefix(language, lower) {
			return true
		}
	}
	return false
}

// lineBegins reports whether a text is the beginning of a mark that opens a call at the start of a line.
func (b *callBuffer) lineBegins(body string) bool {
	begins := func(mark string) bool { return strings.HasPrefix(mark, body) }
	return slices.ContainsFunc(b.lineMark, begins) || slices.ContainsFunc(marks, begins)
}

// callKeys are the first names in the object of a call.
var callKeys = []string{
	"tool", "name", "function", "action", "recipient_name", "calls", "type", "id", "arguments", "parameters", "input",
	"args",
	"thought", "reasoning", "answer", "final", "response", "query", "doc_id",
}

// heldRest is what was held back, at the end of the text.
func (b *callBuffer) heldRest() string { return b.text }
