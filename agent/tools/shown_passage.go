package tools

import (
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus"
)

// ShownPassage is a passage in a tool's output. ChunkID is for the page and for programs; models do without it.
//
// N is the number under which it is cited, 1 or more. Page counts from 1; 0 is a document without pages.
type ShownPassage struct {
	N         int    `json:"n"`
	BlockID   string `json:"block_id"`                // that its text begins in
	LastBlock string `json:"last_block_id,omitempty"` // that it ends in, if that is another one
	Page      int    `json:"page,omitempty"`
	LastPage  int    `json:"last_page,omitempty"` // likewise
	Section   string `json:"section,omitempty"`
	Text      string `json:"text"`
	ChunkID   string `json:"chunk_id,omitempty"`
}

// showPassage numbers a passage and says where it stands. It is called when the output is made, in the order of the
// calls, so that numbers are the same each time a run is made from its log.
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

// placeLabel names the blocks and pages of a passage: "b3–b5, p. 2–3". Block ids are what models name places by.
//
// A page or block at the end is only named when it is another one.
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

// withoutChunks are passages as models get them, without their ids. The list is a copy: outputs are shared.
func withoutChunks(ps []ShownPassage) []ShownPassage {
	out := make([]ShownPassage, len(ps))
	for i, p := range ps {
		p.ChunkID = ""
		out[i] = p
	}
	return out
}

// joinPassages writes passages as one text, each under its number and block.
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
