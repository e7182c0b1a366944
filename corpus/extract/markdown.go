package extract

import (
	"bytes"
	"context"
	"html"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	mdtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/formula"
	"github.com/footnote/footnote/text"
)

// readMarkdown reads CommonMark with tables, task lists, footnotes, definition lists, formulas and YAML front matter. A
// text that a parser could take too long for is read as plain text instead: its words stay, its markup too. The title
// is the front matter's, or else the first heading's.
func readMarkdown(ctx context.Context, src string, f corpus.File) (corpus.Extracted, error) {
	front, body := frontMatter(src)
	if len(body) > maxMarkdown || tooNested(body) {
		return plainText(ctx, src, f)
	}
	var m markdownWalk
	m.writeMarkdown(body)
	x := m.w.Result()
	front.applyFields(&x)
	if x.Title == "" {
		x.Title = firstTitle(x)
	}
	return x, nil
}

// writeMarkdown writes the blocks of a text that is not too long and not too nested. A table's parser fills each row up
// to the header's columns, so that a small text can have millions of cells. Where it would, tables are not parsed, and
// their lines are kept as lines.
func (m *markdownWalk) writeMarkdown(body string) {
	m.src, m.lines = []byte(body), tableCells(body) > doctext.MaxCells
	extensions := []goldmark.Extender{
		extension.Linkify, extension.Strikethrough, extension.TaskList, extension.Footnote, extension.DefinitionList,
		formula.Extension{},
	}
	if !m.lines {
		extensions = append(extensions, extension.Table)
	}
	doc := goldmark.New(goldmark.WithExtensions(extensions...)).Parser().Parse(mdtext.NewReader(m.src))
	m.walkBlocks(doc, place{})
}

// firstTitle is the text of the heading that a document begins with, or of its only heading of level 1. Several
// headings of level 1 are chapters, none of which names the whole. "" means that the document has no title of its own;
// its file name stands for it then.
func firstTitle(x corpus.Extracted) string {
	title, n := "", 0
	for i, b := range x.Blocks {
		if b.Kind == corpus.BlockHeading && (b.Level == 1 || i == 0) {
			if n++; n == 1 {
				title = doctext.Line(doctext.Slice(x.Text, b.Start, b.End))
			}
			if i == 0 {
				return title
			}
		}
	}
	if n == 1 {
		return title
	}
	return ""
}

// place is where a block stands: in how many lists and whether in a quotation. depth counts the blocks around it, for
// the limit of maxNesting. It is passed by value: each level has its own.
type place struct {
	list  int
	quote bool
	depth int
}

// markdownWalk writes the tree that goldmark makes as blocks. raised and hidden last from an opening raw tag to its
// closing one, and at most to the end of their paragraph.
type markdownWalk struct {
	w      doctext.Writer
	src    []byte
	raised bool   // inside a raw superscript
	hidden string // the raw element (script, style) whose content is being left out
	lines  bool   // tables are too large to be read as such: they are lines of text
}

// walkBlocks writes the blocks below a node. Below maxNesting levels everything is one paragraph: the walk is
// recursive, and a person's text has no such depth.
func (m *markdownWalk) walkBlocks(parent ast.Node, at place) {
	at.depth++
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if at.depth > maxNesting {
			m.writeParagraph(n, corpus.Block{Kind: corpus.BlockParagraph})
			continue
		}
		m.walkBlock(n, at)
	}
}

// walkBlock writes one block. Containers that have no form of their own here, such as a definition's description, are
// written as what stands in them. A line between sections says nothing.
func (m *markdownWalk) walkBlock(n ast.Node, at place) {
	switch n := n.(type) {
	case *ast.Heading:
		m.writeParagraph(n, corpus.Block{Kind: corpus.BlockHeading, Level: n.Level, Quote: at.quote})
	case *ast.Paragraph, *ast.TextBlock, *extast.DefinitionTerm:
		m.writeParagraph(n, corpus.Block{Kind: corpus.BlockParagraph, Quote: at.quote})
	case *ast.Blockquote:
		at.quote = true
		m.walkBlocks(n, at)
	case *ast.List:
		at.list++
		m.walkList(n, at)
	case *ast.FencedCodeBlock:
		m.writeCode(n, string(n.Language(m.src)), at)
	case *ast.CodeBlock:
		m.writeCode(n, "", at)
	case *ast.HTMLBlock:
		m.writeHTML(n, at)
	case *extast.Table:
		m.writeTable(n, at)
	case *extast.Footnote:
		m.writeFootnote(n, at)
	case *ast.ThematicBreak:
	default:
		if n.Kind() == formula.KindBlock {
			m.writeParagraph(n, corpus.Block{Kind: corpus.BlockParagraph, Quote: at.quote})
			return
		}
		m.walkBlocks(n, at)
	}
}

