package views

import (
	"context"
	"html"
	"strings"

	"github.com/footnote/footnote/chat"
)

// Draft is an answer that is still being written. It draws each delta in time that does not grow with the answer:
// blocks that are over are drawn once, and a long open block only after it has grown by a share of its length. It is
// not safe for concurrent use.
type Draft struct {
	md   *Markdown
	cite func(int) (chat.Citation, bool)

	text    []byte
	settled int // bytes of text that later text can't change any more
	frozen  int // blocks made of them
	weight  int // of these blocks
	drawn   int // bytes of text when its end was last drawn
	plain   bool
	blocks  []Block
}

// An open end of up to drawnAtOnce bytes is drawn with every delta, a longer one whenever it has grown by one part in
// growth.
const (
	// Both are choices: short ends are drawn at once, as readers see each word of them, and a long one, such as a
	// table, costs in all no more than some times its length.
	drawnAtOnce = 4_000
	growth      = 16
)

// NewDraft returns an empty draft. A nil Markdown gathers the text without drawing it. cite resolves a footnote's
// number.
func NewDraft(md *Markdown, cite func(int) (chat.Citation, bool)) *Draft {
	return &Draft{md: md, cite: cite}
}

// Text is all that was added.
func (d *Draft) Text() string { return string(d.text) }

// Blocks are the blocks as they were last drawn, valid until the next call of Add or Close.
func (d *Draft) Blocks() []Block { return d.blocks }

// Empty reports whether nothing was added yet.
func (d *Draft) Empty() bool { return len(d.text) == 0 }

// Add appends a delta. It returns the blocks that changed, and whether all blocks before them are gone.
//
// changed is empty when nothing is to be drawn yet: the next delta, or Close, brings it.
func (d *Draft) Add(delta string) (changed []Block, all bool) {
	d.text = append(d.text, delta...)
	if d.md == nil {
		return nil, false
	}
	end, grown := len(d.text)-d.settled, len(d.text)-d.drawn
	// The text is kept in any case; only the drawing waits.
	if end > drawnAtOnce && grown < end/growth {
		return nil, false
	}
	return d.drawChanged(true)
}

// Close draws what is not drawn yet. The text is complete.
//
// An unfinished mark at the end, which was held back until then, is shown now.
func (d *Draft) Close() []Block {
	if d.md != nil && len(d.text) > 0 {
		d.drawChanged(false)
	}
	return d.blocks
}

// drawChanged draws the open end of the answer again: its last blocks change while text comes, the others stay. A text
// beyond the budget is shown as it is.
func (d *Draft) drawChanged(open bool) (changed []Block, all bool) {
	before := d.drawn
	d.drawn = len(d.text)
	if d.plain {
		if before > maxPlain { // the part that is shown can't change any more
			return nil, false
		}
		d.blocks = []Block{plainBlock(d.md.said, d.text)}
		return d.blocks, false
	}
	if len(d.text) <= maxMarkdown {
		if t, ok := d.md.drawTail(string(d.text[d.settled:]), d.frozen+1, maxNodes-d.weight, open, d.cite); ok {
			d.blocks = append(d.blocks[:d.frozen], t.blocks...)
			// All blocks but the last are over: no later text can change them.
			if t.settled > 0 {
				d.settled += t.settled
				d.frozen += len(t.blocks) - 1
				d.weight += t.weight - t.open
			}
			return t.blocks, false
		}
	}
	// Once a text was beyond the budget it stays so, since it only grows.
	d.plain = true
	d.blocks = []Block{plainBlock(d.md.said, d.text)}
	return d.blocks, true
}

// plainBlock shows a text that is beyond the budget as it was written.
//
// It is cut at maxPlain bytes, and the notice says so.
func plainBlock(ctx context.Context, src []byte) Block {
	note := txtTooLarge.In(ctx)
	if len(src) > maxPlain {
		src, note = src[:maxPlain], note+" "+txtTooLargeCut.In(ctx)
	}
	return Block{N: 1, HTML: tooLargeNotice(note) + `<pre class="plain" tabindex="0" dir="auto">` +
		html.EscapeString(strings.ToValidUTF8(string(src), "")) + `</pre>`}
}

// tooLargeNotice says above a plain text why it is plain.
func tooLargeNotice(note string) string {
	return `<p class="notice" data-testid="too-large"><span>` + html.EscapeString(note) + `</span></p>`
}
