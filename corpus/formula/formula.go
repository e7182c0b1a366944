// Package formula parses formulas in Markdown. text.ReadFormula decides where a formula begins and ends. The
// goldmark parsers here prevent Markdown syntax inside of it. Inline is for formulas in running text. Block is for
// formulas that begin a line, whose next lines may look like list items.
package formula

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	mdtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/footnote/footnote/text"
)

// Node is a formula in a paragraph, heading, cell or list item.
type Node struct {
	ast.BaseInline
	text.Formula        // its Start and End are offsets in the source
	Source       string // the source text, with its delimiters, without the marks of the blocks around it
}

// KindNode is the kind of Node.
var KindNode = ast.NewNodeKind("Formula")

// Kind implements ast.Node.
func (*Node) Kind() ast.NodeKind { return KindNode }

// Dump implements ast.Node.
func (n *Node) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"TeX": n.TeX}, nil)
}

// state is shared by both parsers while they parse a text.
type state struct {
	source string
	open   int // offset of text that may become a formula with more text; -1: none
}

var stateKey = parser.NewContextKey()

func stateOf(pc parser.Context, source []byte) *state {
	s, ok := pc.Get(stateKey).(*state)
	if !ok {
		s = &state{source: string(source), open: -1}
		pc.Set(stateKey, s)
	}
	return s
}

// Open returns the byte offset from which the parse may change when more text is streamed.
func Open(pc parser.Context) (at int, ok bool) {
	s, ok := pc.Get(stateKey).(*state)
	if !ok || s.open < 0 {
		return 0, false
	}
	return s.open, true
}

// Inline is the parser of inline formulas. It runs before the parser of links (200).
type Inline struct{}

// Trigger implements parser.InlineParser.
func (Inline) Trigger() []byte { return []byte{'\\', '$'} }

// Parse implements parser.InlineParser.
func (Inline) Parse(parent ast.Node, block mdtext.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if line[0] == '\\' && len(line) > 1 && line[1] != '(' && line[1] != '[' {
		return nil
	}
	s, lines := stateOf(pc, block.Source()), parent.Lines()
	found, ok, open := text.ReadFormula(s.source[:lines.At(lines.Len()-1).Stop], segment.Start)
	if open && s.open < 0 && isLastText(s.source[segment.Start:]) {
		s.open = segment.Start
	}
	if !ok {
		return nil
	}
	n := &Node{Formula: found}
	var source strings.Builder // without the marks before its lines, as in a quotation
	for line != nil && segment.Start < found.End {
		took := min(len(line), found.End-segment.Start+segment.Padding)
		source.Write(line[:took])
		block.Advance(took)
		line, segment = block.PeekLine()
	}
	n.Source = source.String()
	size := strings.Index(s.source[found.Start:found.End], found.TeX)
	n.TeX = n.Source[size : len(n.Source)-size]
	return n
}

// isLastText reports whether rest reaches the end of the text without a blank line.
func isLastText(rest string) bool {
	return len(rest) <= text.MaxOpenFormula && !blankLine.MatchString(rest)
}

var blankLine = regexp.MustCompile(`\n[ \t\r]*\n`)

// blockNode is a paragraph that begins with a display formula and ends with the formula's last line.
type blockNode struct {
	ast.BaseBlock
	end int // of the formula, in the source
}

// KindBlock is the kind of a paragraph that begins with a display formula. It is rendered as a paragraph.
var KindBlock = ast.NewNodeKind("FormulaBlock")

// Kind implements ast.Node.
func (*blockNode) Kind() ast.NodeKind { return KindBlock }

// Dump implements ast.Node.
func (n *blockNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// Block is the parser of paragraphs with display formulas.
type Block struct{}

// Trigger implements parser.BlockParser.
func (Block) Trigger() []byte { return []byte{'\\', '$'} }

// Open implements parser.BlockParser.
func (Block) Open(_ ast.Node, reader mdtext.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	indent := max(pc.BlockOffset(), 0)
	if rest := line[indent:]; !bytes.HasPrefix(rest, []byte(`\[`)) && !bytes.HasPrefix(rest, []byte("$$")) {
		return nil, parser.NoChildren
	}
	found, ok, _ := text.ReadFormula(stateOf(pc, reader.Source()).source, segment.Start+indent-segment.Padding)
	if !ok {
		return nil, parser.NoChildren
	}
	n := &blockNode{end: found.End}
	n.Lines().Append(segment)
	reader.AdvanceToEOL()
	return n, parser.NoChildren
}

// Continue implements parser.BlockParser.
func (Block) Continue(node ast.Node, reader mdtext.Reader, _ parser.Context) parser.State {
	line, segment := reader.PeekLine()
	if segment.Start >= node.(*blockNode).end || util.IsBlank(line) {
		return parser.Close
	}
	node.Lines().Append(segment)
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

// Close implements parser.BlockParser.
func (Block) Close(node ast.Node, reader mdtext.Reader, pc parser.Context) {
	parser.NewParagraphParser().Close(node, reader, pc)
}

// CanInterruptParagraph implements parser.BlockParser.
func (Block) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine implements parser.BlockParser.
func (Block) CanAcceptIndentedLine() bool { return false }

// Extension adds both parsers to goldmark's.
type Extension struct{}

// Extend implements goldmark.Extender.
func (Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(
		parser.WithInlineParsers(util.Prioritized(Inline{}, 140)),
		parser.WithBlockParsers(util.Prioritized(Block{}, 650)))
}
