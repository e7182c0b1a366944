package extract

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/text/locale"
)

// maxInside is the maximum nesting of HTML inside the text or the attributes of HTML. Each level is parsed
// separately, and a page could nest any number of them.
const maxInside = 4

// composePage builds the tree that a browser displays. It expands declarative shadow trees, fills their slots, and
// inlines the documents of iframe srcdoc attributes. Declarative shadow trees are "template" elements with the
// attribute shadowrootmode (HTML Standard, "The template element"), or shadowroot in early Chrome. A host has one
// tree, the first.
func composePage(n *html.Node, inside int) {
	if src := attribute(n, "srcdoc"); n.DataAtom == atom.Iframe && src != "" && inside < maxInside && !hasHiding(n) {
		inside++
		replaceInner(n, src)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Template && cmp.Or(attribute(c, "shadowrootmode"), attribute(c, "shadowroot")) != "" {
			fillSlots(n, c)
			break
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		composePage(c, inside)
	}
}

// fillSlots replaces the children of a host with its shadow tree, and moves the host's children into the slots. An
// unnamed slot takes the children that name no slot. Children without a slot are not displayed, and are dropped. A
// slot without children keeps its fallback content.
func fillSlots(host, tree *html.Node) {
	host.RemoveChild(tree)
	light := takeChildren(host)
	for _, n := range takeChildren(tree) {
		host.AppendChild(n)
	}
	var fill func(*html.Node)
	fill = func(n *html.Node) {
		for _, c := range slices.Collect(n.ChildNodes()) {
			switch c.DataAtom {
			case atom.Template: // the tree of another host
			case atom.Slot:
				var mine []*html.Node
				if mine, light = splitSlotted(light, attribute(c, "name")); len(mine) == 0 {
					fill(c)
					mine = takeChildren(c) // the slot's fallback content
				}
				for _, m := range mine {
					n.InsertBefore(m, c)
				}
				n.RemoveChild(c)
			default:
				fill(c)
			}
		}
	}
	fill(host)
}

// takeChildren removes and returns the children of a node.
func takeChildren(n *html.Node) (all []*html.Node) {
	for n.FirstChild != nil {
		all = append(all, n.FirstChild)
		n.RemoveChild(n.FirstChild)
	}
	return all
}

// splitSlotted partitions nodes into those assigned to the slot, "" for the unnamed one, and the others.
func splitSlotted(all []*html.Node, slot string) (mine, others []*html.Node) {
	for _, n := range all {
		if attribute(n, "slot") == slot {
			mine = append(mine, n)
		} else {
			others = append(others, n)
		}
	}
	return mine, others
}

// replaceInner replaces an element with a div that holds the parsed HTML.
func replaceInner(n *html.Node, src string) {
	takeChildren(n)
	inner, err := html.ParseFragment(strings.NewReader(src), bodyElement())
	if err != nil { // nested more than 512 deep
		inner = []*html.Node{{Type: html.TextNode, Data: src}}
	}
	for _, c := range inner {
		n.AppendChild(c)
	}
	makePlain(n)
}

// bodyElement returns the context for parsing fragments: the HTML parser handles the same text differently in a
// table.
func bodyElement() *html.Node {
	return &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
}

// makePlain turns an element into a visible div.
func makePlain(n *html.Node) { n.Data, n.DataAtom, n.Namespace, n.Attr = "div", atom.Div, "", nil }

// reveals are the fallbacks for a page without visible text, tried in order until one finds text. Each takes an
// element and its nesting depth of HTML inside HTML, and returns the depth of its children. They range from the
// author's alternative content, to folded content, to descriptions of pictures: each later one adds more that is not
// the page's text.
var reveals = []func(n *html.Node, inside int) int{
	func(n *html.Node, inside int) int { // fallback content for browsers without frames, scripts or players
		switch {
		case rawHTML[n.Data] && inside < maxInside:
			replaceInner(n, rawText(n))
			return inside + 1
		case slices.Contains([]string{"head", "object", "canvas", "audio", "video"}, n.Data):
			makePlain(n)
		}
		return inside
	},
	func(n *html.Node, inside int) int { // content that is folded away, menus and drawings
		if isHidden(n) && !neverText[n.Data] || n.Namespace == "svg" && n.Data == "text" {
			makePlain(n)
		}
		return inside
	},
	func(n *html.Node, inside int) int { // descriptions of pictures
		says := cmp.Or(attribute(n, "alt"), attribute(n, "title"))
		if n.DataAtom == atom.Img || n.DataAtom == atom.Area {
			makePlain(n)
			n.AppendChild(&html.Node{Type: html.TextNode, Data: says})
		}
		return inside
	},
}

// rawHTML holds the elements whose content is raw text for the parser, and HTML for a browser that doesn't support
// them.
var rawHTML = map[string]bool{"noscript": true, "noframes": true, "noembed": true, "iframe": true}

// neverText holds the invisible elements without text for people.
var neverText = map[string]bool{
	"script": true, "style": true, "title": true, "input": true, "embed": true,
}

// revealText reads a page without visible text. It returns the text of the first reveal that finds any, or a failure
// with the reason. Each reveal changes the tree, so that later ones add to the earlier ones. whyNoText therefore
// runs first, on the unchanged page.
func revealText(doc *html.Node) (corpus.Extracted, error) {
	failure := whyNoText(doc)
	for _, reveal := range reveals {
		revealNodes(doc, reveal, 0)
		var w doctext.Writer
		walk := htmlWalk{w: &w}
		walk.walkNode(doc, place{})
		if x := w.Result(); x.Text != "" {
			return x, nil
		}
	}
	return corpus.Extracted{}, failure
}

// revealNodes applies a reveal to each element, parents first. It also visits the nodes that the reveal inserts.
func revealNodes(n *html.Node, reveal func(*html.Node, int) int, inside int) {
	if n.Type == html.ElementNode {
		inside = reveal(n, inside)
	}
	for c := range n.ChildNodes() {
		revealNodes(c, reveal, inside)
	}
}

// rawText returns the text of a node's direct children.
func rawText(n *html.Node) string {
	var b strings.Builder
	for c := range n.ChildNodes() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// whyNoText returns the failure of a page without text, with advice. Frames take precedence, because their URLs can
// be added instead; at most three are listed.
func whyNoText(doc *html.Node) error {
	var frames []string
	scripts, pictures := false, false
	for n := range doc.Descendants() {
		switch n.DataAtom {
		case atom.Frame, atom.Iframe:
			src := doctext.Line(attribute(n, "src"))
			if src != "" && !slices.Contains(frames, src) && !strings.Contains(src, "about:") {
				frames = append(frames, src)
			}
		case atom.Script:
			scripts = true
		case atom.Img, atom.Svg, atom.Canvas:
			pictures = true
		}
	}
	failure := &corpus.Failure{Code: corpus.NoText}
	switch {
	case len(frames) > 0:
		failure.Detail = locale.Say(
			"This page only embeds other pages. Add {1}.", strings.Join(frames[:min(len(frames), 3)], ", "),
		)
	case scripts:
		failure.Detail = "This page loads its text with scripts, which Footnote doesn't run. Save it as PDF in a " +
			"browser and add the PDF."
	case pictures:
		failure.Detail = "This page contains images without text. Save it as PDF, run OCR on it and add the result."
	default:
		return noText
	}
	return failure
}
