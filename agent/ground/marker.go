package ground

import (
	"strings"
	"unicode/utf8"

	"footnote/corpus/text"
)

// maxMarker is the longest text that is taken for a marker, in bytes.
const maxMarker = 60

// marker is a model's footnote as it was read: "[3]", "[1, 2]", "[4-6]", "【2】", "[Source 3]".
type marker struct {
	size    int // bytes of it
	numbers []int
	partial bool // the text ends before one can tell
}

// readMarker reads the marker that text begins with. A zero size without partial means that there is none. partial asks
// for more text: the writer holds the beginning of what may become a marker until it is clear.
func readMarker(text string) marker {
	_, open := utf8.DecodeRuneInString(text)
	closing := "]"
	if strings.HasPrefix(text, "【") {
		closing = "】"
	}
	body, _, closed := strings.Cut(text[open:], closing)
	if len(body) > maxMarker {
		return marker{}
	}
	if closing == "】" {
		body, _, _ = strings.Cut(body, "†") // 【3†source】
		body, _, _ = strings.Cut(body, ":") // 【3:0†source】
	}
	numbers, ok := readNumbers(body, closed)
	switch {
	case !ok:
		return marker{}
	case !closed:
		return marker{partial: true}
	default:
		whole, _, _ := strings.Cut(text[open:], closing)
		return marker{size: open + len(whole) + len(closing), numbers: numbers}
	}
}

// markerWords stand before the number in the markers of some models: the longer ones first.
var markerWords = []string{
	"sources", "source", "passages", "passage", "documents", "document", "docs", "doc", "citation", "cite", "ref", "n",
	"^", "#",
}

// readNumbers reads "3", "1, 2", "4-6" or "Source 3"; of a body that is not closed yet it only says whether it may
// become that. Numbers have up to three digits, ranges up to 20 numbers: longer ones are text, such as years.
func readNumbers(body string, closed bool) (numbers []int, ok bool) {
	rest := strings.TrimLeft(body, " ")
	for _, word := range markerWords {
		lower := strings.ToLower(rest)
		if strings.HasPrefix(lower, word) {
			rest = strings.TrimLeft(rest[len(word):], " :=._")
			break
		}
		if !closed && lower != "" && strings.HasPrefix(word, lower) {
			return nil, true
		}
	}
	for rest != "" {
		n := 0
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n == 0 || n > 3 {
			return nil, false
		}
		number := 0
		for _, d := range rest[:n] {
			number = number*10 + int(d-'0')
		}
		numbers = append(numbers, number)
		rest = rest[n:]
		span := strings.TrimLeft(rest, " ")
		after, isRange := strings.CutPrefix(span, "-")
		if !isRange {
			after, isRange = strings.CutPrefix(span, "–")
		}
		if isRange {
			var end int
			if end, rest, ok = leadingNumber(strings.TrimLeft(after, " ")); !ok {
				return nil, !closed && strings.TrimSpace(after) == ""
			}
			if end < number || end-number > 20 {
				return nil, !closed && end < number && rest == "" // more digits may come
			}
			for i := number + 1; i <= end; i++ {
				numbers = append(numbers, i)
			}
		}
		separated := strings.TrimLeft(rest, " ,;&^#")
		if separated == rest && rest != "" {
			return nil, false
		}
		rest = separated
	}
	return numbers, !closed || len(numbers) > 0
}

// leadingNumber reads up to three digits that a text begins with.
func leadingNumber(s string) (number int, rest string, ok bool) {
	n := 0
	for n < len(s) && n < 3 && s[n] >= '0' && s[n] <= '9' {
		number = number*10 + int(s[n]-'0')
		n++
	}
	return number, s[n:], n > 0
}

// WithoutMarkers returns a text without its footnotes.
func WithoutMarkers(said string) string {
	var b strings.Builder
	done := 0
	formulas := text.Formulas(said, nil)
	for from := 0; from < len(said); {
		i := strings.IndexAny(said[from:], "[【")
		if i < 0 {
			break
		}
		i += from
		for len(formulas) > 0 && formulas[0].End <= i {
			formulas = formulas[1:]
		}
		if len(formulas) > 0 && formulas[0].Start < i {
			from = formulas[0].End
			continue
		}
		m := readMarker(said[i:])
		if m.size == 0 || !text.IsRunning(said[:i]) {
			_, n := utf8.DecodeRuneInString(said[i:])
			from = i + n
			continue
		}
		b.WriteString(strings.TrimRight(said[done:i], " "))
		from = i + m.size
		done = from
	}
	return b.String() + said[done:]
}
