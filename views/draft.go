package views

import (
	"context"
	"html"
	"strings"

	"github.com/footnote/footnote/chat"
)

// Draft renders an answer that is still being streamed. The cost of each delta does not grow with the answer's
// length. Closed blocks are rendered once. A long open block is rendered only after it has grown by a share of its
// length. It is not safe for concurrent use.
type Draft struct {
	md   *Markdown
	cite func(int) (chat.Citation, bool)

	text    []byte
	settled int // bytes of text that later text can't change
	frozen  int // number of blocks in these bytes
	weight  int // node count of these blocks
	drawn   int // bytes of text at the last render
	plain   bool
	blocks  []Block
}

// An open block of up to drawnAtOnce bytes is rendered with every delta, a longer one once it has grown by
// 1/growth.
const (
	// Both values are tuned by hand. Readers follow each word of a short block. A long block, such as a table,
	// costs a bounded multiple of its length.
	drawnAtOnce = 4_000
	growth      = 16
)

// NewDraft returns an empty draft. A nil Markdown buffers the text without rendering it. cite resolves a footnote
// number.
func NewDraft(md *Markdown, cite func(int) (chat.Citation, bool)) *Draft {
	return &Draft{md: md, cite: cite}
}

// Text returns the buffered text.
func (d *Draft) Text() string { return string(d.text) }

// Blocks returns the blocks as last rendered. They are valid until the next call of Add or Close.
func (d *Draft) Blocks() []Block { return d.blocks }

// Empty reports whether no text was added.
func (d *Draft) Empty() bool { return len(d.text) == 0 }

// Add appends a delta. It returns the changed blocks, and whether they replace all earlier blocks.
//
// changed is empty while the render is deferred to a later delta or to Close.
func (d *Draft) Add(delta string) (changed []Block, all bool) {
	d.text = append(d.text, delta...)
	if d.md == nil {
		return nil, false
	}
	end, grown := len(d.text)-d.settled, len(d.text)-d.drawn
	// The text is always buffered; only the render is deferred.
	if end > drawnAtOnce && grown < end/growth {
		return nil, false
	}
	return d.drawChanged(true)
}

// Close renders the rest of the complete text.
//
// It also renders an unfinished mark at the end, which was held back until then.
func (d *Draft) Close() []Block {
	if d.md != nil && len(d.text) > 0 {
		d.drawChanged(false)
	}
	return d.blocks
}

// drawChanged renders the open end of the answer again: later text changes only its last blocks. A text over the
// budget is shown as plain text.
func (d *Draft) drawChanged(open bool) (changed []Block, all bool) {
	before := d.drawn
	d.drawn = len(d.text)
	if d.plain {
		if before > maxPlain { // the shown part can't change any more
			return nil, false
		}
		d.blocks = []Block{plainBlock(d.md.said, d.text)}
		return d.blocks, false
	}
	if len(d.text) <= maxMarkdown {
		if t, ok := d.md.drawTail(string(d.text[d.settled:]), d.frozen+1, maxNodes-d.weight, open, d.cite); ok {
			d.blocks = append(d.blocks[:d.frozen], t.blocks...)
			// All blocks but the last are closed: later text can't change them.
			if t.settled > 0 {
				d.settled += t.settled
				d.frozen += len(t.blocks) - 1
				d.weight += t.weight - t.open
			}
			return t.blocks, false
		}
	}
	// A text over the budget stays over it, since it only grows.
	d.plain = true
	d.blocks = []Block{plainBlock(d.md.said, d.text)}
	return d.blocks, true
}

// plainBlock renders a text over the budget as plain text.
//
// It is cut at maxPlain bytes, with a notice.
func plainBlock(ctx context.Context, src []byte) Block {
	note := txtTooLarge.In(ctx)
	if len(src) > maxPlain {
		src, note = src[:maxPlain], note+" "+txtTooLargeCut.In(ctx)
	}
	return Block{N: 1, HTML: tooLargeNotice(note) + `<pre class="plain" tabindex="0" dir="auto">` +
		html.EscapeString(strings.ToValidUTF8(string(src), "")) + `</pre>`}
}

// tooLargeNotice returns the notice above a text that is too large to be formatted.
func tooLargeNotice(note string) string {
	return `<p class="notice" data-testid="too-large"><span>` + html.EscapeString(note) + `</span></p>`
}
