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

// readMarkdown parses CommonMark with tables, task lists, footnotes, definition lists, formulas and YAML front
// matter. A text that could take a parser too long falls back to plain text, with its markup. The title is that of
// the front matter, else the first heading.
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

// writeMarkdown writes the blocks of a text within the bounds of size and nesting. The table parser fills each row
// up to the header's columns, so that a small text can expand to millions of cells. Beyond doctext.MaxCells tables
// are not parsed, and their lines are kept as lines.
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

// firstTitle returns the heading that a document begins with, or its only heading of level 1. Several headings of
// level 1 are chapters, none of which is the title. It returns "" for a document without a title; the file name is
// the fallback then.
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

// place is the context of a block: its list nesting, and whether it is in a quotation. depth counts the enclosing
// blocks, for the limit maxNesting. It is passed by value, so that each level has a copy.
type place struct {
	list  int
	quote bool
	depth int
}

// markdownWalk writes the syntax tree of goldmark as blocks. raised and hidden last from an opening raw tag to its
// closing one, at most to the end of their paragraph.
type markdownWalk struct {
	w      doctext.Writer
	src    []byte
	raised bool   // in a raw superscript
	hidden string // the raw element (script, style) whose content is being skipped
	lines  bool   // tables exceed the limit and are written as lines of text
}

// walkBlocks writes the blocks below a node. Beyond maxNesting levels everything is one paragraph, which bounds the
// recursion. Real text is never nested that deep.
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

// walkBlock writes one block. Containers without a block kind, such as a definition's description, are written as
// their children. Thematic breaks are skipped.
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

// writeParagraph writes a block of running text. An unclosed raw tag ends with it, as in a browser's paragraph.
func (m *markdownWalk) writeParagraph(n ast.Node, b corpus.Block) {
	m.w.Begin(b)
	m.walkInline(n, 0)
	m.w.End()
	m.hidden, m.raised = "", false
}

// walkList writes the items of a list. The first paragraph of an item is the item itself. Further children, such as
// code or paragraphs, are separate blocks. Items are numbered from the list's first number as in CommonMark, which
// ignores the other numbers of the source.
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

// rawLines returns the source of a block, without the markers of its containers.
func (m *markdownWalk) rawLines(n ast.Node) []byte {
	var b bytes.Buffer
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(m.src))
	}
	return b.Bytes()
}

// writeHTML writes a block of raw HTML as a browser displays it. goldmark keeps the closing line, such as "-->",
// apart from the block's lines.
func (m *markdownWalk) writeHTML(n *ast.HTMLBlock, at place) {
	raw := m.rawLines(n)
	if n.HasClosure() {
		raw = append(raw, n.ClosureLine.Value(m.src)...)
	}
	writeFragment(&m.w, string(raw), at)
}

// writeTable writes a table. goldmark's header is the first row.
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

// writeFootnote writes a footnote as "[1] text", with the same number as its link in the text.
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

// walkInline writes the inline children of a node. Spans deeper than maxNesting are skipped.
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

// writeSpan writes one inline node. A soft line break of an editor becomes a space. Where tables are not parsed it
// stays a line break, because it ends a table row. The backlink of a footnote is skipped.
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
	case *formula.Node: // the source of the formula, so that quotations of it match
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
		if n.Type() == ast.TypeBlock { // a block nested too deeply to be parsed separately
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

// rawHTML drops an inline tag, and the content of a hidden element such as script or style. It keeps line breaks.
// goldmark passes single tags, not elements, so that the walk has to track open elements.
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

// tagName returns the lower-case name of a tag, and whether it is a closing tag. It returns "" for a comment or a
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

// unescapeText decodes backslash escapes and entities in one pass. goldmark leaves both to its renderer. It searches
// for the end of an entity within 40 bytes, more than the longest name in HTML.
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
