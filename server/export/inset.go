package export

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/lazy"
)

// reference matches the possible footnotes in an answer's text: ours, or the start of a definition in the text.
//
// The first alternative matches numbers in brackets, with a colon if one follows: that would be a link definition,
// and the colon is then escaped.
var reference = lazy.Regexp(`[ \x{2060}]?\[(\d{1,4})\]:?|\[\^`)

// withFootnotes returns an answer's Markdown with its footnotes replaced by the output of refer. Code stays
// unchanged, and so do numbers without a citation. The result can be embedded: footnote definitions of the answer
// itself are escaped, since they would look like validated ones, and no HTML and no code block stays open. It edits
// the source and not a parsed tree, so that the rest of the Markdown is unchanged. A parser finds the numbers in
// code (codeIn).
func withFootnotes(e chat.Evidence, refer func(chat.EvidenceCitation) string) string {
	source := withoutHTML(strings.ToValidUTF8(e.Answer, "\ufffd"))
	byNumber := map[int]chat.EvidenceCitation{}
	for _, c := range e.Citations {
		byNumber[c.Number] = c
	}
	code := codeIn([]byte(source))
	var b strings.Builder
	from := 0
	for _, at := range reference().FindAllStringSubmatchIndex(source, -1) {
		switch begin, end := at[0], at[1]; {
		// A number in code is literal.
		case code(end - 1):
		// Footnote definitions of the answer itself would appear among the validated ones.
		case at[2] < 0: // [^
			b.WriteString(source[from:begin] + unescaped(source[:begin], "[^"))
			from = end
		default:
			number, err := strconv.Atoi(source[at[2]:at[3]])
			c, known := byNumber[number]
			if err != nil || !known {
				continue
			}
			b.WriteString(source[from:begin] + refer(c))
			if from = at[3] + 1; from < end { // before a colon it would be a definition
				b.WriteByte('\\')
			}
		}
	}
	b.WriteString(source[from:])
	return closed(strings.TrimSpace(b.String()))
}

// unescaped escapes a Markdown mark after a text, unless an odd number of backslashes precedes it.
func unescaped(before, mark string) string {
	if (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1 {
		return mark // already escaped
	}
	return `\` + mark
}

// parseAnswer parses an answer as the page does. Tables are the only extension that affects numbers in brackets.
func parseAnswer(source []byte) ast.Node {
	return goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(source))
}

// walk calls see for each node.
func walk(root ast.Node, see func(ast.Node)) {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // Walk fails only if the callback does
		if entering {
			see(n)
		}
		return ast.WalkContinue, nil
	})
}

// withoutHTML escapes the HTML in Markdown. Only the characters that start HTML are escaped, as found by the page's
// parser: other “<” stay.
//
// In a file, HTML of an answer could hide or imitate a footnote.
func withoutHTML(source string) string {
	marked := make([]bool, len(source)+1)
	mark := func(s text.Segment) {
		for at := s.Start; at < s.Stop && at < len(source); at++ {
			marked[at] = source[at] == '<'
		}
	}
	walk(parseAnswer([]byte(source)), func(n ast.Node) {
		switch n := n.(type) {
		case *ast.HTMLBlock:
			for i := range n.Lines().Len() {
				mark(n.Lines().At(i))
			}
			mark(n.ClosureLine)
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				mark(n.Segments.At(i))
			}
		}
	})
	var b strings.Builder
	for at := range len(source) {
		if marked[at] {
			b.WriteString(unescaped(source[:at], "<"))
			continue
		}
		b.WriteByte(source[at])
	}
	return b.String()
}

// closed returns Markdown to which a new block can be appended: it closes an open code block, as in a cancelled
// answer. It uses the parser to check that an appended heading is parsed as one.
func closed(source string) string {
	ends := func(source string) bool {
		_, is := parseAnswer([]byte(source + "\n\n# x")).LastChild().(*ast.Heading)
		return is
	}
	if ends(source) {
		return source
	}
	// A code fence is three characters or more; one as long as the longest run in the text closes any of them.
	for _, mark := range []string{"`", "~"} {
		longest, run := 3, 0
		for at := range len(source) {
			if run++; source[at] != mark[0] {
				run = 0
			}
			longest = max(longest, run)
		}
		if done := source + "\n" + strings.Repeat(mark, longest); ends(done) {
			return done
		}
	}
	return source
}

// codeIn returns a function that reports whether a byte of a Markdown text is in code.
//
// at is an offset in bytes. Each call scans all spans: an answer has few.
func codeIn(source []byte) func(at int) bool {
	var spans [][2]int
	add := func(s text.Segment) { spans = append(spans, [2]int{s.Start, s.Stop}) }
	walk(parseAnswer(source), func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				add(n.Lines().At(i))
			}
		case *ast.CodeSpan:
			for child := n.FirstChild(); child != nil; child = child.NextSibling() {
				if words, is := child.(*ast.Text); is {
					add(words.Segment)
				}
			}
		}
	})
	return func(at int) bool {
		for _, span := range spans {
			if at >= span[0] && at < span[1] {
				return true
			}
		}
		return false
	}
}
