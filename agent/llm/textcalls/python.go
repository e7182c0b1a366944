package textcalls

import (
	"strings"

	"github.com/footnote/footnote/text/lazy"
)

// keyword matches the name of a keyword argument in code, with its sign.
var keyword = lazy.Regexp(`^\s*(\w+)\s*=\s*`)

// codeCalls rewrites calls in the syntax of code: name(field="value"), and name.call(…), which is Llama 3.1's. A
// call with an argument that is not a literal is ignored, as in a manual. Each call is parsed once, since its
// arguments may contain text that looks like a call.
func (k known) codeCalls(text string) string {
	for _, name := range k.names {
		for from := 0; ; {
			at := strings.Index(text[from:], name)
			if at < 0 {
				break
			}
			at += from
			end := at + len(name)
			end += len(text[end:]) - len(strings.TrimPrefix(text[end:], ".call"))
			if end >= len(text) || text[end] != '(' || at > 0 && isName(text[at-1]) {
				from = at + len(name)
				continue
			}
			size := closingParenthesis(text[end:])
			if size < 0 {
				break
			}
			fields, ok := k.readLiterals(name, text[end+1:end+size-1])
			if !ok {
				from = end
				continue
			}
			// Gemini's and OpenAI's prompts declare tools in these namespaces.
			for _, space := range []string{"default_api.", "functions."} {
				if strings.HasSuffix(text[:at], space) {
					at -= len(space)
				}
			}
			call := writeObject(name, fields)
			text = text[:at] + call + text[end+size:]
			from = at + len(call)
		}
	}
	return text
}

// isName reports whether c may be part of a name, so that the text after it is not the whole name of a tool. A
// backtick counts too, since it begins a quotation.
func isName(c byte) bool {
	return c == '_' || c == '`' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// closingParenthesis returns the length of the text up to the parenthesis that closes its first one, -1 if it is not
// closed. Unlike in JSON, both quotes open a string anywhere.
func closingParenthesis(text string) int {
	depth := 0
	var quote byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quote != 0:
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"', c == '\'':
			quote = c
		case c == '(', c == '[', c == '{':
			depth++
		case c == ')', c == ']', c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// readLiterals decodes the arguments of a call in code: keyword arguments, or one positional argument. The latter is
// an object with all of them or the tool's single value. The first byte distinguishes literals of Python and JSON,
// such as None and -1, from variables.
func (k known) readLiterals(name, text string) (map[string]any, bool) {
	fields := map[string]any{}
	for _, argument := range splitArguments(text) {
		if strings.TrimSpace(argument) == "" {
			continue
		}
		key := ""
		if m := keyword().FindStringSubmatch(argument); m != nil {
			key, argument = m[1], argument[len(m[0]):]
		}
		argument = strings.TrimSpace(argument)
		if strings.IndexByte(`"'[{-0123456789TFN`, (argument + " ")[0]) < 0 && argument != "true" &&
			argument != "false" && argument != "null" {
			return nil, false
		}
		value, ok := mendJSON("[" + argument + "]")
		list, _ := value.([]any)
		if !ok || len(list) != 1 {
			return nil, false
		}
		if key == "" {
			single, fits := k.singleArgument(name, list[0])
			if object, is := list[0].(map[string]any); is {
				single, fits = object, true
			}
			if !fits || len(fields) > 0 {
				return nil, false
			}
			fields = single
			continue
		}
		fields[key] = list[0]
	}
	return fields, true
}

// splitArguments splits a text at commas outside of quotes and brackets. An unclosed quote extends to the end.
func splitArguments(text string) []string {
	var out []string
	for from, i := 0, 0; i <= len(text); i++ {
		if i == len(text) {
			return append(out, text[from:])
		}
		switch text[i] {
		case ',':
			out = append(out, text[from:i])
			from = i + 1
		case '"', '\'':
			for quote := text[i]; i+1 < len(text) && text[i+1] != quote; i++ {
				if text[i+1] == '\\' {
					i++
				}
			}
			i++
		case '(', '[', '{':
			if n := closingParenthesis(text[i:]); n > 0 {
				i += n - 1
			}
		}
	}
	return out
}
