package views

import (
	"bytes"
	"context"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/formula"
	words "github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
	"github.com/footnote/footnote/text/locale"
)

// Markdown renders answers as safe HTML. Raw HTML is dropped, links are limited to http, https and mailto, and
// images are replaced with their description. It is safe for concurrent use.
//
// The order matters. The text is parsed within the budget and rendered with placeholders for footnotes and marks. Then
// the HTML is sanitized, and only then are the placeholders replaced.
type Markdown struct {
	md     goldmark.Markdown
	policy *bluemonday.Policy
	away   func(address string) string
	said   context.Context // context with the locale of our own text
}

// NewMarkdown returns the server's renderer. External links lead to a confirmation page.
func NewMarkdown() *Markdown { return newMarkdown(LeavePath) }

// In returns the renderer for the locale of the context.
//
// The copy shares all other state, so it is cheap to make one for each request. It does not end with ctx.
func (m *Markdown) In(ctx context.Context) *Markdown {
	in := *m
	in.said = locale.With(context.Background(), locale.Of(ctx))
	return &in
}

// newMarkdown returns a renderer that maps the address of each link with away.
func newMarkdown(away func(address string) string) *Markdown {
	md := goldmark.New(
		goldmark.WithParser(newParser()),
		goldmark.WithExtensions(extension.Strikethrough, extension.TaskList, extension.Linkify, extension.CJK),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(
			util.Prioritized(chipRenderer{}, 100),
			util.Prioritized(extension.NewTableHTMLRenderer(
				extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute),
			), 500))),
	)
	// The sanitizer's policy is an allow list.
	policy := bluemonday.NewPolicy()
	policy.AllowElements("p", "br", "hr", "strong", "em", "del", "code", "pre", "blockquote", "ul", "ol", "li",
		"h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td")
	policy.AllowAttrs("class").
		Matching(regexp.MustCompile(`^(language-[\w+#.-]{1,40}|tex|tex tex-line)$`)).OnElements("code")
	policy.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	policy.AllowAttrs("class").Matching(regexp.MustCompile(`^paren$`)).OnElements("ol")
	policy.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|center|right)$`)).OnElements("th", "td")
	policy.AllowAttrs("href").OnElements("a")
	policy.AllowURLSchemes("http", "https", "mailto")
	policy.RequireParseableURLs(true)
	policy.AllowRelativeURLs(false)
	policy.AllowNoAttrs().OnElements("fn-note", "fn-end")
	policy.AllowAttrs("n").Matching(bluemonday.Integer).OnElements("fn-chip")
	return &Markdown{md: md, policy: policy, away: away, said: context.Background()}
}

// tail is the rendered end of an answer.
type tail struct {
	blocks  []Block
	settled int // length of the source that later text can't change: all blocks but the last
	weight  int // node count of all blocks
	open    int // node count of the last block
}

// drawTail renders src, an answer or its open end, as blocks numbered from first. cite resolves a number to its
// citation; an unknown number stays text. If open, an unfinished mark at the end is held back. It returns false if
// the blocks' weight is over most, or the text is otherwise over the budget.
func (m *Markdown) drawTail(
	src string, first, most int, open bool, cite func(int) (chat.Citation, bool),
) (t tail, ok bool) {
	return m.drawMarked(src, nil, first, most, open, cite)
}

// drawMarked is drawTail for a text with unsupported sentences.
func (m *Markdown) drawMarked(
	src string, unsupported []string, first, most int, open bool, cite func(int) (chat.Citation, bool),
) (t tail, ok bool) {
	if open {
		src = cutUnfinished(src)
	}
	source := []byte(src)
	doc, unfinished, ok := m.parseTree(source)
	if ok && open && unfinished >= 0 { // an unclosed formula is held back
		src = cutUnfinished(src[:unfinished])
		source = []byte(src)
		doc, _, ok = m.parseTree(source)
	}
	if !ok {
		return tail{}, false
	}
	noteSentences(doc, source, sentencePlaces(src, unsupported))
	var buf bytes.Buffer
	for node := doc.FirstChild(); node != nil; node = node.NextSibling() {
		t.open = blockWeight(node, most)
		if t.weight += t.open; t.weight > most {
			return tail{}, false
		}
		buf.Reset()
		if err := m.md.Renderer().Render(&buf, source, node); err != nil {
			continue // a bytes.Buffer does not fail, and neither do our renderers
		}
		t.blocks = append(t.blocks, Block{N: first + len(t.blocks), HTML: m.finishHTML(buf.Bytes(), cite)})
		if node.NextSibling() == nil && len(t.blocks) > 1 && node.Pos() > 0 {
			t.settled = lineStart(src, node.Pos())
		}
	}
	return t, true
}

// Whole renders a complete answer and marks the sentences in unsupported. An answer over the budget is one block of
// plain text.
//
// cite resolves a footnote number; an unknown number stays text. It never fails.
func (m *Markdown) Whole(src string, unsupported []string, cite func(int) (chat.Citation, bool)) []Block {
	if len(src) <= maxMarkdown {
		if t, ok := m.drawMarked(src, unsupported, 1, maxNodes, false, cite); ok {
			return t.blocks
		}
	}
	return []Block{plainBlock(m.said, []byte(src))}
}

// lineStart returns the offset of the start of the line at an offset.
func lineStart(src string, at int) int {
	return strings.LastIndexByte(src[:min(at, len(src))], '\n') + 1
}

var unfinished = lazy.Regexp("(\\s*\\[\\d{0,3}|[*_`~]+|!?\\[[^\\]\\n]{0,80}\\]\\([^)\\s]*|\\s)$")