// writeParagraph writes a block of running text. What a raw tag began ends with it, as it would in a browser's
// paragraph.
func (m *markdownWalk) writeParagraph(n ast.Node, b corpus.Block) {
	m.w.Begin(b)
	m.walkInline(n, 0)
	m.w.End()
	m.hidden, m.raised = "", false
}

// walkList writes the items of a list. The first paragraph of an item is the item itself; what follows in it, such as
// code or further paragraphs, are blocks of their own. Items are counted from the list's first number, as CommonMark
// has it: the numbers of the others in the source don't count.
func (m *markdownWalk) walkList(l *ast.List, at place) {
	ordinal := 0
	if l.IsOrdered() {
		ordinal = l.Start
	}
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		n := item.FirstChild()
		if n != nil && (n.Kind() == ast.KindTextBlock || n.Kind() == ast.KindParagraph) {
			m.w.Begin(corpus.Block{Kind: corpus.BlockList, Level: at.list, Ordinal: ordinal, Quote: at.quote})
			if l.IsOrdered() {
				m.w.Number(strconv.Itoa(ordinal) + string(l.Marker))
			}
			m.walkInline(n, 0)
			m.w.End()
			m.hidden = ""
			n = n.NextSibling()
		}
		for ; n != nil; n = n.NextSibling() {
			inner := at
			inner.depth++
			if inner.depth > maxNesting {
				m.writeParagraph(n, corpus.Block{Kind: corpus.BlockParagraph})
				continue
			}
			m.walkBlock(n, inner)
		}
		if l.IsOrdered() {
			ordinal++
		}
	}
}

func (m *markdownWalk) writeCode(n ast.Node, language string, at place) {
	m.w.Begin(corpus.Block{Kind: corpus.BlockCode, Language: doctext.Line(language), Quote: at.quote})
	m.w.Text(string(m.rawLines(n)))
	m.w.End()
}

// rawLines is the source of a block, without the marks of the containers around it.
func (m *markdownWalk) rawLines(n ast.Node) []byte {
	var b bytes.Buffer
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(m.src))
	}
	return b.Bytes()
}

// writeHTML writes a block of raw HTML as what a browser would show of it. The closing line, such as "-->", is no part
// of the block's lines in goldmark.
func (m *markdownWalk) writeHTML(n *ast.HTMLBlock, at place) {
	raw := m.rawLines(n)
	if n.HasClosure() {
		raw = append(raw, n.ClosureLine.Value(m.src)...)
	}
	writeFragment(&m.w, string(raw), at)
}

// writeTable writes a table; goldmark's header is a row like the others, and stands first.
func (m *markdownWalk) writeTable(t *extast.Table, at place) {
	m.w.Begin(corpus.Block{Kind: corpus.BlockTable, Quote: at.quote})
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		m.w.Row()
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			m.w.Cell()
			m.walkInline(cell, 0)
		}
	}
	m.w.End()
}

// writeFootnote writes a footnote as "[1] text", with the number that its link in the text is written with.
func (m *markdownWalk) writeFootnote(n *extast.Footnote, at place) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c == n.FirstChild() && (c.Kind() == ast.KindParagraph || c.Kind() == ast.KindTextBlock) {
			m.w.Begin(corpus.Block{Kind: corpus.BlockParagraph, Quote: at.quote})
			m.w.Text("[" + strconv.Itoa(n.Index) + "] ")
			m.walkInline(c, 0)
			m.w.End()
			continue
		}
		m.walkBlock(c, at)
	}
}

// walkInline writes what stands in a line. Spans deeper than maxNesting are left out.
func (m *markdownWalk) walkInline(parent ast.Node, depth int) {
	if depth > maxNesting {
		return
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		m.writeSpan(n, depth+1)
	}
}

func (m *markdownWalk) writeMarked(n ast.Node, depth int, kind, href string) {
	end := m.w.Mark(kind, href)
	m.walkInline(n, depth)
	end()
}

