package extract

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

// maxInside is how deep HTML may stand inside the text or the attributes of HTML. Each level is parsed anew, and a page
// could hold itself as often as its author liked.
const maxInside = 4

// composePage puts in place what a browser shows of a page though it stands elsewhere in it: shadow trees that the page
// declares, with their slots filled, and the documents that frames have in an attribute. Shadow trees that a page
// declares are "template" elements with the attribute shadowrootmode (HTML Standard, "The template element");
// shadowroot was its name in early Chrome. A host has one tree, the first.
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

// fillSlots makes the children of a shadow tree those of its host; the host's own ones stand in the tree's slots. An
// unnamed slot takes the children that name none. What no slot takes isn't shown, and is dropped. A slot that gets
// nothing shows what it holds itself.
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
					mine = takeChildren(c) // what the slot itself holds
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

// takeChildren removes the children of a node and returns them.
func takeChildren(n *html.Node) (all []*html.Node) {
	for n.FirstChild != nil {
		all = append(all, n.FirstChild)
		n.RemoveChild(n.FirstChild)
	}
	return all
}

// splitSlotted divides nodes into those that name a slot, "" for the unnamed one, and the others.
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

// replaceInner makes an element a plain one that holds HTML.
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

// bodyElement is the context in which fragments are parsed: HTML's parser treats the same text differently in a table.
func bodyElement() *html.Node {
	return &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
}

// makePlain makes an element one that is shown.
func makePlain(n *html.Node) { n.Data, n.DataAtom, n.Namespace, n.Attr = "div", atom.Div, "", nil }

// reveals show the parts that stand in for a page which shows no text by itself; the first ones that have some do. They
// take how deep in HTML inside HTML an element stands, and return how deep its children do. They go from what an author
// meant to be read instead, to what is only folded away, to words about pictures: each later one adds more that is no
// text of the page.
var reveals = []func(n *html.Node, inside int) int{
	func(n *html.Node, inside int) int { // what is there for browsers without frames, scripts or players
		switch {
		case rawHTML[n.Data] && inside < maxInside:
			replaceInner(n, rawText(n))
			return inside + 1
		case slices.Contains([]string{"head", "object", "canvas", "audio", "video"}, n.Data):
			makePlain(n)
		}
		return inside
	},
	func(n *html.Node, inside int) int { // what is folded away until something opens it, menus and drawings
		if isHidden(n) && !neverText[n.Data] || n.Namespace == "svg" && n.Data == "text" {
			makePlain(n)
		}
		return inside
	},
	func(n *html.Node, inside int) int { // what is said of pictures
		says := cmp.Or(attribute(n, "alt"), attribute(n, "title"))
		if n.DataAtom == atom.Img || n.DataAtom == atom.Area {
			makePlain(n)
			n.AppendChild(&html.Node{Type: html.TextNode, Data: says})
		}
		return inside
	},
}

// rawHTML are the elements whose content is text for a parser and HTML for a browser that can't show them.
var rawHTML = map[string]bool{"noscript": true, "noframes": true, "noembed": true, "iframe": true}

// neverText are invisible elements that hold no text for people.
var neverText = map[string]bool{
	"script": true, "style": true, "title": true, "input": true, "embed": true,
}

// revealText reads a page that shows no text by itself: what stands in for it, or why it has none. The tree is changed
// by each reveal and not restored, so that a later one adds to the earlier ones. Why there is no text is found out
// before, from the page as it came.
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

// revealNodes has one reveal look at each element, parents first: what it puts into one is looked at as well.
func revealNodes(n *html.Node, reveal func(*html.Node, int) int, inside int) {
	if n.Type == html.ElementNode {
		inside = reveal(n, inside)
	}
	for c := range n.ChildNodes() {
		revealNodes(c, reveal, inside)
	}
}

// rawText is the text right below a node.
func rawText(n *html.Node) string {
	var b strings.Builder
	for c := range n.ChildNodes() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// whyNoText says what to do about a page without text. Frames come first, as their addresses are what can be added
// instead; at most three are named.
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
		failure.Detail = "This page only shows other pages in frames. Add " +
			strings.Join(frames[:min(len(frames), 3)], ", ") + "."
	case scripts:
		failure.Detail = "Scripts put the text into this page, and they are not run. Open it in a browser, save it " +
			"as PDF and add that."
	case pictures:
		failure.Detail = "This page shows pictures without text. Save it as PDF, run text recognition (OCR) on it " +
			"and add the result."
	default:
		return noText
	}
	return failure
}