// cutUnfinished removes an unfinished mark from the end. It scans only the last bytes, since it runs for every delta.
func cutUnfinished(src string) string {
	from := max(0, len(src)-160)
	for from < len(src) && !utf8.RuneStart(src[from]) {
		from++
	}
	return withoutTableHead(src[:from] + unfinished().ReplaceAllString(src[from:], ""))
}

var tableRule = lazy.Regexp(`(?m)^[ \t]*\|?[ \t]*:?-{1,}:?[ \t]*\|[ \t|:-]*\n`)

// withoutTableHead removes a table's head whose delimiter row is not streamed yet. It would be rendered as text
// until then.
//
// Only a short last paragraph is held back, under 1,000 bytes: a longer one is not a table's head.
func withoutTableHead(src string) string {
	start := strings.LastIndex(src, "\n\n") + len("\n\n")
	if start < len("\n\n") {
		start = 0
	}
	for strings.HasPrefix(src[start:], "\n") {
		start++
	}
	if last := src[start:]; strings.HasPrefix(last, "|") && len(last) < 1000 && !tableRule().MatchString(last) {
		return src[:start]
	}
	return src
}

var codeOpen = lazy.Regexp(`<pre><code(?: class="language-([^"]*)")?>`)

// finishHTML sanitizes the HTML, then replaces the placeholders.
//
// Markup that is inserted after the sanitizer is our own or escaped.
func (m *Markdown) finishHTML(unsafe []byte, cite func(int) (chat.Citation, bool)) string {
	s := drawLinks(string(m.policy.SanitizeBytes(unsafe)), m.away)
	if strings.Contains(s, "<table>") {
		s = strings.ReplaceAll(s, "<table>", `<div class="table" tabindex="0" role="region" aria-label="`+
			html.EscapeString(txtTable.In(m.said))+`"><table>`)
		s = strings.ReplaceAll(s, "</table>", "</table></div>")
	}
	if strings.Contains(s, "<pre>") {
		s = codeOpen().ReplaceAllString(s,
			`<div class="code"><div class="code-head"><span>$1</span><button class="btn bare small" type="button" `+
				`data-do="copy">`+
				html.EscapeString(txtCopy.In(m.said))+`</button></div><pre tabindex="0"><code>`)
		s = strings.ReplaceAll(s, "</pre>", "</pre></div>")
	}
	if strings.HasPrefix(s, "<blockquote>") {
		if last := chipMark().FindAllStringSubmatch(s, -1); len(last) > 0 {
			n, _ := strconv.Atoi(last[len(last)-1][1])
			if c, ok := cite(n); ok {
				s = quoteBlock(m.said, s, c)
			}
		}
	}
	if strings.Contains(s, chipOpen) {
		s = chipMark().ReplaceAllStringFunc(s, func(mark string) string {
			n, _ := strconv.Atoi(chipMark().FindStringSubmatch(mark)[1])
			c, ok := cite(n)
			if !ok {
				return mark[:strings.IndexByte(mark, '<')] + "[" + strconv.Itoa(n) + "]"
			}
			return citationChip(m.said, c)
		})
	}
	if strings.Contains(s, noteOpen) {
		s = markUnsupported(m.said, s)
	}
	return s
}

// citationChip renders a citation's number as a link to its passage. A word joiner keeps it on the line of its
// word.
func citationChip(ctx context.Context, c chat.Citation) string {
	n := strconv.Itoa(c.Number)
	var b strings.Builder
	b.WriteString("\u2060" + `<a class="cite" href="` + html.EscapeString(citeURL(c)) + `" data-n="` + n +
		`" data-check="` + html.EscapeString(string(c.Check)))
	b.WriteString(`" aria-label="` + html.EscapeString(citeLabel(ctx, c)) + `"><span class="vh">[</span>` + n +
		`<span class="vh">]</span></a>`)
	return b.String()
}

