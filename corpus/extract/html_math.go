package extract

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/text"
)

// mathText returns a formula of MathML in one line, as in "P=I²R". It writes fractions with "/" and roots with "√".
// Exponents other than numbers follow "^". Annotations repeat a formula in another notation, and are not read. The
// parser bounds the recursion depth.
func mathText(n *html.Node) string {
	if n.Type == html.TextNode {
		return strings.TrimSpace(n.Data)
	}
	var parts []string
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode && c.Type != html.TextNode || isHidden(c) {
			continue
		}
		if part := mathText(c); part != "" || c.Type == html.ElementNode {
			parts = append(parts, part)
		}
	}
	part := func(i int) string {
		if i < len(parts) {
			return parts[i]
		}
		return ""
	}
	switch n.Data {
	case "annotation", "annotation-xml", "mphantom":
		return ""
	case "mtext":
		return " " + strings.Join(parts, " ") + " "
	case "semantics":
		return part(0)
	case "msup", "mover":
		return grouped(part(0)) + raised(part(1))
	case "msub", "munder":
		return part(0) + lowered(part(1))
	case "msubsup", "munderover":
		return part(0) + lowered(part(1)) + raised(part(2))
	case "mfrac":
		return grouped(part(0)) + "/" + grouped(part(1))
	case "msqrt":
		return "√" + grouped(strings.Join(parts, ""))
	case "mroot":
		return raised(part(1)) + "√" + grouped(part(0))
	case "mfenced":
		return cmp.Or(attribute(n, "open"), "(") + strings.Join(parts, ", ") + cmp.Or(attribute(n, "close"), ")")
	case "mtr", "mlabeledtr":
		return strings.Join(parts, " ")
	case "mtable":
		return strings.Join(parts, "; ")
	}
	return strings.Join(parts, "")
}

// raised returns an exponent: a number in superscript digits, a sign such as a prime as it is.
func raised(s string) string {
	if up := text.Superscript(s); up != s || utf8.RuneCountInString(s) == 1 && !isLetter([]rune(s)[0]) || s == "" {
		return up
	}
	return "^" + grouped(s)
}

// lowered returns an index. One of several characters is separated from its base.
func lowered(s string) string {
	if utf8.RuneCountInString(s) < 2 {
		return s
	}
	return "_" + grouped(s)
}

// grouped returns an operand, in brackets if it holds an operator.
func grouped(s string) string {
	if strings.ContainsAny(s, "+-−*/=<>, ·⋅×±") {
		return "(" + s + ")"
	}
	return s
}
