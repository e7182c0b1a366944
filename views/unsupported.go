package views

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text/lazy"
)

// place is the range of a sentence in an answer's Markdown, with its footnotes, in byte offsets.
type place struct{ from, to int }

// footnoteMark matches a footnote, also an escaped one.
var footnoteMark = lazy.Regexp(`^\\?\[\d{1,3}\]`)

// Doubted returns the numbers of the citations in the unsupported sentences. Their quotes may be verified word for
// word and still not support the sentence. answer is Markdown.
func Doubted(answer string, unsupported []string) map[int]bool {
	if len(unsupported) == 0 {
		return nil
	}
	out := map[int]bool{}
	src := answer
	for _, p := range sentencePlaces(src, unsupported) {
		for _, m := range anyMark().FindAllStringSubmatch(src[p.from:p.to], -1) {
			if n, err := strconv.Atoi(m[1]); err == nil {
				out[n] = true
			}
		}
	}
	return out
}

// anyMark matches a footnote or an escaped character.
var anyMark = lazy.Regexp(`\\.|\[(\d{1,3})\]`)

// maxUnsupported limits the marked sentences of an answer, since each is searched for in the whole text. The value
// is arbitrary.
const maxUnsupported = 500

// sentencePlaces returns the ranges of sentences, given in order and without footnotes, in an answer with footnotes
// before or after their full stops. Sentences that are not found are skipped; ranges don't overlap.
//
// Both texts are normalised first: white space, footnotes and backslashes are removed, since sentences are rendered
// text and the answer is Markdown source.
func sentencePlaces(src string, sentences []string) []place {
	var out []place
	if len(sentences) == 0 {
		return nil
	}
	plain, offsets := bareText(src)
	next := 0 // offset in plain
	for _, s := range sentences[:min(len(sentences), maxUnsupported)] {
		// The marks of lists, headings, quotations and tables are not part of a sentence.
		wanted, _ := bareText(strings.TrimLeft(strings.TrimSpace(s), "-*#>|0123456789. "))
		if wanted == "" {
			continue
		}
		at := findSentence(plain, wanted, next, src, offsets)
		if at < 0 {
			continue
		}
		// The second copy of a repeated sentence is searched for after the first.
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

// findSentence returns the offset of a whole sentence from an offset on, or -1. It skips matches inside a word. It
// returns the start of a longer sentence only if no whole sentence matches.
func findSentence(plain, wanted string, from int, src string, offsets []int) int {
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

// endsAt reports whether a match ends like a sentence: with a full stop, before a footnote, or at the end of the
// line.
func endsAt(plain, wanted string, end int, src string, offsets []int) bool {
	if end == len(plain) || src[offsets[end]] == '|' {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(wanted, "*_`\"'”’»)"))
	return strings.ContainsRune(".!?:。！？：…", last) || strings.ContainsAny(src[offsets[end-1]+1:offsets[end]], "[\n")
}

// bareText normalises a text by removing white space, footnotes and backslashes. offsets maps each of its bytes to
// its offset in s. Sentences are rendered text, while Markdown escapes characters.
func bareText(s string) (plain string, offsets []int) {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == '[' || r == '\\' {
			if mark := footnoteMark().FindString(s[i:]); mark != "" {
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

// withChips extends a place by the sentence's own chips, which may follow its full stop, or the emphasis around the
// whole sentence.
func withChips(src string, p place) place {
	if chips := chipsAfter().FindString(src[p.to:]); chips != "" {
		return place{p.from, p.to + len(chips)}
	}
	around := src[len(strings.TrimRight(src[:p.from], "*_")):p.from]
	if rest, ok := strings.CutPrefix(src[p.to:], around); ok && around != "" {
		if chips := chipsAfter().FindString(rest); chips != "" {
			return place{p.from - len(around), p.to + len(around) + len(chips)}
		}
	}
	return p
}

var chipsAfter = lazy.Regexp(`^(?:[ \t]*\[\d{1,3}\])+[.!?]?`)
