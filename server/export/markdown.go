package export

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/lazy"
)

// citation matches a footnote in an answer's text. The word joiner before it prevents a line break.
var citation = lazy.Regexp(`[ \x{2060}]?\[(\d{1,4})\]`)

// maxListLevel is the maximum depth of nested lists.
const maxListLevel = 8

// markdown writes an answer's text. Bytes that are not UTF-8 become U+FFFD, since the file has to be UTF-8.
func (d *document) markdown(answer string) {
	source := []byte(strings.ToValidUTF8(answer, "\ufffd"))
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify))
	w := blockWriter{d, source}
	w.children(md.Parser().Parse(text.NewReader(source)), "", "")
}

// blockWriter writes the blocks of one parsed answer.
type blockWriter struct {
	*document
	source []byte
}

// children writes the blocks inside a node, in a style. properties apply to the first paragraph only: those of a
// list.
func (w blockWriter) children(n ast.Node, styleID, properties string) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		w.block(child, styleID, properties)
		if properties != "" {
			properties = `<w:ind w:left="720"/>`
		}
	}
}

// block writes one block. A heading is one level lower, since the question is the first. HTML is written as text, an
// unknown block as a paragraph.
func (w blockWriter) block(n ast.Node, styleID, properties string) {
	switch n := n.(type) {
	case *ast.Heading:
		w.paragraph(fmt.Sprintf("Heading%d", min(n.Level+1, 6)), "", func() { w.inline(n) })
	case *ast.Blockquote:
		w.children(n, "Quote", "")
	case *ast.List:
		w.list(n, styleID, 0)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		w.paragraph("Code", "", func() { w.run(w.lines(n), style{}) })
	case *ast.ThematicBreak:
		w.paragraph("", `<w:pBdr><w:bottom w:val="single" w:sz="4" w:space="1" w:color="999999"/></w:pBdr>`, func() {})
	case *ast.HTMLBlock:
		w.paragraph(styleID, properties, func() { w.run(w.lines(n), style{}) })
	case *extast.Table:
		w.table(n)
	default: // paragraphs, and the text of tight lists
		w.paragraph(styleID, properties, func() { w.inline(n) })
	}
}

// lines returns a block's own lines unchanged.
func (w blockWriter) lines(n ast.Node) string {
	return strings.TrimRight(string(n.Lines().Value(w.source)), "\n")
}

// list writes a list with its nested lists. Word numbers by numId: each list has its own, so that a second list
// starts again.
//
// A list may start at another number than 1. Lists deeper than maxListLevel are written at that depth.
func (w blockWriter) list(n *ast.List, styleID string, level int) {
	id := w.newList(n.IsOrdered(), max(1, n.Start))
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		// The first paragraph of an item has the bullet or number; later ones are only indented.
		properties := listProperties(id, level)
		for child := item.FirstChild(); child != nil; child = child.NextSibling() {
			if inner, is := child.(*ast.List); is {
				w.list(inner, styleID, min(level+1, maxListLevel))
				continue
			}
			w.block(child, styleID, properties)
			properties = fmt.Sprintf(`<w:ind w:left="%d"/>`, 720*(level+1))
		}
	}
}

// table writes a table with a header. Each row gets the grid's number of cells.
//
// Word refuses a file with a row shorter than the grid, so short rows are padded.
func (w blockWriter) table(n *extast.Table) {
	w.body.WriteString(
		`<w:tbl><w:tblPr><w:tblStyle w:val="Table"/><w:tblW w:w="0" w:type="auto"/></w:tblPr><w:tblGrid>`,
	)
	w.body.WriteString(strings.Repeat("<w:gridCol/>", len(n.Alignments)) + "</w:tblGrid>")
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		_, head := row.(*extast.TableHeader)
		w.body.WriteString("<w:tr>")
		if head {
			w.body.WriteString("<w:trPr><w:tblHeader/></w:trPr>")
		}
		cells := 0
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells++
			w.body.WriteString("<w:tc>")
			align := ""
			if at, is := cell.(*extast.TableCell); is {
				switch at.Alignment {
				case extast.AlignRight:
					align = `<w:jc w:val="end"/>`
				case extast.AlignCenter:
					align = `<w:jc w:val="center"/>`
				case extast.AlignLeft, extast.AlignNone:
				}
			}
			w.paragraph("", align, func() { w.inlineAs(cell, style{bold: head}) })
			w.body.WriteString("</w:tc>")
		}
		for ; cells < len(n.Alignments); cells++ {
			w.body.WriteString("<w:tc><w:p/></w:tc>")
		}
		w.body.WriteString("</w:tr>")
	}
	w.body.WriteString("</w:tbl>")
	w.paragraph("", "", func() {}) // a separator: adjacent tables would be merged
}

