package extract

import (
	"context"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

const (
	// Parsing a page takes many times its size, and readability several passes over each element.
	maxHTML         = 8 << 20 // bytes; of longer pages only the text is kept
	maxTags         = 300_000 // of pages with more only the text is kept
	maxElements     = 50_000  // more than that is no article
	minArticle      = 400     // runes; less means that readability found little
	minArticleShare = 0.35    // of the whole page's text
)

// readPage reads HTML: the article if the page has one, else everything but its navigation. Nothing is fetched. The
// steps depend on each other. Parts that a browser puts in place are put there first. Then the whole page is read, as
// what the article is measured against, and because a page that shows nothing at all is read in another way. What the
// page says of itself is collected before readability, which changes the tree that it is given.
func readPage(ctx context.Context, src string, f corpus.File) (corpus.Extracted, error) {
	var whole doctext.Writer
	if len(src) > maxHTML || strings.Count(src, "<") > maxTags {
		return strippedPage(ctx, src, f)
	}
	doc, err := html.Parse(strings.NewReader(src))
	if err != nil { // nested more than 512 deep
		return strippedPage(ctx, src, f)
	}
	composePage(doc, 0)
	walk := htmlWalk{w: &whole}
	walk.walkNode(doc, place{})
	x := whole.Result()
	about := aboutPage(doc)
	if x.Text == "" {
		if x, err = revealText(doc); err != nil {
			return x, err
		}
		about.applyFields(&x)
		return x, nil
	}
	if art, ok := readArticle(doc); ok {
		if y := articleBlocks(art.Node, about.heading); longEnough(y.Text, x.Text) {
			x = y
		}
		if about.title == "" {
			about.title = doctext.Line(art.Title())
		}
		if about.author == "" {
			about.author = doctext.Line(art.Byline())
		}
		if published, err := art.PublishedTime(); err == nil && about.date == "" {
			about.date = published.Format(time.DateOnly)
		}
	}
	about.applyFields(&x)
	return x, nil
}

// strippedPage keeps the text of a page and nothing else. It is for pages that are too large or too nested to be
// parsed, and for a second try with little memory. A tokenizer needs no tree.
func strippedPage(_ context.Context, src string, _ corpus.File) (corpus.Extracted, error) {
	for _, hidden := range []map[string]bool{invisible, neverText} { // what is hidden stands in for a page without text
		var w doctext.Writer
		stripTags(&w, src, hidden, 0)
		if x := w.Result(); x.Text != "" {
			return x, nil
		}
	}
	return corpus.Extracted{}, noText
}

// longEnough reports whether an article is worth more than the whole page: readability at times finds only one column
// or one comment. Both limits are in the constants above.
func longEnough(article, whole string) bool {
	n := utf8.RuneCountInString(article)
	return n >= minArticle && float64(n) >= minArticleShare*float64(utf8.RuneCountInString(whole))
}

// readArticle runs readability, which is other people's code on other people's pages: if it fails, there is no article.
// It wants an address to complete relative links with. The page's own is not known here, and such links become no marks
// anyway, because doctext takes absolute ones only if they lead to the web; localhost is never asked.
func readArticle(doc *html.Node) (art readability.Article, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	p := readability.NewParser()
	p.MaxElemsToParse = maxElements
	base, err := url.Parse("http://localhost/")
	if err != nil {
		return art, false
	}
	art, err = p.ParseDocument(doc, base)
	return art, err == nil && art.Node != nil
}

// articleBlocks reads the article and puts back the page's main heading, which readability takes out. The heading
// stands beside the article for readability, and would be lost as the title of the sections below it.
func articleBlocks(n *html.Node, mainHeading string) corpus.Extracted {
	var w doctext.Writer
	if mainHeading != "" && findText(n, mainHeading) == nil {
		w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: 1})
		w.Text(mainHeading)
	}
	walk := htmlWalk{w: &w}
	walk.walkNode(n, place{})
	return w.Result()
}

// findText returns the heading of n that says what title says, nil if there is none.
func findText(n *html.Node, title string) *html.Node {
	if headingLevel(n) > 0 && doctext.Line(textOf(n)) == title {
		return n
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if found := findText(c, title); found != nil {
			return found
		}
	}
	return nil
}

// about is what a page says about itself. heading is its first heading of level 1 that is shown. Empty fields are
// unknown.
type about struct{ title, heading, author, date, language, description string }

