// Package english has the refusal and puts numbers and words together: "4 steps", "1,840 searches". Every sentence of the program that
// counts something goes through it, so that plurals and digits read the same everywhere. It imports nothing of the
// program.
package english

import (
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Refusal begins every answer to a question that the documents do not answer. Prompts quote it, and clients get it word
// for word.
const Refusal = "I couldn't find relevant information about that in your documents."

// Count returns "1 step", "4 steps", "1,840 searches".
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

// Digits returns "1,840".
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

// Choose returns a if one holds, and b else: for words that agree with a number.
func Choose(one bool, a, b string) string {
	if one {
		return a
	}
	return b
}

// Languages names languages by their codes (ISO 639-1): "German", "German and Polish". What is no code stays as it is.
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
