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
	// Parsing a page takes many times its size in memory, and readability passes over each element several times.
	maxHTML         = 8 << 20 // bytes; of longer pages only the text is kept
	maxTags         = 300_000 // of pages with more only the text is kept
	maxElements     = 50_000  // of a page; readability fails beyond
	minArticle      = 400     // runes; the whole page is used for a shorter article
	minArticleShare = 0.35    // of the whole page's text, likewise
)

// readPage parses HTML. It returns the article if the page has one, else the whole page without its navigation. It
// fetches nothing. The order of the steps matters. First shadow trees and embedded documents are put in place. Then
// the whole page is read, to measure the article against it and to detect a page without visible text. Metadata is
// collected before readability runs, because that changes the tree.
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

// strippedPage returns the text of a page without structure. It is the fallback for pages that are too large or too
// nested to parse, and for a retry with little memory. A tokenizer needs no tree.
func strippedPage(_ context.Context, src string, _ corpus.File) (corpus.Extracted, error) {
	// a page without visible text falls back to its hidden text
	for _, hidden := range []map[string]bool{invisible, neverText} {
		var w doctext.Writer
		stripTags(&w, src, hidden, 0)
		if x := w.Result(); x.Text != "" {
			return x, nil
		}
	}
	return corpus.Extracted{}, noText
}

// longEnough reports whether the article is used instead of the whole page. Readability at times finds only one
// column or one comment. The limits are minArticle and minArticleShare.
func longEnough(article, whole string) bool {
	n := utf8.RuneCountInString(article)
	return n >= minArticle && float64(n) >= minArticleShare*float64(utf8.RuneCountInString(whole))
}

// readArticle runs readability, which is third-party code on untrusted input: ok is false if it fails or panics. It
// requires a base URL for relative links. The page's own URL is unknown here. Relative links become no marks anyway,
// because doctext accepts only absolute URLs to the web, so localhost is never contacted.
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

// articleBlocks writes the article and restores the page's main heading, which readability removes. Without it, the
// sections of the article would have no parent heading.
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

// findText returns the heading at or below n whose text equals title, nil without one.
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

// about holds a page's metadata. heading is its first visible h1. Empty fields are unknown.
type about struct{ title, heading, author, date, language, description string }

// applyFields sets the document's title, language and metadata. The fallback for the title is the first heading.
func (a about) applyFields(x *corpus.Extracted) {
	x.Title = doctext.Title(a.title, firstTitle(*x), x.Text)
	x.Language = languageCode(a.language)
	for key, value := range map[string]string{"author": a.author, "date": a.date, "description": a.description} {
		if value != "" {
			x.Meta[key] = value
		}
	}
}

// aboutPage collects the metadata from the whole tree, since pages have meta elements outside of their head too. It
// ignores the title of an SVG drawing. The first value of each kind is used.
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

// readMeta reads a meta element by its name or property. It knows HTML's own names, Dublin Core's and Open Graph's.
// An author may be the URL of a profile, which is ignored.
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

// attribute returns the value of an element's attribute, "" without one. It ignores namespaced attributes of SVG and
// MathML.
func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// textOf returns the text below a node, without invisible elements.
func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if !invisible[c.Data] && !isReading(c) {
			b.WriteString(textOf(c))
		}
	}
	return b.String()
}

// stripTags writes the text of HTML without parsing it into a tree: a paragraph for each block element, without
// hidden elements. inside is the nesting depth in other HTML. The tokenizer buffers at most maxHTML bytes; a longer
// token ends the text there. The content of an element such as noscript is one text token that holds HTML, which is
// stripped recursively, at most maxInside deep.
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

// writeFragment writes HTML that is embedded in another format, such as Markdown or a notebook. It ends the open
// block, and its own last block.
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
