package extract

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/text"
)

// invisible holds the elements whose content is not part of the page's visible text.
var invisible = map[string]bool{
	"script": true, "style": true, "template": true, "noscript": true, "head": true, "svg": true,
	"iframe": true, "object": true, "embed": true, "canvas": true, "audio": true, "video": true, "nav": true,
	"button": true, "select": true, "textarea": true, "input": true, "dialog": true, "noframes": true, "title": true,
	"noembed": true, "datalist": true,
}

// voidTag holds the invisible elements that have no end tag, so that they enclose nothing.
var voidTag = map[string]bool{"embed": true, "input": true}

// inlineTag holds the elements that do not end a paragraph.
var inlineTag = map[atom.Atom]bool{
	0: true, atom.A: true, atom.Abbr: true, atom.B: true, atom.Bdi: true, atom.Bdo: true, atom.Big: true, atom.Br: true,
	atom.Cite: true, atom.Code: true, atom.Data: true, atom.Del: true, atom.Dfn: true, atom.Em: true, atom.Font: true,
	atom.I: true, atom.Img: true, atom.Ins: true, atom.Kbd: true, atom.Label: true, atom.Mark: true, atom.Nobr: true,
	atom.Q: true, atom.Ruby: true, atom.Rb: true, atom.Rt: true, atom.Rp: true, atom.S: true, atom.Samp: true,
	atom.Small: true, atom.Span: true, atom.Strike: true, atom.Strong: true, atom.Sub: true, atom.Sup: true,
	atom.Time: true, atom.Tt: true, atom.U: true, atom.Var: true, atom.Wbr: true, atom.Rtc: true,
	atom.Math: true, atom.Mi: true, atom.Mn: true, atom.Mo: true, atom.Ms: true, atom.Mtext: true,
}

// markOf maps an inline element to the kind of its corpus.Mark.
var markOf = map[atom.Atom]string{
	atom.Strong: "strong", atom.B: "strong", atom.Em: "em", atom.I: "em", atom.Cite: "em", atom.Dfn: "em",
	atom.Code: "code", atom.Kbd: "code", atom.Samp: "code", atom.Tt: "code", atom.A: "link",
}

// htmlWalk writes the visible text below a node as blocks. It visits each node once. w may be shared with another
// format's reader, which continues writing after it.
type htmlWalk struct {
	w      *doctext.Writer
	item   *corpus.Block // the list item whose first text is pending
	number string        // of that item, "3."; empty in an unordered list
	flat   bool          // in a heading or a cell: everything is one line
	raised bool          // in superscript
	// repeated counts the bytes of cells over several rows that were written again.
	repeated int
}

// walkNode writes one node. It skips comments, doctypes and hidden elements.
func (h *htmlWalk) walkNode(n *html.Node, at place) {
	switch n.Type {
	case html.TextNode:
		h.writeText(n.Data, at)
	case html.ElementNode:
		if !isHidden(n) {
			h.walkElement(n, at)
		}
	case html.DocumentNode:
		h.walkChildren(n, at)
	}
}

// walkChildren writes the children of a node in order. The parser bounds the recursion depth.
func (h *htmlWalk) walkChildren(n *html.Node, at place) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		h.walkNode(c, at)
	}
}

// isHidden reports whether an element is hidden by its kind or by an attribute. The reading of ruby text counts as
// hidden, since it repeats the base text in other letters.
func isHidden(n *html.Node) bool { return invisible[n.Data] || isReading(n) || hasHiding(n) }

// isReading reports whether an element is a part of ruby text other than its base.
func isReading(n *html.Node) bool {
	return n.DataAtom == atom.Rt || n.DataAtom == atom.Rp || n.DataAtom == atom.Rtc
}

// hasHiding reports whether an attribute hides an element. It reads only the page's attributes, no style sheets.
// "until-found" means that a browser's search opens the element (HTML Standard, "The hidden attribute"), so its text
// is kept. Navigation is visible, but not part of the page's text. A formula may be hidden beside its picture.
func hasHiding(n *html.Node) bool {
	if c := n.FirstChild; c != nil && c == n.LastChild && c.DataAtom == atom.Math {
		return false
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return a.Val != "until-found"
		case "aria-hidden":
			if a.Val == "true" {
				return true
			}
		case "role":
			if a.Val == "navigation" {
				return true
			}
		case "style":
			style := strings.ToLower(strings.ReplaceAll(a.Val, " ", ""))
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
}

// writeText writes a text node. White space alone never opens a block, because it only separates elements.
func (h *htmlWalk) writeText(s string, at place) {
	if !h.w.Open() {
		if strings.TrimSpace(s) == "" {
			return
		}
		h.openBlock(at)
	}
	if h.raised {
		s = text.Superscript(s)
	}
	h.w.Text(s)
}

// walkElement writes an element. An inline element, and any element inside a single line, becomes part of the line.
// Any other is a block: the open block ends before it, and its own ends after it.
func (h *htmlWalk) walkElement(n *html.Node, at place) {
	if n.DataAtom == atom.Math {
		h.writeText(mathText(n), at)
		return
	}
	if inlineTag[n.DataAtom] || h.flat {
		h.walkInline(n, at)
		return
	}
	h.w.End()
	if level := headingLevel(n); level > 0 {
		h.writeLine(n, corpus.Block{Kind: corpus.BlockHeading, Level: level, Quote: at.quote}, at)
		return
	}
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Menu:
		h.walkList(n, at)
	case atom.Blockquote:
		at.quote = true
		h.walkChildren(n, at)
	case atom.Pre, atom.Listing, atom.Xmp:
		h.w.Begin(corpus.Block{Kind: corpus.BlockCode, Language: codeLanguage(n), Quote: at.quote})
		h.w.Text(preText(n))
	case atom.Table:
		h.writeTable(n, at)
	default:
		h.walkChildren(n, at)
	}
	h.w.End()
}