// applyFields fills in the document's title, from its first heading if the page has none, its language and its
// metadata.
func (a about) applyFields(x *corpus.Extracted) {
	x.Title = doctext.Title(a.title, firstTitle(*x), x.Text)
	x.Language = languageCode(a.language)
	for key, value := range map[string]string{"author": a.author, "date": a.date, "description": a.description} {
		if value != "" {
			x.Meta[key] = value
		}
	}
}

// aboutPage looks through the whole tree, since pages have meta elements outside of their head too. A title inside a
// drawing is not the page's. The first one of each kind counts.
func aboutPage(doc *html.Node) about {
	var a about
	var look func(*html.Node)
	look = func(n *html.Node) {
		switch n.DataAtom {
		case atom.Html:
			a.language = attribute(n, "lang")
		case atom.Title:
			if a.title == "" && (n.Parent == nil || n.Parent.DataAtom == atom.Head) {
				a.title = doctext.Line(textOf(n))
			}
		case atom.H1:
			if a.heading == "" && !isHidden(n) {
				a.heading = doctext.Line(textOf(n))
			}
		case atom.Meta:
			a.readMeta(strings.ToLower(attribute(n, "name")+attribute(n, "property")),
				doctext.Line(attribute(n, "content")))
		case atom.Time:
			if a.date == "" && attribute(n, "pubdate") != "" {
				a.date = doctext.Line(attribute(n, "datetime"))
			}
		case atom.Script, atom.Style, atom.Svg, atom.Template:
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			look(c)
		}
	}
	look(doc)
	return a
}

// readMeta takes a meta element by its name or property: HTML's own names, Dublin Core's, and Open Graph's, where an
// author may be the address of a profile instead of a name.
func (a *about) readMeta(name, content string) {
	set := func(field *string) {
		if *field == "" {
			*field = content
		}
	}
	switch name {
	case "author", "dc.creator", "article:author":
		if !strings.HasPrefix(content, "http") {
			set(&a.author)
		}
	case "article:published_time", "date", "dc.date", "dcterms.created", "pubdate":
		set(&a.date)
	case "description", "og:description":
		set(&a.description)
	case "og:title":
		set(&a.title)
	}
}

// attribute is the value of an element's attribute, "" without one. Those of SVG and MathML with a namespace don't
// count.
func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// textOf is the text below a node, without elements that are never shown.
func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if !invisible[c.Data] {
			b.WriteString(textOf(c))
		}
	}
	return b.String()
}

// stripTags keeps the text of HTML that can't be parsed, without that of hidden elements, a paragraph for each block
// element. inside is how deep in the text of other HTML it stands. The tokenizer may hold maxHTML bytes of one token; a
// longer one ends the text there. Text in an element such as noscript comes as one piece, and is HTML itself: it is
// stripped once more, at most maxInside deep.
func stripTags(w *doctext.Writer, src string, hidden map[string]bool, inside int) {
	z := html.NewTokenizer(strings.NewReader(src))
	z.SetMaxBuf(maxHTML)
	skip, raw := "", false
	for {
		switch z.Next() {
		case html.ErrorToken:
			w.End()
			return
		case html.TextToken:
			text := string(z.Text())
			switch {
			case skip != "" || !w.Open() && strings.TrimSpace(text) == "":
				continue
			case raw && inside < maxInside:
				stripTags(w, text, hidden, inside+1)
				continue
			case !w.Open():
				w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
			}
			w.Text(html.UnescapeString(text))
		case html.StartTagToken:
			name, _ := z.TagName()
			tag := string(name)
			if skip == "" && hidden[tag] && !voidTag[tag] {
				skip = tag
			}
			raw = rawHTML[tag]
			if !inlineTag[atom.Lookup(name)] {
				w.End()
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if string(name) == skip {
				skip = ""
			}
			raw = false
			if !inlineTag[atom.Lookup(name)] {
				w.End()
			}
		}
	}
}

// writeFragment adds a piece of HTML that stands in another format. Markdown and notebooks have such pieces. The block
// that is open ends, and the piece's last block ends with it.
func writeFragment(w *doctext.Writer, src string, at place) {
	if at.depth > maxNesting {
		stripTags(w, src, invisible, 0)
		return
	}
	nodes, err := html.ParseFragment(strings.NewReader(src), bodyElement())
	if err != nil {
		stripTags(w, src, invisible, 0)
		return
	}
	walk := htmlWalk{w: w}
	for _, n := range nodes {
		walk.walkNode(n, at)
	}
	w.End()
}
