// Package english has the refusal sentence and formats numbers and nouns: "4 steps", "1,840 searches". All messages
// with a count use it, so that plurals and digits are consistent. It imports nothing of the program.
package english

import (
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Refusal begins every answer to a question that the documents do not answer. Prompts quote it, and clients get it
// verbatim.
const Refusal = "I couldn't find relevant information about that in your documents."

// Count formats a number with a noun: "1 step", "4 steps", "1,840 searches".
func Count[N int | int64](n N, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch"):
		return Digits(n) + " " + noun + "es"
	case strings.HasSuffix(noun, "ary"):
		return Digits(n) + " " + strings.TrimSuffix(noun, "y") + "ies"
	default:
		return Digits(n) + " " + noun + "s"
	}
}

// Digits formats a number with thousands separators: "1,840".
func Digits[N int | int64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(text) - 3; i > first; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Choose returns a if one is true, else b: for words that agree with a number.
func Choose(one bool, a, b string) string {
	if one {
		return a
	}
	return b
}

// Languages returns the names of language codes (ISO 639-1): "German", "German and Polish". Invalid codes are
// returned unchanged.
func Languages(codes []string) string {
	names := make([]string, len(codes))
	for i, code := range codes {
		names[i] = code
		if tag, err := language.Parse(code); err == nil {
			names[i] = display.English.Languages().Name(tag)
		}
	}
	return List(names)
}

// List joins names: "a", "a and b", "a, b and c".
func List(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
