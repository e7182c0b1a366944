package pptx

import (
	"encoding/xml"
	"strings"

	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// paragraph is a paragraph of a shape.
type paragraph struct {
	text  string // "\n" is a line break
	level int    // from 1
	// list is the bullet or numbering scheme: "" the placeholder's default, "none", "bullet", else the scheme
	list  string
	start int // the first number of its list
}

// isItem reports whether a paragraph has an explicit bullet or number.
func (p paragraph) isItem() bool { return p.list != "" && p.list != "none" }

// text parses the paragraphs of a text body. Blank ones, which are only spacing, are skipped.
func (t *tree) text(s *shape) error {
	return t.d.Children(func(e xml.StartElement) error {
		if e.Name.Local != "p" {
			return t.d.Skip()
		}
		p, err := t.paragraph()
		if strings.TrimSpace(p.text) != "" {
			s.paragraphs = append(s.paragraphs, p)
		}
		return err
	})
}

// paragraph parses a paragraph (a:p). Levels are 0 to 8 in the file. The slide number is dropped; other fields, such
// as a date, keep their cached text. Formulas are read as their text.
func (t *tree) paragraph() (paragraph, error) {
	p := paragraph{level: 1}
	var b strings.Builder
	var inline func(e xml.StartElement) error
	inline = func(e xml.StartElement) error {
		switch e.Name.Local {
		// It comes first in a paragraph, if at all.
		case "pPr":
			p.level = min(max(ooxml.IntAttr(e, "lvl", 0), 0), 8) + 1
			return t.bullet(&p)
		case "r":
			return t.d.Children(inline)
		case "fld":
			if kind := ooxml.Attr(e, "type"); kind == "slidenum" {
				return t.d.Skip()
			}
			return t.d.Children(func(e xml.StartElement) error {
				if e.Name.Local == "t" {
					return inline(e)
				}
				return t.d.Skip()
			})
		case "t":
			s, err := t.d.Text()
			b.WriteString(s)
			return err
		case "br":
			b.WriteString("\n")
		// The first alternative is for the newest programs, such as a formula. The fallback for older ones, mostly a
		// picture, follows it.
		case "AlternateContent":
			done := false
			return t.d.Children(func(xml.StartElement) error {
				if done {
					return t.d.Skip()
				}
				done = true
				return t.d.Children(inline)
			})
		case "oMath":
			s, err := t.d.Formula()
			b.WriteString(s)
			return err
		case "m", "oMathPara":
			return t.d.Children(inline)
		}
		return t.d.Skip()
	}
	err := t.d.Children(inline)
	// In PowerPoint's text a vertical tab is a line break within a paragraph.
	p.text = strings.ReplaceAll(b.String(), "\v", "\n")
	return p, err
}

// bullet parses the bullet or number in a paragraph's properties.
func (t *tree) bullet(p *paragraph) error {
	return t.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "buNone":
			p.list = "none"
		case "buChar", "buBlip":
			p.list = "bullet"
		case "buAutoNum":
			p.list, p.start = ooxml.Attr(e, "type"), max(ooxml.IntAttr(e, "startAt", 1), 1)
		}
		return t.d.Skip()
	})
}

// counters holds the current numbers of a shape's lists, by level from 1. Index 0 is unused.
type counters [10]struct {
	n      int
	scheme string
}

// next increments the counter for a paragraph and returns its displayed number, such as "3." or "c)"; 0 and ""
// without one. Schemes are the values of ST_TextAutonumberScheme, such as "alphaLcParenBoth": the alphabet, the case
// and the punctuation. A paragraph without a number ends the list of its level, and any paragraph ends those below
// its level.
func (c *counters) next(p paragraph) (ordinal int, mark string) {
	// A paragraph of a higher level restarts the lists below it.
	for below := p.level + 1; below < len(c); below++ {
		c[below].n = 0
	}
	at := &c[p.level]
	if !p.isItem() || p.list == "bullet" {
		at.n = 0
		return 0, ""
	}
	// Another scheme on the same level begins another list.
	if at.n == 0 || at.scheme != p.list {
		at.n, at.scheme = p.start, p.list
	} else {
		at.n++
	}
	style := "1"
	switch {
	case strings.HasPrefix(p.list, "alphaLc"):
		style = "a"
	case strings.HasPrefix(p.list, "alphaUc"):
		style = "A"
	case strings.HasPrefix(p.list, "romanLc"):
		style = "i"
	case strings.HasPrefix(p.list, "romanUc"):
		style = "I"
	}
	mark = doctext.ItemNumber(at.n, style)
	switch {
	case strings.HasSuffix(p.list, "ParenBoth"):
		mark = "(" + mark + ")"
	case strings.HasSuffix(p.list, "ParenR"):
		mark += ")"
	case strings.HasSuffix(p.list, "Period"):
		mark += "."
	}
	return at.n, mark
}
