package views

import (
	"context"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/footnote/footnote/corpus/formula"
	"github.com/footnote/footnote/text/lazy"
)

// Placeholder elements for citations and for the ends of unsupported sentences are used until the model's HTML is
// sanitized. Only our renderers can write them: a "<" in the text is always escaped.
const (
	noteOpen  = "<fn-note></fn-note>"
	noteClose = "<fn-end></fn-end>"
	chipOpen  = `<fn-chip n="`
)

// chipElement is the placeholder of a citation in HTML that is not sanitized yet.
func chipElement(n int) string { return chipOpen + strconv.Itoa(n) + `"></fn-chip>` }

var chipMark = lazy.Regexp(`[ \t]*<fn-chip n="(\d{1,3})"></fn-chip>`)

// noteNode is the start or end of an unsupported sentence.
type noteNode struct {
	ast.BaseInline
	html string
}

var kindNote = ast.NewNodeKind("Note")

// Kind implements ast.Node.
func (*noteNode) Kind() ast.NodeKind { return kindNote }

// Dump implements ast.Node.
func (n *noteNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// renderNote writes our own markup, which is safe by construction.
func renderNote(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(node.(*noteNode).html)
	}
	return ast.WalkSkipChildren, nil
}

// leaf is a text segment of a paragraph, heading or cell, with its byte offsets in the source.
type leaf struct {
	node        ast.Node
	start, stop int
}

// noteSentences inserts nodes around the places, which are sorted and don't overlap. Text is split at a place's
// start and end; code, URLs and chips are not.
//
// If a sentence ends inside emphasis or a link, so does its mark; see isBalanced.
func noteSentences(doc ast.Node, source []byte, places []place) {
	if len(places) == 0 {
		return
	}
	// Places and leaves are both sorted, so one pass over the leaves is enough.
	leaves, i := leavesOf(doc, source), 0
	for _, p := range places {
		for i < len(leaves) && leaves[i].stop <= p.from {
			i++
		}
		if i == len(leaves) {
			return
		}
		if leaves[i].start >= p.to {
			continue
		}
		if rest := leaves[i].splitLeaf(source, p.from); rest != nil {
			leaves[i] = *rest
		}
		first := outermostNode(
			leaves[i].node, func(n ast.Node) ast.Node { return n.PreviousSibling() }, p.from < leaves[i].start,
		)
		first.Parent().InsertBefore(first.Parent(), first, &noteNode{html: noteOpen})
		for i+1 < len(leaves) && leaves[i+1].start < p.to {
			i++
		}
		done := leaves[i]
		if rest := leaves[i].splitLeaf(source, p.to); rest != nil {
			leaves[i] = *rest
			done.stop = rest.start
		}
		last := outermostNode(done.node, func(n ast.Node) ast.Node { return n.NextSibling() }, p.to > done.stop)
		last.Parent().InsertAfter(last.Parent(), last, &noteNode{html: noteClose})
	}
}

// outermostNode returns the outermost emphasis or link that a node ends, if the sentence continues beyond it.
func outermostNode(n ast.Node, beside func(ast.Node) ast.Node, beyond bool) ast.Node {
	for beyond && beside(n) == nil && n.Parent().Type() == ast.TypeInline {
		n = n.Parent()
	}
	return n
}

// splitLeaf splits a text at an offset inside it and returns the second half. It returns nil for an offset outside
// it.
func (l leaf) splitLeaf(source []byte, at int) *leaf {
	t, ok := l.node.(*ast.Text)
	if at > l.start && source[at-1] == '\\' { // an escape sequence is one character
		at--
	}
	if !ok || at <= l.start || at >= l.stop {
		return nil
	}
	rest := ast.NewTextSegment(text.NewSegment(at, t.Segment.Stop))
	rest.SetSoftLineBreak(t.SoftLineBreak())
	rest.SetHardLineBreak(t.HardLineBreak())
	t.Segment = t.Segment.WithStop(at)
	t.SetSoftLineBreak(false)
	t.SetHardLineBreak(false)
	t.Parent().InsertAfter(t.Parent(), t, rest)
	return &leaf{rest, at, l.stop}
}

// leavesOf returns the leaves of a document in order.
func leavesOf(doc ast.Node, source []byte) []leaf {
	var out []leaf
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.IsRaw() {
			return ast.WalkSkipChildren, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			out = append(out, leaf{n, n.Segment.Start, n.Segment.Stop})
		case *ast.CodeSpan:
			if first, last := firstText(n), lastText(n); first != nil && last != nil {
				out = append(out, leaf{n, first.Segment.Start - 1, last.Segment.Stop + 1})
			}
			return ast.WalkSkipChildren, nil
		case *ast.AutoLink:
			out = append(out, leaf{n, n.Pos(), n.Pos() + len(n.Label(source))})
		case *ast.RawHTML:
			if k := n.Segments.Len(); k > 0 {
				out = append(out, leaf{n, n.Segments.At(0).Start, n.Segments.At(k - 1).Stop})
			}
		case *chipNode:
			out = append(out, leaf{n, n.start, n.stop})
		case *formula.Node:
			out = append(out, leaf{n, n.Start, n.End})
		}
		return ast.WalkContinue, nil
	})
	return out
}

// firstText returns the text at the start of a node, or nil.
func firstText(n ast.Node) *ast.Text {
	t, _ := n.FirstChild().(*ast.Text)
	return t
}

// lastText returns the text at the end of a node, or nil.
func lastText(n ast.Node) *ast.Text {
	t, _ := n.LastChild().(*ast.Text)
	return t
}

// markUnsupported underlines and flags each noted sentence. If the sentence crosses tags around it, only the flag
// is rendered.
//
// The flag's text differs for a sentence with a footnote: its quote is verified, but does not support the sentence.
func markUnsupported(ctx context.Context, s string) string {
	var b strings.Builder
	for {
		at := strings.Index(s, "<fn-")
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:at])
		s = s[at:]
		if rest, ok := strings.CutPrefix(s, noteClose); ok { // the sentence starts in the previous block
			b.WriteString(flagSpan(txtNoSource.In(ctx)))
			s = rest
			continue
		}
		rest := strings.TrimPrefix(s, noteOpen)
		if len(rest) == len(s) {
			b.WriteString("<fn-")
			s = s[len("<fn-"):]
			continue
		}
		inner, after, closed := strings.Cut(rest, noteClose)
		if s = rest; !closed {
			continue
		}
		word := txtNoSource
		if strings.Contains(inner, `class="cite"`) {
			word = txtNotInSource
		}
		// An element around unbalanced tags would cross them, which each browser repairs differently.
		if isBalanced(inner) {
			inner = `<span class="unsupported">` + inner + `</span>`
		}
		b.WriteString(inner + flagSpan(word.In(ctx)))
		s = after
	}
}

// flagSpan renders the flag of an unsupported sentence.
func flagSpan(word string) string { return `<span class="flag">` + word + `</span>` }

var tags = lazy.Regexp(`<(/?)([a-z0-9-]+)[^>]*>`)

// isBalanced reports whether every tag in a piece of HTML is closed in it.
func isBalanced(s string) bool {
	depth := 0
	for _, tag := range tags().FindAllStringSubmatch(s, -1) {
		switch {
		case tag[2] == "br":
		case tag[1] == "":
			depth++
		default:
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}