// headingLevel returns 1 to 6 for h1 to h6, and 0 for any other node.
func headingLevel(n *html.Node) int {
	switch n.DataAtom {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4:
		return 4
	case atom.H5:
		return 5
	case atom.H6:
		return 6
	}
	return 0
}

// walkInline writes an element as part of a line. It opens a block before a mark, because a mark needs one. It
// doesn't if the element contains blocks, like a link around a whole section. A block element in a line, as in
// headings and cells, gets spaces around it to keep its words separate.
func (h *htmlWalk) walkInline(n *html.Node, at place) {
	if n.DataAtom == atom.Br {
		if h.flat {
			h.w.Text(" ")
		} else {
			h.w.Break()
		}
		return
	}
	kind := markOf[n.DataAtom]
	if kind != "" && !h.w.Open() && strings.TrimSpace(textOf(n)) != "" && !hasBlock(n) {
		h.openBlock(at)
	}
	end := func() {}
	if kind != "" {
		end = h.w.Mark(kind, attribute(n, "href"))
	}
	if !inlineTag[n.DataAtom] {
		h.w.Text(" ")
	}
	raised := h.raised
	h.raised = raised || n.DataAtom == atom.Sup
	h.walkChildren(n, at)
	h.raised = raised
	end()
	if !inlineTag[n.DataAtom] {
		h.w.Text(" ")
	}
}

// openBlock begins the block of the next text, so that a mark can begin with it.
func (h *htmlWalk) openBlock(at place) {
	b, item := corpus.Block{Kind: corpus.BlockParagraph}, h.item != nil
	if item {
		b, h.item = *h.item, nil
	}
	b.Quote = at.quote
	h.w.Begin(b)
	if item && h.number != "" {
		h.w.Number(h.number)
	}
}

// hasBlock reports whether n has a descendant element that is not inline.
func hasBlock(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && (!inlineTag[c.DataAtom] || hasBlock(c)) {
			return true
		}
	}
	return false
}

// writeLine writes everything below n as one line.
func (h *htmlWalk) writeLine(n *html.Node, b corpus.Block, at place) {
	h.w.Begin(b)
	h.flat = true
	h.walkChildren(n, at)
	h.flat = false
	h.w.End()
}

// walkList writes a list. Numbers follow the HTML Standard's "ol" and "li": start, reversed, the value of an item,
// and the type of either. Children of a list other than li are written as outside of it.
func (h *htmlWalk) walkList(n *html.Node, at place) {
	at.list++
	ordinal, step := 0, 0
	if n.DataAtom == atom.Ol {
		ordinal, step = listNumbers(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom != atom.Li {
			h.walkNode(c, at)
			continue
		}
		if isHidden(c) {
			continue
		}
		h.w.End()
		if value, ok := ordinalAttr(c, "value"); ok && step != 0 {
			ordinal = value
		}
		h.item, h.number = &corpus.Block{Kind: corpus.BlockList, Level: at.list, Ordinal: max(ordinal, 0)}, ""
		if step != 0 {
			h.number = doctext.ItemNumber(ordinal, cmp.Or(attribute(c, "type"), attribute(n, "type"))) + "."
		}
		h.walkChildren(c, at)
		h.w.End()
		h.item, h.number = nil, ""
		ordinal += step
	}
}

// listNumbers returns the number of an ordered list's first item and the increment.
func listNumbers(list *html.Node) (first, step int) {
	first, step = 1, 1
	if slices.ContainsFunc(list.Attr, func(a html.Attribute) bool { return a.Key == "reversed" }) {
		first, step = 0, -1
		for c := range list.ChildNodes() {
			if c.DataAtom == atom.Li {
				first++
			}
		}
	}
	if start, ok := ordinalAttr(list, "start"); ok {
		first = start
	}
	return first, step
}

// ordinalAttr parses a number from 0 to 999,999. Others are not plausible item numbers.
func ordinalAttr(n *html.Node, key string) (int, bool) {
	v, err := strconv.Atoi(strings.TrimSpace(attribute(n, key)))
	return v, err == nil && v >= 0 && v < 1e6
}

// codeLanguage returns the language of the class "language-go" of a pre or of its first child. The HTML Standard
// suggests this class for "code".
func codeLanguage(n *html.Node) string {
	for _, el := range []*html.Node{n, n.FirstChild} {
		if el == nil {
			continue
		}
		for _, class := range strings.Fields(attribute(el, "class")) {
			if lang, ok := strings.CutPrefix(class, "language-"); ok {
				return doctext.Line(lang)
			}
		}
	}
	return ""
}

// preText returns the text of a pre with its line breaks, without hidden elements.
func preText(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.DataAtom == atom.Br:
			b.WriteByte('\n')
		case n.Type == html.ElementNode && isHidden(n):
		default:
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				walk(c)
			}
		}
	}
	walk(n)
	return b.String()
}

// isLayout reports whether a cell holds parts of a page layout rather than a value.
func isLayout(cell *html.Node) bool {
	if utf8.RuneCountInString(textOf(cell)) > 3000 {
		return true
	}
	var look func(*html.Node) bool
	look = func(n *html.Node) bool {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom == atom.Table || c.DataAtom == atom.Pre || headingLevel(c) > 0 || look(c) {
				return true
			}
		}
		return false
	}
	return look(cell)
}
