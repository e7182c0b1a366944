package extract

import (
	"cmp"
	"strings"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/corpus/extract/doctext"
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
		return doctext.Grouped(part(0)) + doctext.Raised(part(1))
	case "msub", "munder":
		return part(0) + doctext.Lowered(part(1))
	case "msubsup", "munderover":
		return part(0) + doctext.Lowered(part(1)) + doctext.Raised(part(2))
	case "mfrac":
		return doctext.Grouped(part(0)) + "/" + doctext.Grouped(part(1))
	case "msqrt":
		return "√" + doctext.Grouped(strings.Join(parts, ""))
	case "mroot":
		return doctext.Raised(part(1)) + "√" + doctext.Grouped(part(0))
	case "mfenced":
		return cmp.Or(attribute(n, "open"), "(") + strings.Join(parts, ", ") + cmp.Or(attribute(n, "close"), ")")
	case "mtr", "mlabeledtr":
		return strings.Join(parts, " ")
	case "mtable":
		return strings.Join(parts, "; ")
	}
	return strings.Join(parts, "")
}
