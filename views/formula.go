package views

import (
	"context"
	"errors"
	"html"
	"regexp"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/footnote/footnote/corpus/formula"
	words "github.com/footnote/footnote/text"
	"github.com/footnote/footnote/views/mathml"
)

// formulaNode is a rendered formula in the syntax tree.
type formulaNode struct {
	ast.BaseInline
	html        string
	weight      int // node count
	start, stop int // byte offsets in the source
	place       int // index among the formulas of its block
}

var kindFormula = ast.NewNodeKind("DrawnFormula")

// Kind implements ast.Node.
func (*formulaNode) Kind() ast.NodeKind { return kindFormula }

// Dump implements ast.Node.
func (n *formulaNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// formulaParser renders formulas while Markdown is parsed, so that their nodes count against the budget.
type formulaParser struct{ formula.Inline }

// Parse implements parser.InlineParser.
func (p formulaParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	found, ok := p.Inline.Parse(parent, block, pc).(*formula.Node)
	if !ok {
		return nil
	}
	n := &formulaNode{start: found.Start, stop: found.End}
	n.html, n.weight = drawFormula(pc.Get(saidKey).(context.Context), found.Source, found.TeX, found.Display)
	return n
}

// drawFormula renders a formula as HTML and returns its node count. A formula that can't be parsed is shown as
// source code, with a reason if it is too large.
//
// tex is the formula without its delimiters, source with them. The nodes count against the budget of the
// surrounding text.
func drawFormula(ctx context.Context, source, tex string, display bool) (drawn string, nodes int) {
	markup, nodes, err := mathml.Draw(tex, display)
	switch {
	// The source is always shown: a reader may still understand it.
	case errors.Is(err, mathml.ErrTooLarge):
		why := html.EscapeString(txtFormulaTooLarge.In(ctx))
		return `<code class="tex" title="` + why + `">` + html.EscapeString(source) + `</code>`, 1
	case err != nil:
		return `<code class="tex">` + html.EscapeString(source) + `</code>`, 1
	case display:
		return `<span class="math-line" tabindex="0">` + markup + `</span>`, nodes
	default:
		return markup, nodes
	}
}

// A formula is a placeholder element until the model's HTML is sanitized, like a citation. The sanitizer allows no
// MathML; all MathML comes from package mathml.
const formulaOpen = `<fn-math n="`

var formulaMark = regexp.MustCompile(`<fn-math n="(\d{1,6})"></fn-math>`)

// renderFormula writes the placeholder of a formula.
func renderFormula(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(formulaOpen + strconv.Itoa(node.(*formulaNode).place) + `"></fn-math>`)
	}
	return ast.WalkSkipChildren, nil
}

// renderFormulaBlock writes a paragraph that starts with a formula.
func renderFormulaBlock(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<p>")
	} else {
		_, _ = w.WriteString("</p>\n")
	}
	return ast.WalkContinue, nil
}

// formulasOf numbers the formulas of a block and returns their markup. putFormulas looks them up by these numbers,
// so both must get the same block.
func formulasOf(block ast.Node) []string {
	var drawn []string
	_ = ast.Walk(block, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if n, ok := node.(*formulaNode); ok && entering {
			n.place = len(drawn)
			drawn = append(drawn, n.html)
		}
		return ast.WalkContinue, nil
	})
	return drawn
}

// putFormulas inserts rendered formulas into sanitized HTML.
//
// A placeholder without a formula is dropped: only our renderer writes placeholders.
func putFormulas(s string, drawn []string) string {
	if len(drawn) == 0 || !strings.Contains(s, formulaOpen) {
		return s
	}
	return formulaMark.ReplaceAllStringFunc(s, func(mark string) string {
		n, err := strconv.Atoi(formulaMark.FindStringSubmatch(mark)[1])
		if err != nil || n >= len(drawn) {
			return ""
		}
		return drawn[n]
	})
}

// documentFormula renders a formula of a document's text, given with its delimiters.
//
// Text that can't be parsed as one formula is shown unchanged.
func documentFormula(ctx context.Context, source string) string {
	f, ok, _ := words.ReadFormula(source, 0)
	if !ok || f.End != len(source) {
		return html.EscapeString(source)
	}
	drawn, _ := drawFormula(ctx, source, f.TeX, f.Display)
	return drawn
}

// quotedWords renders a quote's text, with its formulas inline.
func quotedWords(ctx context.Context, quote string) templ.Component {
	var b strings.Builder
	done := 0
	for _, f := range words.Formulas(quote, nil) {
		drawn, _ := drawFormula(ctx, quote[f.Start:f.End], f.TeX, false)
		b.WriteString(html.EscapeString(quote[done:f.Start]) + drawn)
		done = f.End
	}
	return templ.Raw(b.String() + html.EscapeString(quote[done:]))
}
