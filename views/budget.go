package views

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/footnote/footnote/corpus/formula"
)

// The budget of one Markdown text, the same wherever it is drawn: in the live stream, on a loaded page and in an
// export. A text beyond any of these bounds is shown as it was written. maxWork is checked while parsing, before
// goldmark allocates: 14 kB of text can be a table of four million cells.
const (
	// The figures are choices.
	maxNodes    = 20_000  // nodes of the syntax tree; 100 bytes of link addresses count as one more
	maxMarkdown = 256_000 // bytes of source
	maxPlain    = 512_000 // bytes of a text that is shown as it was written; the rest is left out
	maxWork     = 65_536  // units of parsing: see account
	maxDepth    = 100     // nested quotations and lists
)

// account counts the work of parsing one text. Once it is over, the parsers below stop and the tree is of no use. It
// is stored in the parser's context, so parsing several texts at once is safe.
type account struct {
	work int
	over bool

	block ast.Node // the block whose marks are counted
	marks int
}

var accountKey = parser.NewContextKey()

// saidKey is where a parser finds the context that carries the language.
var saidKey = parser.NewContextKey()

// spendWork counts work against the budget of one text. Once it is spent it stays so.
func (a *account) spendWork(n int) (ok bool) {
	a.work += n
	a.over = a.over || a.work > maxWork
	return !a.over
}

// parseTree returns the tree of a text, or false if it is beyond the budget. unfinished is where a formula begins whose
// end may come with more text, -1 if there is none.
//
// A tree of a text beyond the budget is not complete and must not be used.
func (m *Markdown) parseTree(source []byte) (doc ast.Node, unfinished int, ok bool) {
	if len(source) > maxMarkdown {
		return nil, -1, false
	}
	a := &account{}
	pc := parser.NewContext()
	pc.Set(accountKey, a)
	pc.Set(saidKey, m.said)
	doc = m.md.Parser().Parse(text.NewReader(source), parser.WithContext(pc))
	unfinished = -1
	if at, open := formula.Open(pc); open {
		unfinished = at
	}
	return doc, unfinished, !a.over
}

// newParser is goldmark's parser with every construct metered that costs more than its length.
//
// The numbers are the order in which goldmark asks its parsers, lower ones first; those of its own are goldmark's.
func newParser() parser.Parser {
	inline := append(parser.DefaultInlineParsers(),
		util.Prioritized(meteredMarks{}, 0),
		util.Prioritized(formulaParser{}, 140),
		util.Prioritized(chipParser{}, 150)) // before links (200), so that [1] is a chip
	blocks := []util.PrioritizedValue{
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(meteredContainer{parser.NewListParser()}, 300),
		util.Prioritized(meteredContainer{parser.NewListItemParser()}, 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(formula.Block{}, 650),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(meteredContainer{parser.NewBlockquoteParser()}, 800),
		util.Prioritized(parser.NewHTMLBlockParser(), 900),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	}
	return parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithInlineParsers(inline...),
		parser.WithParagraphTransformers(
			util.Prioritized(meteredReferences{parser.LinkReferenceParagraphTransformer}, 100),
			util.Prioritized(meteredTables{extension.NewTableParagraphTransformer()}, 200)),
		parser.WithASTTransformers(
			util.Prioritized(extension.NewTableASTTransformer(), 0), util.Prioritized(safeTree{}, 500),
		),
	)
}

// meteredContainer is the parser of a list, an item or a quotation. goldmark asks it once for each line it may hold,
// and keeps every answer: a nested list followed by many blank lines takes depth × lines.
type meteredContainer struct{ parser.BlockParser }

// Open implements parser.BlockParser.
func (m meteredContainer) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	a := pc.Get(accountKey).(*account)
	depth := 0
	for n := parent; n != nil && depth <= maxDepth; n = n.Parent() {
		depth++
	}
	if depth > maxDepth {
		a.over = true
	}
	if a.over {
		return nil, parser.NoChildren
	}
	return m.BlockParser.Open(parent, reader, pc)
}

