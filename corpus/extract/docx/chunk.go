package docx

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/ooxml"
)

const (
	maxChunks     = 64 << 20 // bytes of all embedded documents
	maxChunkDepth = 5        // nesting of Word files in Word files
)

// Embedded reads an embedded document. name is that of its part, whose extension may be wrong.
type Embedded func(ctx context.Context, name string, data []byte) (corpus.Extracted, error)

// chunks reads the embedded documents of a file, including those of embedded Word files.
type chunks struct {
	read   Embedded // nil: only Word files
	left   int      // bytes
	depth  int
	unread int // documents that can't be read
}

// chunk returns the text of an embedded document (altChunk, §17.17.2.1), which Word inserts when it opens the file.
// Programs write letters and reports in this way. One that can't be read is counted and left out.
func (p *parser) chunk(e xml.StartElement) []node {
	r := p.r
	relation, ok := p.relations[ooxml.Attr(e, "id")]
	if !ok || relation.External || !r.pack.Has(relation.Target) {
		r.chunks.unread++
		return nil
	}
	x, err := r.readChunk(relation.Target)
	if err != nil {
		r.chunks.unread++
		return nil
	}
	return nodesOf(x)
}

// readChunk reads an embedded document.
func (r *reader) readChunk(name string) (corpus.Extracted, error) {
	part, err := r.pack.Part(name)
	if err != nil {
		return corpus.Extracted{}, err
	}
	defer part.Close()
	data, err := io.ReadAll(io.LimitReader(part, int64(r.chunks.left)+1))
	if r.chunks.left -= len(data); err != nil || r.chunks.left < 0 {
		r.chunks.left = max(r.chunks.left, 0)
		return corpus.Extracted{}, ooxml.Damaged
	}
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		if r.chunks.read == nil {
			return corpus.Extracted{}, ooxml.Damaged
		}
		return r.chunks.read(r.ctx, name, data)
	}
	if r.chunks.depth >= maxChunkDepth {
		return corpus.Extracted{}, ooxml.Damaged
	}
	inner, err := ooxml.OpenReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return corpus.Extracted{}, err
	}
	r.chunks.depth++
	defer func() { r.chunks.depth-- }()
	return read(r.ctx, inner, r.chunks)
}

// nodesOf returns the blocks of an embedded document as paragraphs and tables of the enclosing one.
func nodesOf(x corpus.Extracted) (nodes []node) {
	runes := []rune(x.Text)
	for _, b := range x.Blocks {
		if len(b.Cells) == 0 {
			nodes = append(nodes, node{paragraph: paragraphOf(string(runes[b.Start:b.End]), b)})
			continue
		}
		t := &table{}
		for _, cells := range b.Cells {
			row := make([]cell, 0, len(cells))
			for _, c := range cells {
				text := paragraphOf(string(runes[c[0]:c[1]]), corpus.Block{})
				row = append(row, cell{nodes: []node{{paragraph: text}}, span: 1})
			}
			t.rows = append(t.rows, row)
		}
		nodes = append(nodes, node{table: t})
	}
	return nodes
}

// paragraphOf returns a block as a paragraph without a style and a list of the enclosing document.
func paragraphOf(text string, b corpus.Block) *paragraph {
	p := &paragraph{outline: bodyText, list: listRef{num: "0", numSaid: true}}
	if b.Kind == corpus.BlockHeading {
		p.outline = b.Level
	}
	p.runs = []run{{text: text}}
	return p
}
