package pdf

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/text"
)

// assembleText builds the canonical text from sheets, and consumes them. The outline, if any, defines the headings;
// without one the size and the weight of letters do. The title is the heading with the largest letters. The steps
// are: body size and leading; parts of each page; heading sizes; section anchors of the outline; paragraphs across
// pages, which depend on the sections; then the blocks. Sheets are consumed so that the words of a page can be freed
// once they are written.
func assembleText(sheets []sheet, outline []outlineEntry) corpus.Extracted {
	var sizes [][2]float64
	for i := range sheets {
		// A page may have several sheets, such as one of turned text; the first one has its size.
		if sheets[i].page == len(sizes) {
			width, height := sheets[i].drawnSize()
			sizes = append(sizes, [2]float64{float64(width), float64(height)})
		}
	}
	body, lead := bodySize(sheets), usualLeading(sheets)
	words := vocabularyOf(sheets, func(l *line) bool { return l.endsOpen() || l.isCap(body) })
	for i := range sheets {
		sheets[i].joinCaps(body, words)
	}
	grouped := make([][]part, len(sizes))
	for i := range sheets {
		at := sheets[i].page
		grouped[at] = placeParts(sheets, grouped[at], groupParts(sheets, i, lead, body))
	}
	heads := headingSizes(grouped, body)
	title := titleOf(grouped, heads, body)
	left := placeSections(sheets, grouped, outline)
	outlined := len(left) > 0
	starts := map[place]bool{}
	for _, s := range left {
		starts[s.place] = true
	}
	// With an outline, sizes of letters define no headings, nor what may be joined.
	levels := heads
	if outlined {
		levels = nil
	}
	joinContinued(sheets, grouped, levels, body, starts)
	var w doctext.Writer
	b := builder{w: &w, sheets: sheets, words: words}
	for i := range grouped {
		for j := range grouped[i] {
			p, level := &grouped[i][j], 0
			if len(p.lines) == 0 { // its lines were joined to an earlier paragraph
				continue
			}
			if !outlined {
				level = p.headingLevel(heads, body)
			}
			for ; len(left) > 0 && left[0].place == (place{i, j}); left = left[1:] {
				w.Section(left[0].level, left[0].title)
				if left[0].headed {
					level = left[0].level
				}
			}
			b.writePart(p, level)
		}
		grouped[i] = nil
	}
	x := w.Result()
	x.Title = title
	x.Pages, x.Sizes = len(sizes), sizes
	return x
}

