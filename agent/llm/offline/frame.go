package offline

import (
	"strings"

	"github.com/footnote/footnote/text"
)

// frameLines is the maximum number of lines of a block that frames a text.
const frameLines = 3

// markFrames marks the units of a source that frame its text: a salutation, the closing of a letter with the name,
// an unstyled title. They are short blocks of that form (text.Frames) at the start or end of the source, or that end
// with a comma. If all blocks are, as on a notice, none is marked.
func (p pool) markFrames(units []unit) {
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

// blocksOf splits units at blank lines.
func (p pool) blocksOf(units []unit) (blocks [][]unit) {
	from := 0
	for to := 1; to <= len(units); to++ {
		if to == len(units) || blankLines(p.between(units[to-1], units[to])) > 0 {
			blocks, from = append(blocks, units[from:to]), to
		}
	}
	return blocks
}

// isFrame reports whether a block may be a frame: it is short, and each of its units has the form of one.
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

// between returns the text between a unit and the next one of its source.
func (p pool) between(before, after unit) []rune {
	return p.runes[before.source][before.end:after.start]
}
