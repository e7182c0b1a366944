package extract

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/rtf"
)

// bodyKind is the format of a part of a mail that is displayed.
type bodyKind int

const (
	plainBody bodyKind = iota
	htmlBody
	rtfBody   // bytes of RTF
	cardBody  // a calendar or an address book
	otherBody // text in a format that no reader knows; used if there is nothing else
)

// body is one displayed part of a mail, decoded.
type body struct {
	kind bodyKind
	text string
}

// splitCards separates appointments from other bodies.
func splitCards(all []body) (texts, cards []body) {
	for _, b := range all {
		if b.kind == cardBody {
			cards = append(cards, b)
		} else {
			texts = append(texts, b)
		}
	}
	return texts, cards
}

const (
	// maxCompared bounds the comparison of two alternatives. Longer ones are compared by their beginnings.
	maxCompared = 1 << 20 // bytes
	// A plain text with nine tenths of the HTML's words is complete: HTML has preview lines and labels of buttons
	// besides.
	complete = 10
	// Of two texts with nothing in common, one that is longer by this factor is used alone.
	muchLonger = 4
)

// chooseAlternative returns the text of a multipart/alternative (RFC 2046 §5.1.4), whose parts should have the same
// content. Plain text is preferred if it has the content of the richer one, because it marks quoted lines. Cards are
// kept besides the text, because programs send an appointment as an alternative of its description.
func chooseAlternative(ctx context.Context, all []body) []body {
	var plain, rich, cards, other []body
	for _, b := range all {
		switch {
		case strings.TrimSpace(b.text) == "":
		case b.kind == plainBody:
			plain = append(plain, b)
		case b.kind == cardBody:
			cards = append(cards, b)
		case b.kind == otherBody:
			other = append(other, b)
		default:
			rich = append(rich, b)
		}
	}
	chosen := choose(ctx, plain, rich)
	if len(chosen) == 0 {
		chosen = other
	}
	return append(chosen, cards...)
}

// choose returns the one of two texts that lacks fewer of the other's words; plain if that is complete. A text that
// shares hardly a word with the other is often a stub (“Your mail program can't show HTML”). The shorter one is
// dropped then, and rich precedes plain if neither is much longer.
func choose(ctx context.Context, plain, rich []body) []body {
	if len(plain) == 0 {
		return rich
	}
	words := wordSides{}
	words.add(ctx, plain, inPlain)
	words.add(ctx, rich, inRich)
	var count [inPlain + inRich + 1]int
	for _, sides := range words {
		count[sides]++
	}
	lostInPlain, lostInRich, shared := count[inRich], count[inPlain], count[inPlain|inRich]
	switch {
	case lostInPlain*complete <= lostInPlain+shared:
		return plain
	case shared*2 >= min(lostInPlain, lostInRich)+shared: // related
		if lostInPlain > lostInRich {
			return rich
		}
		return plain
	case lostInRich > lostInPlain*muchLonger:
		return plain
	case lostInRich > lostInPlain:
		return append(rich, plain...)
	}
	return rich
}

// wordSides holds the hashes of words, with the texts that contain them as a bit set.
type wordSides map[uint64]uint8

const (
	inPlain uint8 = 1 << iota
	inRich
)

// add adds the words of a text.
func (w wordSides) add(ctx context.Context, all []body, side uint8) {
	left := maxCompared
	for _, b := range all {
		text := b.text[:min(len(b.text), left)]
		left -= len(text)
		switch b.kind {
		case htmlBody:
			eachTextRun(text, func(run string) { w.addText(run, side) })
		case rtfBody:
			var text doctext.Writer
			if rtf.Write(ctx, &text, []byte(b.text)) == nil {
				w.addText(text.Result().Text, side)
			}
		case plainBody, otherBody:
			w.addText(text, side)
		case cardBody: // an appointment is no version of the text
		}
	}
}

// contain reports whether a text that was not added is part of the others, such as the description of an appointment.
func (w wordSides) contain(text string) bool {
	one, missing := wordSides{}, 0
	one.addText(text, inRich)
	for word := range one {
		if w[word] == 0 {
			missing++
		}
	}
	return missing*complete <= len(one)
}

// addText adds the words of plain text: runs of letters and digits in lower case. Scripts without spaces have one
// word per letter. Addresses are skipped, because HTML has them in attributes.
func (w wordSides) addText(text string, side uint8) {
	for field := range strings.FieldsSeq(text) {
		if strings.Contains(field, "://") {
			continue
		}
		const basis, prime = 14695981039346656037, 1099511628211 // FNV-1a
		hash := uint64(basis)
		for _, r := range field {
			if r < utf8.RuneSelf && 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			} else if r >= utf8.RuneSelf {
				r = unicode.ToLower(r)
			}
			isWord := 'a' <= r && r <= 'z' || '0' <= r && r <= '9' ||
				r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
			if isWord {
				hash = (hash ^ uint64(r)) * prime
			}
			if hash != basis && (!isWord || r >= utf8.RuneSelf && isUnspaced(r)) {
				w[hash] |= side
				hash = basis
			}
		}
		if hash != basis {
			w[hash] |= side
		}
	}
}

// eachTextRun calls yield for the text between the tags of HTML. It skips comments and the elements of a mail that
// are never displayed. It is far faster than a tokenizer, and less exact.
func eachTextRun(src string, yield func(run string)) {
	for src != "" {
		at := strings.IndexByte(src, '<')
		if at < 0 {
			yield(html.UnescapeString(src))
			return
		}
		if at > 0 {
			yield(html.UnescapeString(src[:at]))
		}
		src = src[at:]
		end := ">"
		if strings.HasPrefix(src, "<!--") {
			end = "-->"
		}
		tag, rest, _ := strings.Cut(src, end)
		for _, hidden := range []string{"style", "script", "title"} {
			if len(tag) > len(hidden) && strings.EqualFold(tag[1:len(hidden)+1], hidden) &&
				strings.Trim(tag[len(hidden)+1:min(len(tag), len(hidden)+2)], " \t\r\n") == "" {
				rest = afterElement(rest, hidden)
			}
		}
		src = rest
	}
}

// afterElement returns the text after an element's end tag, "" without one.
func afterElement(src, name string) string {
	for src != "" {
		_, src, _ = strings.Cut(src, "</")
		if len(src) >= len(name) && strings.EqualFold(src[:len(name)], name) {
			return src[len(name):]
		}
	}
	return ""
}
