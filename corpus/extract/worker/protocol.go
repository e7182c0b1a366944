package worker

import (
	"slices"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
)

// Request is one request to a worker: extract a file's text, render a page, or only get ready to render. Page
// selects rendering and Ready loading; without both it extracts.
type Request struct {
	File     corpus.File // only fields that can be encoded: see corpus.File
	CacheDir string      // cache for PDFium's compiled code; empty: it is compiled again
	Page     int         // page to render, from 1; 0 extracts the text
	Width    int
	Ready    bool // only load what rendering needs
	Plain    bool // extract the text without parsing its markup
}

// NeedsPDFium reports whether a worker that has loaded PDFium replies sooner. It is a hint for choosing a worker,
// based on the MIME type. The worker detects the format of the file itself.
func (r Request) NeedsPDFium() bool {
	if extract.Formats.IsPicture(r.File.MIME) {
		return false
	}
	return r.Page > 0 || r.Ready || extract.Formats.IsPaged(r.File.MIME)
}

// Start is the first reply to a request. The worker sends it before it has read more of the file than its first
// bytes.
type Start struct {
	PDF bool
	// the format has markup; if parsing that exceeds a limit, the file can be retried with Request.Plain
	Markup bool
}

// Contents announces the size of the text and blocks that follow, so that the server can reserve memory for them.
type Contents struct {
	Text   int // bytes
	Blocks int
	Words  int // bytes of all blocks' words
}

// reply is one message of a worker. The replies to a request are, in this order: one with Started; any number with
// Done and Total; for an extracted text, one with Contents and those with Text and with Blocks; and a final one.
type reply struct {
	Started     *Start // everything needed is loaded; a death after this is caused by the file
	Done, Total int
	Contents    *Contents
	Text        string
	Blocks      []corpus.Block    // without their headings
	Headings    []headings        // of Blocks
	Extracted   *corpus.Extracted // without its text and blocks, which are sent before
	Meta        []byte            // of Extracted, as JSON
	PNG         []byte
	Ready       bool
	Failure     *corpus.Failure
	Internal    string // an internal error that the file did not cause, for the log
	began       bool   // of a final reply: Started was received before; not encoded
	Last        bool   // of a final reply: the process exits after it, so that the next file starts with fresh memory
}

// final reports whether a reply is the last one to its request.
func (r *reply) final() bool {
	return r.Extracted != nil || r.PNG != nil || r.Ready || r.Failure != nil || r.Internal != ""
}

// headings is the heading path of the blocks from index At of one reply. Blocks of a section share a path, which gob
// would otherwise encode once for each block.
type headings struct {
	At       int
	Headings []string
}

const (
	blocksPerReply = 500
	textPerReply   = 256 << 10 // bytes
)

// pieces calls send with replies that hold the text and the blocks of x in batches. A single message would be in
// memory three times: as it is, encoded, and decoded.
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

// withHeadings returns the blocks of a reply with their heading paths set. Neighbours share them. It skips invalid
// ranges.
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
