package extract

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

// maxLines is how many lines of a paragraph are looked at together. A file without blank lines would be one paragraph
// of millions of lines. It is cut here, and the context is asked at each cut, so that a reader of such a file can be
// stopped.
const maxLines = 5000

// plainText reads text: a paragraph ends at a blank line, hard-wrapped lines are joined, indented or ragged ones are
// kept apart. Underlined lines are the only headings it believes in. Other marks that people use for headings, such as
// capitals or a number, are also how people begin an ordinary line, and a wrong heading does harm: all that follows
// would stand below it.
func plainText(ctx context.Context, src string, _ corpus.File) (corpus.Extracted, error) {
	var w doctext.Writer
	w.Grow(len(src) + len(src)/64) // long paragraphs are cut, which adds blank lines
	if err := writeLines(ctx, &w, src); err != nil {
		return corpus.Extracted{}, err
	}
	x := w.Result()
	x.Title = firstTitle(x)
	return x, nil
}

// writeLines writes the paragraphs of a text. White space at the ends of lines is cut first, so that a line of spaces
// ends a paragraph as an empty one does.
func writeLines(ctx context.Context, w *doctext.Writer, src string) error {
	var para []string
	flush := func() {
		writeParagraph(w, para)
		para = para[:0]
	}
	for line := range strings.Lines(src) {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if line == "" {
			flush()
			continue
		}
		if para = append(para, line); len(para) >= maxLines {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			flush()
		}
	}
	flush()
	return nil
}

// writeParagraph writes the lines between two blank ones: first the headings that they begin with, then list items and
// text. The longest line tells the width to which an editor wrapped them. A second item needs no further proof if one
// with the same indentation was found above it.
func writeParagraph(w *doctext.Writer, lines []string) {
	for len(lines) >= 2 && isUnderline(lines[1], lines[0]) {
		level := 1
		if lines[1][0] != '=' {
			level = 2
		}
		w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: level})
		w.Text(lines[0])
		w.End()
		lines = lines[2:]
	}
	if len(lines) == 0 {
		return
	}
	width := 0
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(l))
	}
	open := false
	margins := map[int]bool{} // of the paragraph's items
	for i, l := range lines {
		if ordinal, mark, item, ok := listItem(l); ok && (margins[indentOf(l)] || beginsItem(lines[:i], l, width)) {
			margins[indentOf(l)] = true
			w.Begin(corpus.Block{Kind: corpus.BlockList, Level: 1, Ordinal: ordinal})
			if ordinal > 0 {
				w.Number(mark)
			}
			w.Text(item)
			open = true
			continue
		}
		switch {
		case !open:
			w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
			open = true
		case isWrapped(lines[i-1], l, width):
			if needsSpace(lines[i-1], l) {
				w.Text(" ")
			}
		default:
			w.Break()
		}
		w.Text(l)
	}
	w.End()
}

// isUnderline reports whether mark is a row of = or - about as long as the title above it. The title must have a
// letter, be at most 100 runes long, and the row must be between half and twice as long as it: rows of dashes are also
// what people draw between parts of a text. These are the headings that Markdown calls setext.
func isUnderline(mark, title string) bool {
	if len(mark) < 3 || strings.Trim(mark, "=") != "" && strings.Trim(mark, "-") != "" {
		return false
	}
	n := utf8.RuneCountInString(title)
	return n <= 100 && len(mark) >= n/2 && len(mark) <= 2*n+2 && strings.IndexFunc(title, unicode.IsLetter) >= 0
}

// listItem splits a list item from its mark. doctext.ItemMark decides what a mark is. An item that has no text behind
// its mark is none: a lone dash or number is part of a sentence or of a table.
func listItem(line string) (ordinal int, mark, item string, ok bool) {
	mark, item, _ = strings.Cut(strings.TrimLeftFunc(line, unicode.IsSpace), " ")
	item = strings.TrimSpace(item)
	ordinal, ok = doctext.ItemMark(mark)
	return ordinal, mark, item, ok && item != ""
}

// beginsItem reports whether a line with a mark begins a list item: a dash or a bracket may also be where an editor
// wrapped a sentence. A line begins an item if it is the first of its paragraph, is indented otherwise than the line
// above, follows a colon, or follows a line that had room for its first word.
func beginsItem(before []string, l string, width int) bool {
	if len(before) == 0 {
		return true
	}
	last := before[len(before)-1]
	return indentOf(l) != indentOf(last) || strings.HasSuffix(last, ":") || !isWrapped(last, l, width)
}

// indentOf counts the spaces and tabs before a line's first other byte. A tab counts as one: indentations are only
// compared with each other.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// isWrapped reports whether a line break is only where an editor ran out of width: the line before is about as long as
// the longest, or the next word would not have fitted. Lines with a tab and lines that begin to be indented are kept
// apart: they are tables or code. Below a width of 40 runes no editor wraps; short lines are verses, addresses or lists
// of names.
func isWrapped(before, next string, width int) bool {
	if strings.HasPrefix(next, "\t") || strings.Contains(before, "\t") || strings.Contains(next, "\t") {
		return false
	}
	if len(next) > 0 && next[0] == ' ' && (before == "" || before[0] != ' ') {
		return false
	}
	word, _, _ := strings.Cut(strings.TrimLeft(next, " "), " ")
	if width < 40 {
		return false
	}
	return utf8.RuneCountInString(before)+1+utf8.RuneCountInString(word) > width ||
		utf8.RuneCountInString(before) > width*9/10
}

// needsSpace reports whether joined lines need a space between them: scripts without spaces do not.
func needsSpace(before, next string) bool {
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(strings.TrimLeft(next, " "))
	return !isUnspaced(a) || !isUnspaced(b)
}

// isUnspaced reports whether a rune is of a script, or is punctuation of one, that puts no space between words:
// Chinese, Japanese or Thai. Korean has spaces. U+3000 to U+303F are CJK punctuation, U+FF00 to U+FF60 the full-width
// forms.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) || r >= 0x3000 && r <= 0x303F ||
		r >= 0xFF00 && r <= 0xFF60
}
