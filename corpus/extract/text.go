package extract

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

// maxLines is the maximum number of lines of a paragraph. A file without blank lines would otherwise be one
// paragraph of millions of lines. The context is checked at each split, so that the reader can be cancelled.
const maxLines = 5000

// plainText reads text. A paragraph ends at a blank line, hard-wrapped lines are joined, indented or ragged ones are
// kept apart. Only underlined lines are headings. Other conventions, such as capitals or a number, also begin
// ordinary lines. A wrong heading does harm, since all following text would be below it.
func plainText(ctx context.Context, src string, _ corpus.File) (corpus.Extracted, error) {
	var w doctext.Writer
	w.Grow(len(src) + len(src)/64) // long paragraphs are split, which adds blank lines
	if err := writeLines(ctx, &w, src); err != nil {
		return corpus.Extracted{}, err
	}
	x := w.Result()
	x.Title = firstTitle(x)
	return x, nil
}

// writeLines writes the paragraphs of a text. It trims white space at the ends of lines first, so that a line of
// spaces ends a paragraph.
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

// writeParagraph writes the lines between two blank ones: leading headings, then list items and text. The longest
// line is the width for detecting hard-wrapped lines. A list item with the same indentation as an earlier one is
// accepted without further checks.
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
	margins := map[int]bool{} // indentations of the paragraph's items
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

// isUnderline reports whether mark underlines title: a setext heading of Markdown. The title needs a letter and at
// most 100 runes. The row of = or - must be between half and twice as long, because rows of dashes also separate the
// parts of a text.
func isUnderline(mark, title string) bool {
	if len(mark) < 3 || strings.Trim(mark, "=") != "" && strings.Trim(mark, "-") != "" {
		return false
	}
	n := utf8.RuneCountInString(title)
	return n <= 100 && len(mark) >= n/2 && len(mark) <= 2*n+2 && strings.IndexFunc(title, unicode.IsLetter) >= 0
}

// listItem splits a list item from its marker, as defined by doctext.ItemMark. ok is false without text after the
// marker: a lone dash or number is part of a sentence or of a table.
func listItem(line string) (ordinal int, mark, item string, ok bool) {
	mark, item, _ = strings.Cut(strings.TrimLeftFunc(line, unicode.IsSpace), " ")
	item = strings.TrimSpace(item)
	ordinal, ok = doctext.ItemMark(mark)
	return ordinal, mark, item, ok && item != ""
}

// beginsItem reports whether a line with a marker begins a list item. A dash or a bracket may also be where an
// editor wrapped a sentence. A line begins an item if it is the first of its paragraph, or has another indentation
// than the line above. It also does after a colon, or after a line that had room for its first word.
func beginsItem(before []string, l string, width int) bool {
	if len(before) == 0 {
		return true
	}
	last := before[len(before)-1]
	return indentOf(l) != indentOf(last) || strings.HasSuffix(last, ":") || !isWrapped(last, l, width)
}

// indentOf counts the spaces and tabs at the start of a line. A tab counts as one: indentations are only compared
// with each other.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// isWrapped reports whether a line break is a hard wrap of an editor. The line before is then at least 90 % of the
// width, or the next word would not have fitted. Lines with a tab and lines that start an indentation are tables or
// code, and are never joined. Neither are paragraphs below a width of 40 runes, which are verses, addresses or lists
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

// needsSpace reports whether joined lines need a space between them. Scripts without spaces don't.
func needsSpace(before, next string) bool {
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(strings.TrimLeft(next, " "))
	return !isUnspaced(a) || !isUnspaced(b)
}

// isUnspaced reports whether a rune belongs to a script without spaces between words, such as Chinese, Japanese or
// Thai, or to its punctuation. Korean has spaces. U+3000 to U+303F are CJK punctuation, U+FF00 to U+FF60 the
// full-width forms.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) || r >= 0x3000 && r <= 0x303F ||
		r >= 0xFF00 && r <= 0xFF60
}
