package views

import (
	"context"
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/lazy"
)

// quoteBlock finishes a block quote that ends with a footnote: it marks the question's words and adds a line with
// the quote's place. The input HTML is sanitized and still has the footnote's placeholder.
//
// s is one block. Without a closing tag it is returned unchanged.
func quoteBlock(ctx context.Context, s string, c chat.Citation) string {
	end := strings.LastIndex(s, "</blockquote>")
	if end < 0 {
		return s
	}
	place := shownName(c.Title)
	if place == "" {
		place = shownName(c.Filename)
	}
	var where strings.Builder
	at := placeText(ctx, sourcePlace(c.Title, c.PlaceWords(), c.Section))
	if !strings.HasPrefix(at+", ", place+", ") { // a mail's place contains its name
		where.WriteString(`<span>` + html.EscapeString(place) + `</span>`)
	}
	if at != "" {
		where.WriteString(`<span>` + html.EscapeString(at) + `</span>`)
	}
	return markWords(s[:end], c.Matched) + `<footer class="place">` + where.String() + `</footer>` + s[end:]
}

var tagOrText = lazy.Regexp(`<[^>]*>|[^<]+`)

// markWords marks words in the text of HTML, case-sensitive and only at word boundaries. Words of scripts without
// spaces match anywhere.
//
// Longer words are tried first, so that a word is preferred to its own prefix. Tags are skipped.
func markWords(s string, words []string) string {
	if len(words) == 0 {
		return s
	}
	escaped := make([]string, len(words))
	for i, w := range words {
		escaped[i] = html.EscapeString(w)
	}
	slices.SortFunc(escaped, func(a, b string) int { return len(b) - len(a) })
	return tagOrText().ReplaceAllStringFunc(s, func(part string) string {
		if part[0] == '<' {
			return part
		}
		var b strings.Builder
		for at := 0; at < len(part); {
			i := slices.IndexFunc(escaped, func(w string) bool { return wordAt(part, at, w) })
			if i < 0 {
				_, size := utf8.DecodeRuneInString(part[at:])
				b.WriteString(part[at : at+size])
				at += size
				continue
			}
			b.WriteString("<mark>" + escaped[i] + "</mark>")
			at += len(escaped[i])
		}
		return b.String()
	})
}

// wordAt reports whether s has w as a whole word at offset at.
func wordAt(s string, at int, w string) bool {
	if w == "" || !strings.HasPrefix(s[at:], w) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(w)
	last, _ := utf8.DecodeLastRuneInString(w)
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at+len(w):])
	return !(isWordRune(first) && isWordRune(before)) && !(isWordRune(last) && isWordRune(after))
}

// isWordRune reports whether a rune is part of a word in a script with spaces.
func isWordRune(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}
