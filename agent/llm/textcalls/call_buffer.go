package textcalls

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/agent/llm"
)

// asciiBegins and wideBegins are the first characters of call begins, line ends and code: a chunk without any of
// them is passed on unparsed. A search for ASCII alone is several times faster.
var asciiBegins, wideBegins = firstRunes()

// firstRunes returns the first runes of callBegins, deduplicated, the ASCII ones separately.
func firstRunes() (ascii, wide string) {
	ascii = "\n`"
	for _, begin := range callBegins {
		r, size := utf8.DecodeRuneInString(begin)
		switch {
		case strings.ContainsRune(ascii+wide, r):
		case size == 1:
			ascii += string(r)
		default:
			wide += string(r)
		}
	}
	return ascii, wide
}

// callBuffer passes streamed text on and buffers text that may be a call. Text inside code is not a call, unless the
// code block is all of it. Once text is held, all text after it is held too, until it turns out not to be a call.
// Text after a call must not be shown before it. Chunks may end anywhere, even within a rune. It belongs to one
// reply and is not safe for concurrent use.
type callBuffer struct {
	tools  []string
	text   string // not shown yet
	held   bool   // text begins with a call begin
	midway bool   // the call begin is after other text on its line
	code   code
	lines  []string // call begins at the start of a line, for the tools of the request
}

// newCallBuffer returns a buffer for the tools of a request, since some dialects begin with a tool's name.
func newCallBuffer(tools []llm.ToolSpec) callBuffer {
	b := callBuffer{}
	for _, t := range tools {
		b.tools = append(b.tools, t.Name)
	}
	for _, begin := range lineBegins {
		if !strings.Contains(begin, "TOOL") {
			b.lines = append(b.lines, begin)
			continue
		}
		for _, tool := range b.tools {
			b.lines = append(b.lines, strings.Replace(begin, "TOOL", tool, 1))
		}
	}
	return b
}

// takePiece adds a chunk and returns the text that can be shown. Nearly all chunks of an answer take the fast path
// at its top: see BenchmarkStream.
func (b *callBuffer) takePiece(piece string) string {
	if b.text == "" && b.code.line && !b.code.isOpen() && !strings.ContainsAny(piece, asciiBegins) &&
		!strings.ContainsAny(piece, wideBegins) {
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
		case rest[0] == '`' && strings.Trim(rest, "`") == "": // more backticks may follow
			return b.releaseText(i)
		case b.code.isOpen() || rest[0] == '`' && !b.opensBlock(rest):
			i = b.skipText(i)
		case b.beginsCall(rest):
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

// releaseText removes the first n bytes from the buffer and returns them.
func (b *callBuffer) releaseText(n int) string {
	text := b.text[:n]
	b.text = b.text[n:]
	return text
}

// skipText returns the offset of the next possible call begin.
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
	n := strings.IndexAny(b.text[i+1:], asciiBegins+wideBegins)
	if n < 0 {
		n = len(b.text) - i - 1
	}
	b.code.noteText(b.text[i : i+1+n])
	return i + 1 + n
}

// opensBlock reports whether a run of backticks opens a code block.
func (b *callBuffer) opensBlock(rest string) bool {
	return !b.code.line && strings.HasPrefix(rest, "```")
}

// beginsCall reports whether a text starts with a call begin.
func (b *callBuffer) beginsCall(rest string) bool {
	return b.opensBlock(rest) || hasToken(rest, callBegins) || !b.code.line && hasToken(rest, b.lines)
}

// mayBegin reports whether a text is a prefix of a call begin.
func (b *callBuffer) mayBegin(rest string) bool {
	begins := func(mark string) bool { return strings.HasPrefix(mark, rest) }
	return slices.ContainsFunc(callBegins, begins) || !b.code.line && slices.ContainsFunc(b.lines, begins)
}

// maxOpening is the number of bytes of a held text that are parsed again with each chunk. They are enough to decide
// whether it may be a call, and avoid quadratic time for a long call.
const maxOpening = 300

// stays reports whether text with a call begin may be a call. A bracket without the object of a call is not, and
// neither is code in another language.
func (b *callBuffer) stays(text string) bool {
	text = text[:min(len(text), maxOpening)]
	return isMarked(text) && text[0] != '`' || b.mayBeCall(text)
}

// mayBeCall reports whether a text with a call begin may still become a call. After "Action:" the name of a tool
// decides, since the word is common; after a brace the first name in the object.
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
	if hasToken(text, b.lines) {
		return true
	}
	switch text[0] {
	case '`':
		return b.mayBeBlock(strings.TrimLeft(text, "`"))
	case '[':
		rest := strings.TrimLeft(text[1:], " \t\r\n")
		return rest == "" || rest[0] == '{' && b.mayBeCall(rest)
	case '{':
		return b.mayBeObject(text[1:])
	}
	return hasToken(text, callBegins)
}

// mayBeObject reports whether the text after a brace starts with the first name in the object of a call.
func (b *callBuffer) mayBeObject(rest string) bool {
	rest = withoutComments(strings.TrimLeft(rest, " \t\r\n{"))
	if rest == "" || rest[0] == '/' {
		return true
	}
	rest = strings.TrimLeft(rest, "\"'")
	known := func(key string) bool { return strings.HasPrefix(rest, key) || strings.HasPrefix(key, rest) }
	return slices.ContainsFunc(callKeys, known) || slices.ContainsFunc(b.tools, known)
}

// mayBeBlock reports whether a code block, without its backticks, may be a call. Its language must be one that
// models use for calls, and its content must begin like one.
func (b *callBuffer) mayBeBlock(body string) bool {
	lower := strings.ToLower(body)
	for _, language := range languages {
		if rest, ok := strings.CutPrefix(lower, language); ok &&
			(rest == "" || strings.IndexByte(" \t\r\n{[", rest[0]) >= 0) {
			body = strings.TrimLeft(body[len(language):], " \t\r\n")
			return body == "" || (hasToken(body, callBegins) || hasToken(body, b.lines)) && b.mayBeCall(body) ||
				b.lineBegins(body)
		}
		if strings.HasPrefix(language, lower) {
			return true
		}
	}
	return false
}

// lineBegins reports whether a text is a prefix of a call begin at the start of a line.
func (b *callBuffer) lineBegins(body string) bool {
	begins := func(mark string) bool { return strings.HasPrefix(mark, body) }
	return slices.ContainsFunc(b.lines, begins) || slices.ContainsFunc(callBegins, begins)
}

// callKeys are the first names in the object of a call, or of an answer that is wrapped like one. The last two are
// arguments without a tool: if the prompt requested calls as JSON, that is a call to retry and not an answer.
var callKeys = slices.Concat(nameKeys, argumentKeys, []string{
	"type", "id", "thought", "reasoning", "answer", "final", "response", "query", "doc_id",
})

// heldRest returns the text that is still held at the end.
func (b *callBuffer) heldRest() string { return b.text }
