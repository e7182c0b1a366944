package tools

import (
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus"
)

// ShownPassage is a passage in a tool's output. ChunkID is for the page and API clients and omitted for models.
//
// N is its citation number, 1 or more. Page counts from 1; 0 means a document without pages.
type ShownPassage struct {
	N         int    `json:"n"`
	BlockID   string `json:"block_id"`                // first block of its text
	LastBlock string `json:"last_block_id,omitempty"` // last block, if different
	Page      int    `json:"page,omitempty"`
	LastPage  int    `json:"last_page,omitempty"` // last page, if different
	Section   string `json:"section,omitempty"`
	Text      string `json:"text"`
	ChunkID   string `json:"chunk_id,omitempty"`
}

// showPassage assigns a number to a passage and converts it. It is called when the output is made, in the order of
// the calls, so that a resumed run gets the same numbers.
func showPassage(number Numberer, p corpus.Passage, doc corpus.Document) ShownPassage {
	s := ShownPassage{
		N: number(p, doc), BlockID: p.FirstBlock, Page: p.Page, Section: p.Section, Text: p.Text, ChunkID: p.ID,
	}
	if p.LastBlock != p.FirstBlock {
		s.LastBlock = p.LastBlock
	}
	if p.LastPage > p.Page {
		s.LastPage = p.LastPage
	}
	return s
}

// placeLabel formats the blocks and pages of a passage: "b3–b5, p. 2–3". Models use block ids as locations.
//
// The last block or page is omitted if it equals the first.
func (s ShownPassage) placeLabel() string {
	at := s.BlockID
	if s.LastBlock != "" {
		at += "–" + s.LastBlock
	}
	if s.Page > 0 {
		at += ", p. " + strconv.Itoa(s.Page)
	}
	if s.LastPage > 0 {
		at += "–" + strconv.Itoa(s.LastPage)
	}
	return at
}

// withoutChunks returns a copy of passages without their ids. It copies, since outputs are shared.
func withoutChunks(ps []ShownPassage) []ShownPassage {
	out := make([]ShownPassage, len(ps))
	for i, p := range ps {
		p.ChunkID = ""
		out[i] = p
	}
	return out
}

// joinPassages joins passages to one text, each under its number and block.
func joinPassages(ps []ShownPassage) string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("[" + strconv.Itoa(p.N) + "] (" + p.placeLabel())
		if p.Section != "" {
			b.WriteString(", " + p.Section)
		}
		b.WriteString(")\n" + p.Text)
	}
	return b.String()
}
