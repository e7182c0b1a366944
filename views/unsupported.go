package views

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// place is where a sentence stands in an answer's Markdown, with its footnotes: from a byte to another.
type place struct{ from, to int }

// footnoteMark is a footnote, or what looks like one and is escaped.
var footnoteMark = regexp.MustCompile(`^\\?\[\d{1,3}\]`)

// Doubted returns the numbers of the citations that stand in a sentence of unsupported: their quotes may be word for
// word and yet not say what the sentence says. answer is Markdown.
func Doubted(answer string, unsupported []string) map[int]bool {
	if len(unsupported) == 0 {
		return nil
	}
	out := map[int]bool{}
	src := answer
	for _, p := range sentencePlaces(src, unsupported) {
		for _, m := range anyMark.FindAllStringSubmatch(src[p.from:p.to], -1) {
			if n, err := strconv.Atoi(m[1]); err == nil {
				out[n] = true
			}
		}
	}
	return out
}

// anyMark is a footnote, or a sign that is escaped.
var anyMark = regexp.MustCompile(`\\.|\[(\d{1,3})\]`)

// maxUnsupported is how many sentences of an answer are marked at most: each is looked for in all of it.
// It is a choice.
const maxUnsupported = 500

// sentencePlaces finds sentences, which come in order and without footnotes, in an answer that has its footnotes
// before or behind their full stops. What is not found is left out; no two places overlap.
//
// Both texts are compared without white space, footnotes and backslashes, since sentences come as they read and the
// answer as it is written.
func sentencePlaces(src string, sentences []string) []place {
	var out []place
	if len(sentences) == 0 {
		return nil
	}
	plain, offsets := bareText(src)
	next := 0 // in plain
	for _, s := range sentences[:min(len(sentences), maxUnsupported)] {
		// Marks of lists, headings, quotations and tables are no part of a sentence.
		wanted, _ := bareText(strings.TrimLeft(strings.TrimSpace(s), "-*#>|0123456789. "))
		if wanted == "" {
			continue
		}
		at := standsIn(plain, wanted, next, src, offsets)
		if at < 0 {
			continue
		}
		// A sentence that stands twice is looked for behind the first one the second time.
		next = at + len(wanted)
		p := place{offsets[at], offsets[next-1] + 1}
		if p.to = p.from + len(strings.TrimRight(src[p.from:p.to], "| \t")); p.to < len(src) && src[p.to] != '|' {
			p = withChips(src, p)
		}
		if len(out) == 0 || out[len(out)-1].to <= p.from {
			out = append(out, p)
		}
	}
	return out
}

// standsIn finds a whole sentence from a place on: not the end of a longer word, and not the beginning of another
// sentence unless it stands nowhere else. It is -1 if there is none.
func standsIn(plain, wanted string, from int, src string, offsets []int) int {
	begins := -1
	for from <= len(plain) {
		i := strings.Index(plain[from:], wanted)
		if i < 0 {
			break
		}
		from += i
		before, _ := utf8.DecodeLastRuneInString(src[:offsets[from]])
		first, size := utf8.DecodeRuneInString(wanted)
		if !(unicode.IsLetter(before) || unicode.IsNumber(before)) || !unicode.IsLetter(first) {
			if endsAt(plain, wanted, from+len(wanted), src, offsets) {
				return from
			}
			if begins < 0 {
				begins = from
			}
		}
		from += size
	}
	return begins
}

// endsAt reports whether a sentence that was found ends where its words do: with a full stop, before a footnote, or
// with its line.
func endsAt(plain, wanted string, end int, src string, offsets []int) bool {
	if end == len(plain) || src[offsets[end]] == '|' {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(wanted, "*_`\"'”’»)"))
	return strings.ContainsRune(".!?:。！？：…", last) || strings.ContainsAny(src[offsets[end-1]+1:offsets[end]], "[\n")
}

// bareText is a text without white space, footnotes and backslashes, and where each of its bytes stands in the text.
// Sentences come as they read, and Markdown escapes signs.
func bareText(s string) (plain string, offsets []int) {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == '[' || r == '\\' {
			if mark := footnoteMark.FindString(s[i:]); mark != "" {
				i += len(mark)
				continue
			}
		}
		if !unicode.IsSpace(r) && r != '\\' {
			b.WriteString(s[i : i+size])
			for k := range size {
				offsets = append(offsets, i+k)
			}
		}
		i += size
	}
	return b.String(), offsets
}

// withChips takes the sentence's own chips, which may stand behind its full stop, into a place: also those behind the
// emphasis that stands around all of it.
func withChips(src string, p place) place {
	if chips := chipsAfter.FindString(src[p.to:]); chips != "" {
		return place{p.from, p.to + len(chips)}
	}
	around := src[len(strings.TrimRight(src[:p.from], "*_")):p.from]
	if rest, ok := strings.CutPrefix(src[p.to:], around); ok && around != "" {
		if chips := chipsAfter.FindString(rest); chips != "" {
			return place{p.from - len(around), p.to + len(around) + len(chips)}
		}
	}
	return p
}

var chipsAfter = regexp.MustCompile(`^(?:[ \t]*\[\d{1,3}\])+[.!?]?`)
