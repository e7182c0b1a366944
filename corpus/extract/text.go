package extract

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"footnote/corpus"
	"footnote/corpus/extract/doctext"
)

// maxLines is how many lines of a paragraph are looked at together.
const maxLines = 5000

// plainText reads text: a paragraph ends at a blank line, hard-wrapped lines are joined, indented or ragged ones are
// kept apart. Underlined lines are the only headings it believes in.
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

// writeLines writes the paragraphs of a text.
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

// isUnderline reports whether mark is a row of = or - about as long as the title above it.
func isUnderline(mark, title string) bool {
	if len(mark) < 3 || strings.Trim(mark, "=") != "" && strings.Trim(mark, "-") != "" {
		return false
	}
	n := utf8.RuneCountInString(title)
	return n <= 100 && len(mark) >= n/2 && len(mark) <= 2*n+2 && strings.IndexFunc(title, unicode.IsLetter) >= 0
}

// listItem splits a list item from its mark.
func listItem(line string) (ordinal int, mark, item string, ok bool) {
	mark, item, _ = strings.Cut(strings.TrimLeftFunc(line, unicode.IsSpace), " ")
	item = strings.TrimSpace(item)
	ordinal, ok = doctext.ItemMark(mark)
	return ordinal, mark, item, ok && item != ""
}

// beginsItem reports whether a line with a mark begins a list item: a dash or a bracket may also be where an editor
// wrapped a sentence.
func beginsItem(before []string, l string, width int) bool {
	if len(before) == 0 {
		return true
	}
	last := before[len(before)-1]
	return indentOf(l) != indentOf(last) || strings.HasSuffix(last, ":") || !isWrapped(last, l, width)
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// isWrapped reports whether a line break is only where an editor ran out of width: the line before is about as long as
// the longest, or the next word would not have fitted.
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

func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) || r >= 0x3000 && r <= 0x303F ||
		r >= 0xFF00 && r <= 0xFF60
}