// piece is text with one style. Adjacent pieces of the same style are merged.
type piece struct {
	text  string
	style style
}

// inline writes the text of a block without a style.
func (w blockWriter) inline(n ast.Node) { w.inlineAs(n, style{}) }

// inlineAs writes the text of a block, with its footnotes. Pieces of one style are merged before the search for
// footnotes: the parser may split “[” from “1]”.
func (w blockWriter) inlineAs(n ast.Node, s style) {
	var pieces []piece
	w.gather(n, s, &pieces)
	for i := 0; i < len(pieces); {
		whole := pieces[i].text
		j := i + 1
		// The parser may split a footnote; pieces of one style are merged.
		for ; j < len(pieces) && pieces[j].style == pieces[i].style; j++ {
			whole += pieces[j].text
		}
		w.words(whole, pieces[i].style)
		i = j
	}
}

// words writes text of one style; code has no footnotes.
func (w blockWriter) words(whole string, s style) {
	from := 0
	if !s.code {
		for _, at := range citation().FindAllStringSubmatchIndex(whole, -1) {
			number, err := strconv.Atoi(whole[at[2]:at[3]])
			if _, known := w.cited[number]; err != nil || !known {
				continue
			}
			if at[0] > from {
				w.run(whole[from:at[0]], s)
			}
			w.cite(number)
			from = at[1]
		}
	}
	if from < len(whole) {
		w.run(whole[from:], s)
	}
}

// gather collects the text of inline nodes. The parser leaves escapes and entities undecoded.
//
// Images are replaced by their description, since nothing is fetched. Links that do not lead to the web are dropped,
// but their text stays.
func (w blockWriter) gather(n ast.Node, s style, pieces *[]piece) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		inner := s
		switch child := child.(type) {
		case *ast.Text:
			raw := child.Value(w.source)
			// Escapes and entities are decoded, except in code, where they are literal.
			if !child.IsRaw() && !s.code {
				raw = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(raw)))
			}
			words := string(raw)
			switch {
			case child.HardLineBreak():
				words += "\n"
			case child.SoftLineBreak():
				words += " "
			}
			*pieces = append(*pieces, piece{words, s})
			continue
		case *ast.String:
			*pieces = append(*pieces, piece{string(child.Value), s})
			continue
		case *ast.AutoLink:
			inner.link = chat.WebLink(string(child.URL(w.source)))
			*pieces = append(*pieces, piece{string(child.Label(w.source)), inner})
			continue
		case *ast.RawHTML:
			*pieces = append(*pieces, piece{string(child.Segments.Value(w.source)), s})
			continue
		case *ast.CodeSpan:
			inner.code = true
		case *ast.Emphasis:
			inner.bold, inner.italic = s.bold || child.Level == 2, s.italic || child.Level == 1
		case *extast.Strikethrough:
			inner.strike = true
		case *ast.Link:
			inner.link = chat.WebLink(string(child.Destination))
		}
		w.gather(child, inner, pieces) // an image is written as its description
	}
}

// newList starts a list and returns its number, from 1 as in numId.
func (d *document) newList(numbered bool, start int) int {
	d.lists, d.starts = append(d.lists, numbered), append(d.starts, start)
	return len(d.lists)
}

// listProperties returns the properties of an item's first paragraph.
func listProperties(list, level int) string {
	return fmt.Sprintf(`<w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr>`, level, list)
}
