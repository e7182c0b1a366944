package agent

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"footnote/corpus"
)

// shown is a passage in a tool's output. ChunkID is for the page and for programs; models do without it.
type shown struct {
	N       int    `json:"n"`
	BlockID string `json:"block_id"`
	Page    int    `json:"page,omitempty"`
	Section string `json:"section,omitempty"`
	Text    string `json:"text"`
	ChunkID string `json:"chunk_id,omitempty"`
}

func show(number numberer, p corpus.Passage, doc corpus.Document) shown {
	return shown{N: number(p, doc), BlockID: p.FirstBlock, Page: p.Page, Section: p.Section, Text: p.Text, ChunkID: p.ID}
}

func withoutChunks(ps []shown) []shown {
	out := make([]shown, len(ps))
	for i, p := range ps {
		p.ChunkID = ""
		out[i] = p
	}
	return out
}

// content writes passages as one text, each under its number and block.
func content(ps []shown) string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("[" + strconv.Itoa(p.N) + "] (" + p.BlockID)
		if p.Page > 0 {
			b.WriteString(", p. " + strconv.Itoa(p.Page))
		}
		if p.Section != "" {
			b.WriteString(", " + p.Section)
		}
		b.WriteString(")\n" + p.Text)
	}
	return b.String()
}

// count writes a number with its noun: "1 document", "3 documents".
func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	default:
		return fmt.Sprintf("%d %ss", n, noun)
	}
}

// shorten cuts a text to at most limit runes, at a word where there is one near.
func shorten(s string, limit int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)[:limit-1]
	cut := string(runes)
	if at := strings.LastIndexByte(cut, ' '); at > len(cut)*2/3 {
		cut = cut[:at]
	}
	return strings.TrimRight(cut, " ,;:.") + "…"
}
