package views

import (
	"html"
	"strings"

	"github.com/a-h/templ"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"github.com/footnote/footnote/corpus/formula"
	words "github.com/footnote/footnote/text"
)

// formulaElement returns a formula's source as an element that static/app/formulas.js draws. Without scripts, readers
// see the source.
func formulaElement(source string, display bool) string {
	class := "tex"
	if display {
		class = "tex tex-line"
	}
	return `<code class="` + class + `">` + html.EscapeString(source) + `</code>`
}

// formulaNodes estimates the nodes of a drawn formula from the length of its source. The script draws at most 2,000.
func formulaNodes(length int) int { return min(2+length/2, 2000) }

func renderFormula(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if n := node.(*formula.Node); entering {
		_, _ = w.WriteString(formulaElement(n.Source, n.Display))
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

// documentFormula renders a formula of a document's text, given with its delimiters.
//
// Text that can't be parsed as one formula is shown unchanged.
func documentFormula(source string) string {
	f, ok, _ := words.ReadFormula(source, 0)
	if !ok || f.End != len(source) {
		return html.EscapeString(source)
	}
	return formulaElement(source, f.Display)
}

// quotedWords renders a quote's text, with its formulas inline.
func quotedWords(quote string) templ.Component {
	var b strings.Builder
	done := 0
	for _, f := range words.Formulas(quote, nil) {
		b.WriteString(html.EscapeString(quote[done:f.Start]) + formulaElement(quote[f.Start:f.End], false))
		done = f.End
	}
	return templ.Raw(b.String() + html.EscapeString(quote[done:]))
}
