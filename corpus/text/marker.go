package text

import (
	"strings"
	"unicode/utf8"
)

// maxMarker is the longest text that is taken for a marker, in bytes.
const maxMarker = 60

// Marker is a model's footnote as it was read: "[3]", "[1, 2]", "[4-6]", "【2】", "[Source 3]". Numbers are in their
// order, ranges written out.
type Marker struct {
	Size    int // bytes of it
	Numbers []int
	Partial bool // the text ends before one can tell
}

// ReadMarker reads the marker that text begins with. A zero Size without Partial means that there is none. Partial asks
// for more text: who reads a text as it comes holds the beginning of what may become a marker until it is clear. The
// text must begin with "[" or "【", the latter being how OpenAI's models mark sources.
func ReadMarker(text string) Marker {
	_, open := utf8.DecodeRuneInString(text)
	closing := "]"
	if strings.HasPrefix(text, "【") {
		closing = "】"
	}
	body, _, closed := strings.Cut(text[open:], closing)
	if len(body) > maxMarker {
		return Marker{}
	}
	if closing == "】" {
		body, _, _ = strings.Cut(body, "†") // 【3†source】
		body, _, _ = strings.Cut(body, ":") // 【3:0†source】
	}
	numbers, ok := readNumbers(body, closed)
	switch {
	case !ok:
		return Marker{}
	case !closed:
		return Marker{Partial: true}
	default:
		whole, _, _ := strings.Cut(text[open:], closing)
		return Marker{Size: open + len(whole) + len(closing), Numbers: numbers}
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
