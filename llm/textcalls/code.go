package textcalls

import "strings"

// code says whether a text is inside Markdown's code, where a mark is a quotation.
type code struct {
	fence  bool
	inline int  // backticks that opened it
	line   bool // something stands on this line
}

func (c *code) isOpen() bool { return c.fence || c.inline > 0 }

func (c *code) endLine() { c.inline, c.line = 0, false }

func (c *code) noteText(s string) {
	c.line = c.line || strings.TrimSpace(s) != ""
}

// noteTicks notes a run of backticks.
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
