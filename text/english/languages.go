package english

import (
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

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
