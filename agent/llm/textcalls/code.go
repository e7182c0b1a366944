package textcalls

import "strings"

// code says whether a text is inside Markdown's code, where a mark is a quotation.
type code struct {
	fence  bool
	inline int  // backticks that opened it
	line   bool // something stands on this line
}

// isOpen reports whether the text is inside a code block or a code span now.
func (c *code) isOpen() bool { return c.fence || c.inline > 0 }

// endLine begins a new line; a code span does not reach over it here.
func (c *code) endLine() { c.inline, c.line = 0, false }

// noteText notes that something other than white space stands on the line.
func (c *code) noteText(s string) {
	c.line = c.line || strings.TrimSpace(s) != ""
}

// noteTicks notes a run of backticks. Three or more at the start of a line open and close a block, whatever their
// number was: models often close with another. A span closes with as many as opened it, as in CommonMark.
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
