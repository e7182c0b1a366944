// Package mathml draws TeX formulas as MathML Core, the part of MathML that browsers draw themselves. It knows the
// commands of LaTeX's mathematics that answers use, and no macros: nothing in a formula can define anything, load
// anything or name an address. Elements, attributes and classes come from this package alone; what stands in the
// formula becomes text.
package mathml

import (
	"errors"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of one formula.
const (
	MaxTeX   = 4_000 // bytes
	MaxNodes = 2_000 // elements
	maxDepth = 40    // groups, arguments, fences and environments in one another
)

var (
	// ErrTooLarge means that a formula is beyond the bounds.
	ErrTooLarge = errors.New("the formula is too large")
	// ErrUnknown means that a formula is unfinished, or has a command that is not known.
	ErrUnknown = errors.New("the formula can't be read")
)

// Draw returns a formula as a math element, and how many elements it has. block asks for the form that stands on a line
// of its own. The formula itself is the annotation of the element. Its time grows with the length of the formula.
func Draw(tex string, block bool) (markup string, nodes int, err error) {
	if len(tex) > MaxTeX {
		return "", 0, ErrTooLarge
	}
	if !utf8.ValidString(tex) || strings.ContainsFunc(tex, func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r) || r == 0xFFFE || r == 0xFFFF
	}) {
		return "", 0, ErrUnknown
	}
	p := &parser{tex: tex, block: block}
	body := p.formula()
	if p.err != nil {
		return "", 0, p.err
	}
	var b strings.Builder
	b.WriteString("<math")
	if block {
		b.WriteString(` display="block"`)
	}
	b.WriteString("><semantics>")
	body.write(&b)
	b.WriteString(`<annotation encoding="application/x-tex">` + html.EscapeString(strings.TrimSpace(tex)) +
		"</annotation></semantics></math>")
	return b.String(), p.nodes, nil
}

// node is an element: with text, or with children.
type node struct {
	tag    string
	attrs  string // as they are written, with a space before each: constants of this package
	text   string
	kids   []*node
	limits bool // scripts stand below and above it
	named  bool // the name of a function: its argument follows
}

// write writes an element. Its tag and its attributes are ours, its text is not.
func (n *node) write(b *strings.Builder) {
	b.WriteString("<" + n.tag + n.attrs + ">" + html.EscapeString(n.text))
	for _, kid := range n.kids {
		kid.write(b)
	}
	b.WriteString("</" + n.tag + ">")
}