// Continue implements parser.BlockParser.
func (m meteredContainer) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if !pc.Get(accountKey).(*account).spendWork(1) {
		return parser.Close
	}
	return m.BlockParser.Continue(node, reader, pc)
}

// meteredReferences takes link reference definitions out of a paragraph. For each of them goldmark looks through all
// lines.
type meteredReferences struct{ parser.ParagraphTransformer }

// Transform implements parser.ParagraphTransformer.
//
// Work is counted in units of 1,024 comparisons, so that an answer with a few definitions takes none.
func (m meteredReferences) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, opened := node.Lines(), 0
	for i := range lines.Len() {
		segment := lines.At(i)
		opened += bytes.Count(segment.Value(reader.Source()), []byte("["))
	}
	if opened > 0 && pc.Get(accountKey).(*account).spendWork(opened*lines.Len()/1024) {
		m.ParagraphTransformer.Transform(node, reader, pc)
	}
}

// meteredTables makes tables of paragraphs. goldmark fills every row to the number of columns.
type meteredTables struct{ parser.ParagraphTransformer }

// Transform implements parser.ParagraphTransformer.
func (m meteredTables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	a := pc.Get(accountKey).(*account)
	columns, escaped := 0, 0
	lines := node.Lines()
	for i := range lines.Len() {
		segment := lines.At(i)
		line := segment.Value(reader.Source())
		if i > 0 && isTableRule(line) {
			columns = max(columns, bytes.Count(line, []byte("|"))+1)
		}
		escaped += bytes.Count(line, []byte(`\|`))
	}
	if columns == 0 {
		return
	}
	// Each escaped bar in code is compared with each other one.
	if a.spendWork(columns*lines.Len()) && a.spendWork(escaped*escaped/64) {
		m.ParagraphTransformer.Transform(node, reader, pc)
	}
}

// isTableRule reports whether a line may be the one under a table's head.
func isTableRule(line []byte) bool {
	return bytes.IndexByte(line, '-') >= 0 && len(bytes.Trim(line, "|:- \t\r\n\v\f")) == 0
}

// meteredMarks sees every character that may begin an inline mark before its parser does. A mark costs more the more
// of them its block has, since closing ones are compared with opening ones, and the longer its line and its block
// are, since some parsers look for an end.
type meteredMarks struct{}

// Trigger implements parser.InlineParser.
//
// They are the characters at which goldmark's own parsers and ours begin.
func (meteredMarks) Trigger() []byte { return []byte("`[]!<*_~(") }

// Parse implements parser.InlineParser. It takes nothing unless the budget is spent: then it takes the rest of the
// block.
func (meteredMarks) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	a := pc.Get(accountKey).(*account)
	// Marks are compared with those of their own block only, so each block begins anew.
	if a.block != parent {
		a.block, a.marks = parent, 0
	}
	a.marks++
	line, segment := block.PeekLine()
	if a.spendWork(1 + a.marks/256 + len(line)/1024 + parent.Lines().Len()/1024) {
		return nil
	}
	// The rest is read over, so that goldmark ends soon; what it made is thrown away.
	for line != nil {
		block.AdvanceLine()
		line, _ = block.PeekLine()
	}
	return ast.NewTextSegment(segment.WithStop(segment.Start))
}

// blockWeight is what a block counts against maxNodes. It stops counting when it is above most.
//
// A long address weighs more than its node: it is written twice, and shown.
func blockWeight(block ast.Node, most int) int {
	n := 0
	_ = ast.Walk(block, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		n++
		if link, ok := node.(*ast.Link); ok {
			n += (len(link.Destination) + len(link.Title)) / 100
		}
		if f, ok := node.(*formulaNode); ok {
			n += f.weight
		}
		if n > most {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return n
}
