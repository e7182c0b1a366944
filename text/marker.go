package text

import "strings"

// Maximum lengths of a marker in bytes: its brackets, and the address after them.
const (
	maxMarker     = 60
	maxMarkerLink = 2048
)

// Marker is a parsed footnote of a model: "[3]", "[1, 2]", "[4-6]", "【2】", "[Source 3]", "[[3]]",
// "[[3]](https://example.org)", "\[3\]". Numbers are in order, with ranges expanded.
type Marker struct {
	Size    int // length in bytes
	Numbers []int
	Partial bool // the text ends before this can be decided
}

// markerBrackets are the pairs of brackets of markers. OpenAI's models mark sources with the last one.
var markerBrackets = [][2]string{{"[", "]"}, {`\[`, `\]`}, {"【", "】"}}

// ReadMarker parses the marker at the beginning of text. A zero Size without Partial means that there is no marker.
// Partial requests more text: a stream holds back the start of a possible marker until it is complete.
func ReadMarker(text string) Marker {
	rest, isDouble := strings.CutPrefix(text, "[[")
	if !isDouble {
		return readBrackets(text)
	}
	m := readBrackets("[" + rest)
	if m.Size == 0 {
		return m
	}
	rest = rest[m.Size-1:]
	if !strings.HasPrefix(rest, "]") {
		return Marker{Partial: rest == ""}
	}
	link, isWhole := readLink(rest[1:])
	m.Size, m.Partial = m.Size+len("[]")+link, !isWhole
	return m
}

// readLink returns the size in bytes of the link address at the beginning of text, with its parentheses. isWhole is
// false if more text may continue the address.
func readLink(text string) (size int, isWhole bool) {
	if !strings.HasPrefix(text, "(") {
		return 0, true
	}
	depth := 0
	for i, r := range text[:min(len(text), maxMarkerLink)] {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case ' ', '\n', '\t':
			return 0, true
		}
	}
	return 0, len(text) >= maxMarkerLink
}

// readBrackets parses a marker with one pair of brackets.
func readBrackets(text string) Marker {
	for _, pair := range markerBrackets {
		rest, ok := strings.CutPrefix(text, pair[0])
		if !ok {
			continue
		}
		body, _, closed := strings.Cut(rest, pair[1])
		if len(body) > maxMarker {
			return Marker{}
		}
		size := len(pair[0]) + len(body) + len(pair[1])
		switch pair[0] {
		case "【":
			body, _, _ = strings.Cut(body, "†") // 【3†source】
			body, _, _ = strings.Cut(body, ":") // 【3:0†source】
		case `\[`:
			body = strings.TrimSuffix(body, `\`)
			if strings.HasPrefix(body, " ") || closed && strings.HasSuffix(body, " ") { // a formula
				return Marker{}
			}
		}
		numbers, ok := readNumbers(body, closed)
		switch {
		case !ok:
			return Marker{}
		case !closed:
			return Marker{Partial: true}
		}
		return Marker{Size: size, Numbers: numbers}
	}
	return Marker{}
}

// markerWords precede the number in the markers of some models; longer ones first.
var markerWords = []string{
	"sources", "source", "passages", "passage", "documents", "document", "docs", "doc", "citation", "cite", "ref", "n",
	"^", "#",
}

// readNumbers parses "3", "1, 2", "4-6" or "Source 3"; for an unclosed body it only reports whether it may become
// one. Numbers have up to three digits, ranges up to 20 numbers: longer ones are text, such as years.
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
				return nil, !closed && end < number && rest == "" // more digits may follow
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

// leadingNumber parses up to three digits at the beginning of a text.
func leadingNumber(s string) (number int, rest string, ok bool) {
	n := 0
	for n < len(s) && n < 3 && s[n] >= '0' && s[n] <= '9' {
		number = number*10 + int(s[n]-'0')
		n++
	}
	return number, s[n:], n > 0
}
