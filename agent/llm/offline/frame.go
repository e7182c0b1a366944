package offline

import (
	"strings"

	"github.com/footnote/footnote/text"
)

// frameLines is how many lines a block has at most that frames a text.
const frameLines = 3

// markFrames marks the units of a source that only frame its text: a salutation, the closing of a letter with the name
// below it, a title that no style says to be one. They are blocks of a few lines of that form (text.Frames) with which
// the source begins or ends, or which end with a comma. Where all are, as on a notice, none is.
func (p pile) markFrames(units []unit) {
	blocks := p.blocksOf(units)
	begin, end := 0, len(blocks)
	for begin < end && isFrame(blocks[begin]) {
		begin++
	}
	for end > begin && isFrame(blocks[end-1]) {
		end--
	}
	if begin == end {
		return
	}
	for n, block := range blocks {
		comma := strings.HasSuffix(block[len(block)-1].text, ",")
		for i := range block {
			block[i].frame = n < begin || n >= end || comma && isFrame(block)
		}
	}
}

// blocksOf cuts units at blank lines.
func (p pile) blocksOf(units []unit) (blocks [][]unit) {
	from := 0
	for to := 1; to <= len(units); to++ {
		if to == len(units) || blankLines(p.between(units[to-1], units[to])) > 0 {
			blocks, from = append(blocks, units[from:to]), to
		}
	}
	return blocks
}

// isFrame reports whether a block may only frame a text: it is short, and each of its units has the form of one.
func isFrame(block []unit) bool {
	lines := 0
	for _, u := range block {
		lines += 1 + strings.Count(u.text, "\n")
		if lines > frameLines || u.row != nil || u.names || !text.Frames(u.text) {
			return false
		}
	}
	return true
}

// between is what stands between a unit and the next of its source.
func (p pile) between(before, after unit) []rune {
	return p.runes[before.source][before.end:after.start]
}