// citeURL returns the link to the cited words in the document. The fragment scrolls to them without a script. In a
// self-contained page it is the fragment of the quote.
func citeURL(c chat.Citation) string {
	address := c.URL
	if strings.HasPrefix(address, "#") {
		return address
	}
	if !chat.IsLink(address) {
		address = chat.Link{Document: c.DocumentID, Passage: c.ChunkID}.String()
	}
	if strings.Contains(address, "#") {
		return address
	}
	return address + "#" + chat.FragmentCited
}

// chipNode is a citation marker [N] in running text.
type chipNode struct {
	ast.BaseInline
	n           int
	start, stop int // in the source
}

var kindChip = ast.NewNodeKind("Chip")

// Kind implements ast.Node.
func (*chipNode) Kind() ast.NodeKind { return kindChip }

// Dump implements ast.Node.
func (c *chipNode) Dump(source []byte, level int) { ast.DumpHelper(c, source, level, nil, nil) }

// chipParser parses citation markers in Markdown.
type chipParser struct{}

// Trigger implements parser.InlineParser.
func (chipParser) Trigger() []byte { return []byte{'['} }

var chipText = lazy.Regexp(`^\[(\d{1,3})\](?:[^(\[:]|$)`)

// maxBefore is the number of bytes before a "[" that are parsed to decide whether it is in running text.
const maxBefore = 2048

// Parse implements parser.InlineParser.
func (chipParser) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, at := block.PeekLine()
	found := chipText().FindSubmatch(line)
	if found == nil {
		if found = chipRow().FindSubmatch(line); found == nil {
			return nil
		}
	}
	// A marker directly after another one is in the same context, so the text before it is not parsed again.
	if last, ok := parent.LastChild().(*chipNode); (!ok || last.stop != at.Start) &&
		!words.IsRunning(string(block.Source()[max(0, at.Start-maxBefore):at.Start])) {
		return nil
	}
	block.Advance(len(found[1]) + 2)
	n, _ := strconv.Atoi(string(found[1]))
	return &chipNode{n: n, start: at.Start, stop: at.Start + len(found[1]) + 2}
}

var chipRow = lazy.Regexp(`^\[(\d{1,3})\](?:\[\d|:)`) // [1][2] and "[1]: …" are chips too, not references

// chipRenderer writes a placeholder for each citation. finishHTML replaces it after the sanitizer has run.
type chipRenderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (chipRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(kindChip, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(chipElement(node.(*chipNode).n))
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(kindNote, renderNote)
	r.Register(formula.KindNode, renderFormula)
	r.Register(formula.KindBlock, renderFormulaBlock)
	r.Register(extast.KindTaskCheckBox, func(
		w util.BufWriter, _ []byte, node ast.Node, entering bool,
	) (ast.WalkStatus, error) {
		box := "\u2610\ufe0e " // as a letter, not as a picture
		if node.(*extast.TaskCheckBox).IsChecked {
			box = "\u2611\ufe0e "
		}
		if entering {
			_, _ = w.WriteString(box)
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindRawHTML, func(
		w util.BufWriter, src []byte, node ast.Node, entering bool,
	) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.Write(util.EscapeHTML(node.(*ast.RawHTML).Segments.Value(src)))
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHTMLBlock, func(
		w util.BufWriter, src []byte, node ast.Node, entering bool,
	) (ast.WalkStatus, error) {
		if block := node.(*ast.HTMLBlock); entering {
			_, _ = w.WriteString("<p>")
			_, _ = w.Write(util.EscapeHTML(block.Lines().Value(src)))
			if block.HasClosure() {
				_, _ = w.Write(util.EscapeHTML(block.ClosureLine.Value(src)))
			}
			_, _ = w.WriteString("</p>\n")
		}
		return ast.WalkSkipChildren, nil
	})
}

// safeTree lowers headings below the question's level and replaces images with their descriptions. An image's URL
// could leak a document's text to another server.
type safeTree struct{}

// Transform implements parser.ASTTransformer.
func (safeTree) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	var images []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Heading:
				n.Level = min(max(n.Level+1, 3), 6) // answers begin with # or ##, and a level must not be left out
			case *ast.Image:
				images = append(images, n)
			case *ast.List:
				if n.Marker == ')' {
					n.SetAttributeString("class", []byte("paren")) // its numbers stand before one, as they were written
				}
			}
		}
		return ast.WalkContinue, nil
	})
	for _, image := range images {
		em := ast.NewEmphasis(1)
		for child := image.FirstChild(); child != nil; {
			next := child.NextSibling()
			em.AppendChild(em, child)
			child = next
		}
		image.Parent().ReplaceChild(image.Parent(), image, em)
	}
}
