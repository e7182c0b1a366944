package worker

import (
	"slices"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
)

// Request asks a worker for one thing: a file's text, a page's picture, or only to be ready to draw. Exactly one of
// three things is asked: Page draws, Ready loads, and neither reads.
type Request struct {
	File     corpus.File // only what can be sent: see corpus.File
	CacheDir string      // for PDFium's compiled code; empty: it is compiled again
	Page     int         // from 1, to be drawn; 0 extracts the text
	Width    int
	Ready    bool // only load what drawing takes
	Plain    bool // read the text without its markup
}

// NeedsPDFium reports whether a worker that has loaded PDFium answers sooner. It is a hint for choosing a worker, by
// the MIME type; the worker itself looks at the file.
func (r Request) NeedsPDFium() bool {
	if extract.Formats.IsPicture(r.File.MIME) {
		return false
	}
	return r.Page > 0 || r.Ready || extract.Formats.IsPaged(r.File.MIME)
}

// Start is what a worker says when it begins with a file. It comes before anything of the file but its first bytes was
// read.
type Start struct {
	PDF bool
	// the format has markup: where that is too much to take in, the file can be read again with Request.Plain
	Markup bool
}

// Contents says how much text and how many blocks follow. The server can make room for exactly that.
type Contents struct {
	Text   int // bytes
	Blocks int
	Words  int // bytes of all blocks' words
}

// reply is one message of a worker. A request is answered by one with Started; then by any number with Done and
// Total; then, for a text that was read, by one with Contents and those with Text and with Blocks; then by one that
// is final.
type reply struct {
	Started     *Start // everything needed is loaded; from here on a death is the file's doing
	Done, Total int
	Contents    *Contents
	Text        string
	Blocks      []corpus.Block    // without their headings
	Headings    []headings        // of Blocks
	Extracted   *corpus.Extracted // without its text and blocks, which came before
	Meta        []byte            // of Extracted, as JSON
	PNG         []byte
	Ready       bool
	Failure     *corpus.Failure
	Internal    string // what went wrong, for the log, when it was not the file
	began       bool   // with a final reply: Started came before it; not sent
	Last        bool   // with a final reply: the process ends after it, to begin the next file with fresh memory
}

// final reports whether a reply is the last one to its request.
func (r *reply) final() bool {
	return r.Extracted != nil || r.PNG != nil || r.Ready || r.Failure != nil || r.Internal != ""
}

// headings says that the blocks from number At on, of one reply, stand below these headings. Blocks of a section share
// theirs, which gob would write once for each block.
type headings struct {
	At       int
	Headings []string
}

const (
	blocksPerReply = 500
	textPerReply   = 256 << 10 // bytes
)

// pieces calls send with replies that hold the text and the blocks of x. One message with all of it would be in memory
// three times: as it is, encoded, and decoded.
func pieces(x corpus.Extracted, send func(reply) error) error {
	all := Contents{Text: len(x.Text), Blocks: len(x.Blocks)}
	for _, b := range x.Blocks {
		all.Words += len(b.Words)
	}
	if err := send(reply{Contents: &all}); err != nil {
		return err
	}
	for text := x.Text; len(text) > 0; {
		n := min(len(text), textPerReply)
		if err := send(reply{Text: text[:n]}); err != nil {
			return err
		}
		text = text[n:]
	}
	for blocks := range slices.Chunk(x.Blocks, blocksPerReply) {
		r := reply{Blocks: slices.Clone(blocks)}
		for i := range r.Blocks {
			above := r.Blocks[i].Headings
			if i == 0 || !slices.Equal(above, blocks[i-1].Headings) {
				r.Headings = append(r.Headings, headings{i, above})
			}
			r.Blocks[i].Headings = nil
		}
		if err := send(r); err != nil {
			return err
		}
	}
	return nil
}

// withHeadings returns the blocks of a reply below their headings. Neighbours share them. Ranges that make no sense are
// passed over.
func (r *reply) withHeadings() []corpus.Block {
	for i, p := range r.Headings {
		to := len(r.Blocks)
		if i+1 < len(r.Headings) {
			to = r.Headings[i+1].At
		}
		if p.At < 0 || p.At > to || to > len(r.Blocks) {
			continue
		}
		for j := p.At; j < to; j++ {
			r.Blocks[j].Headings = p.Headings
		}
	}
	return r.Blocks
}