// writeSpan writes one span. A soft line break, which an editor made, is a space; in a text whose tables are too large
// to be parsed it stays, because it ends a row there. The arrow that leads from a footnote back is left out.
func (m *markdownWalk) writeSpan(n ast.Node, depth int) {
	switch n := n.(type) {
	case *ast.Text:
		m.writeText(unescapeText(n.Segment.Value(m.src)))
		if n.HardLineBreak() || n.SoftLineBreak() && m.lines {
			m.w.Break()
		} else if n.SoftLineBreak() {
			m.writeText(" ")
		}
	case *ast.String:
		m.writeText(unescapeText(n.Value))
	case *ast.CodeSpan:
		end := m.w.Mark("code", "")
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*ast.Text); ok {
				m.writeText(string(t.Segment.Value(m.src)))
			}
		}
		end()
	case *formula.Node: // as it is written, so that what is quoted from it is found again
		end := m.w.Mark("math", "")
		m.writeText(n.Source)
		end()
	case *ast.Emphasis:
		kind := "em"
		if n.Level == 2 {
			kind = "strong"
		}
		m.writeMarked(n, depth, kind, "")
	case *ast.Link:
		m.writeMarked(n, depth, "link", unescapeText(n.Destination))
	case *ast.AutoLink:
		end := m.w.Mark("link", string(n.URL(m.src)))
		m.writeText(string(n.Label(m.src)))
		end()
	case *ast.RawHTML:
		m.rawHTML(n)
	case *extast.FootnoteLink:
		m.writeText("[" + strconv.Itoa(n.Index) + "]")
	case *extast.FootnoteBacklink:
	case *extast.TaskCheckBox:
		if n.IsChecked {
			m.writeText("[x] ")
		} else {
			m.writeText("[ ] ")
		}
	default:
		if n.Type() == ast.TypeBlock { // blocks nested too deeply to be told apart
			m.writeText(" ")
			if !n.HasChildren() && n.Lines() != nil {
				m.writeText(string(m.rawLines(n)))
			}
		}
		m.walkInline(n, depth)
	}
}

// writeText writes text unless it is inside a hidden element.
func (m *markdownWalk) writeText(s string) {
	if m.raised {
		s = text.Superscript(s)
	}
	if m.hidden == "" {
		m.w.Text(s)
	}
}

// rawHTML drops an inline tag. Breaks are kept, and what stands inside a script or a style is dropped with it. goldmark
// hands over single tags, not elements, so that the walk has to remember what is open.
func (m *markdownWalk) rawHTML(n *ast.RawHTML) {
	var b strings.Builder
	for i := range n.Segments.Len() {
		segment := n.Segments.At(i)
		b.Write(segment.Value(m.src))
	}
	name, closing := tagName(b.String())
	switch {
	case name == "sup":
		m.raised = !closing
	case closing && name == m.hidden:
		m.hidden = ""
	case m.hidden != "" || closing:
	case name == "br":
		m.w.Break()
	case invisible[name]:
		m.hidden = name
	}
}

// tagName returns the name in a tag, in lower case, and whether the tag closes an element; "" for a comment or a
// declaration.
func tagName(tag string) (name string, closing bool) {
	tag = strings.TrimPrefix(tag, "<")
	tag, closing = strings.CutPrefix(tag, "/")
	end := strings.IndexAny(tag, " \t\n/>")
	if end < 0 {
		return "", closing
	}
	return strings.ToLower(tag[:end]), closing
}

// unescapeText undoes backslash escapes and entities, each character once. goldmark leaves both to its renderer. An
// entity is looked for within 40 bytes, which is longer than any name that HTML has.
func unescapeText(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 && bytes.IndexByte(raw, '&') < 0 {
		return string(raw)
	}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '\\' && i+1 < len(raw) && util.IsPunct(raw[i+1]):
			i++
			b.WriteByte(raw[i])
		case raw[i] == '&':
			end := bytes.IndexByte(raw[i:min(len(raw), i+40)], ';')
			if end < 0 {
				b.WriteByte('&')
				continue
			}
			b.WriteString(html.UnescapeString(string(raw[i : i+end+1])))
			i += end
		default:
			b.WriteByte(raw[i])
		}
	}
	return b.String()
}