// squeezeTitle returns the lower-case letters and digits of a text, for comparing titles.
func squeezeTitle(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// builder writes parts as blocks with word boxes.
type builder struct {
	w      *doctext.Writer
	sheets []sheet
	at     int // index of the current words' sheet
	words  vocabulary
}

// writePart writes a part, as a heading if level is positive. Its box covers its lines on the sheet where it begins;
// only word boxes cover lines on later sheets. The marker of a list item stays in the text of a heading.
func (b *builder) writePart(p *part, level int) {
	var area rect
	b.at = p.lines[0].sheet
	for _, l := range p.lines {
		if l.sheet == b.at {
			area.joinBox(l.rect)
		}
	}
	box := b.shareBox(area)
	block := corpus.Block{Kind: corpus.BlockParagraph, Page: b.sheets[b.at].page + 1, Box: &box}
	switch {
	case p.table != nil:
		block.Kind = corpus.BlockTable
		b.w.Begin(block)
		b.writeTable(p.table)
		b.w.End()
		return
	case level > 0:
		block.Kind, block.Level, p.item = corpus.BlockHeading, level, nil
	case p.item != nil:
		block.Kind, block.Level, block.Ordinal = corpus.BlockList, 1, p.item.ordinal
	case p.lines[0].mono:
		block.Kind = corpus.BlockCode
		b.w.Begin(block)
		b.writeCode(p.lines)
		b.w.End()
		return
	}
	b.w.Begin(block)
	if p.item != nil && p.item.ordinal > 0 {
		b.w.Numbered()
	}
	for i := range p.lines {
		b.writeLine(p, i)
	}
	b.w.End()
}

// writeLine writes line i of a paragraph, joined to the line before.
func (b *builder) writeLine(p *part, i int) {
	words := p.lines[i].words
	b.at = p.lines[i].sheet
	if i == 0 {
		if p.item != nil {
			words = words[p.item.skip:]
		}
		// separate lines, such as those of an address
	} else if p.loose || isContentsEntry(p.lines[i-1]) {
		b.w.Break() // after an entry of a table of contents
	} else if _, space := b.words.joint(&p.lines[i-1], &p.lines[i]); space {
		b.w.Text(" ")
	}
	dash := p.lines[i].hyphen
	if dash && i < len(p.lines)-1 {
		dash, _ = b.words.joint(&p.lines[i], &p.lines[i+1])
	}
	b.writeWords(words, dash)
}

// writeWords writes words with spaces, and the hyphen at the end of their line if dash is set.
func (b *builder) writeWords(words []word, dash bool) {
	for j, w := range words {
		if j > 0 && !w.glued {
			b.w.Text(" ")
		}
		if dash && j == len(words)-1 {
			w.text += "-"
		}
		b.writeWord(w.text, w.rect)
	}
}

// isContentsEntry reports whether a line is an entry of a table of contents, with the page number at its end.
func isContentsEntry(l line) bool {
	words := make([]string, len(l.words))
	for i, w := range l.words {
		words[i] = w.text
	}
	return text.Leader(strings.Join(words, " "))
}

// writeWord writes a word with its box, or without it if the positions of its sheet are unknown.
func (b *builder) writeWord(text string, r rect) {
	if b.sheets[b.at].unplaced {
		b.w.Text(text)
		return
	}
	b.w.Word(text, corpus.WordBox{
		Start: 0, End: utf8.RuneCountInString(text), Box: b.shareBox(r), Turn: b.sheets[b.at].shown,
	})
}

// writeTable writes a table's rows, split into cells at the gaps between columns.
func (b *builder) writeTable(t *table) {
	for _, row := range t.rows {
		b.w.Row()
		cells := t.splitCells(row)
		for i, cell := range cells {
			b.w.Cell()
			b.writeWords(cell, row.hyphen && i == len(cells)-1)
		}
	}
}

// writeCode writes lines of code with their indentation, estimated from the width of letters. The limit is 80 spaces
// before a line.
func (b *builder) writeCode(lines []line) {
	left := lines[0].x0
	for _, l := range lines {
		left = min(left, l.x0)
	}
	for i, l := range lines {
		if i > 0 {
			b.w.Text("\n")
		}
		w := l.words[0]
		// In a monospaced font all letters have the average width of the first word's.
		if width := (w.x1 - w.x0) / float32(utf8.RuneCountInString(w.text)); width > 0 {
			b.w.Text(strings.Repeat(" ", min(int((l.x0-left)/width+0.5), 80)))
		}
		b.writeWords(l.words, l.hyphen)
	}
}

// boxSteps is the resolution of boxes: steps per side of a page, finer than a pixel.
const boxSteps = 16384

// shareBox converts a box of the sheet to shares of the rendered page. It returns the whole page if positions are
// unknown.
func (b *builder) shareBox(r rect) chat.Box {
	const steps = boxSteps
	if s := &b.sheets[b.at]; s.unplaced {
		return chat.Box{float64(s.page + 1), 0, 0, 1, 1}
	}
	share := func(v, side float32) float64 {
		return min(max(math.Round(float64(v/side)*steps), 0), steps)
	}
	s := &b.sheets[b.at]
	width, height := s.drawnSize()
	r = s.toDrawn(r)
	// A box is at least one step wide and high, also at the page's edge, so that it is never empty.
	x0, y0 := min(share(r.x0, width), steps-1), min(share(r.y0, height), steps-1)
	x1, y1 := max(share(r.x1, width), x0+1), max(share(r.y1, height), y0+1)
	return chat.Box{float64(s.page + 1), x0 / steps, y0 / steps, x1 / steps, y1 / steps}
}
