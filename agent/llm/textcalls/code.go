package textcalls

import "strings"

// code tracks whether a text is inside Markdown code, where a mark is a quotation.
type code struct {
	fence  bool
	inline int  // number of backticks that opened the span
	line   bool // the line has text
}

// isOpen reports whether the text is currently inside a code block or a code span.
func (c *code) isOpen() bool { return c.fence || c.inline > 0 }

// endLine starts a new line, which ends a code span here.
func (c *code) endLine() { c.inline, c.line = 0, false }

// noteText records text on the line, other than white space.
func (c *code) noteText(s string) {
	c.line = c.line || strings.TrimSpace(s) != ""
}

// noteTicks records a run of backticks. Three or more at the start of a line open and close a block, whatever their
// number, since models often close with another. A span closes with as many as opened it, as in CommonMark.
func (c *code) noteTicks(n int) {
	switch {
	case n >= 3 && !c.line:
		c.fence = !c.fence
	case c.fence:
	case c.inline == n:
		c.inline = 0
	case c.inline == 0:
		c.inline = n
	}
	c.line = true
}
