package text

import "strings"

// How long a marker is at most, in bytes: its brackets, and the address behind them.
const (
	maxMarker     = 60
	maxMarkerLink = 2048
)

// Marker is a model's footnote as it was read: "[3]", "[1, 2]", "[4-6]", "【2】", "[Source 3]", "[[3]]",
// "[[3]](https://example.org)", "\[3\]". Numbers are in their order, ranges written out.
type Marker struct {
	Size    int // bytes of it
	Numbers []int
	Partial bool // the text ends before one can tell
}

// markerBrackets are the pairs that enclose a marker. OpenAI's models mark sources with the last one.
var markerBrackets = [][2]string{{"[", "]"}, {`\[`, `\]`}, {"【", "】"}}

// ReadMarker reads the marker that text begins with. A zero Size without Partial means that there is none. Partial asks
// for more text: a streaming reader holds back the start of a possible marker until it is complete.
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

// readLink returns how many bytes of a text are the address of a link, with its parentheses. The address is not whole
// while the text may go on with it.
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

// readBrackets reads a marker with one pair of brackets.
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
