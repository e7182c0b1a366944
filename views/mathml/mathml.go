// Package mathml renders TeX formulas as MathML Core, the part of MathML that browsers render natively. It parses
// the LaTeX math commands that answers use, and no macros: a formula can't define commands, load files or contain
// URLs. Elements, attributes and classes are this package's own. All content of the formula becomes text nodes.
package mathml

import (
	"errors"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of one formula.
const (
	MaxTeX   = 4_000 // bytes
	MaxNodes = 2_000 // elements
	maxDepth = 40    // nesting depth of groups, arguments, fences and environments
)

var (
	// ErrTooLarge means that a formula is over the limits.
	ErrTooLarge = errors.New("the formula is too large")
	// ErrUnknown means that a formula is unfinished or has an unknown command.
	ErrUnknown = errors.New("the formula can't be read")
)

// Draw renders a formula as a math element and returns its number of elements. block selects display style, on its
// own line. The formula's source is the element's annotation. The time is linear in the formula's length.
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

// node is an element with either text or children.
type node struct {
	tag    string
	attrs  string // encoded, with a leading space each: constants of this package
	text   string
	kids   []*node
	limits bool // scripts are below and above it
	named  bool // a function's name: its argument follows
}

// write encodes an element. Its tag and attributes are constants; its text is escaped.
func (n *node) write(b *strings.Builder) {
	b.WriteString("<" + n.tag + n.attrs + ">" + html.EscapeString(n.text))
	for _, kid := range n.kids {
		kid.write(b)
	}
	b.WriteString("</" + n.tag + ">")
}
