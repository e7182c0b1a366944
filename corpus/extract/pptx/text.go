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
	// list says what stands before it: "" what its placeholder says, "none", "bullet", else the scheme of its numbers
	list  string
	start int // the number that its list begins with
}

// isItem reports whether a paragraph has a bullet or a number of its own.
func (p paragraph) isItem() bool { return p.list != "" && p.list != "none" }

// text reads the paragraphs of a text body. Blank ones, which only make room on the slide, are left out.
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

// paragraph reads a paragraph (a:p). Levels count from 0 to 8 in the file. The number of the slide is left out, and
// other fields, such as a date, are kept as they were last shown. Formulas are read as the text inside of them.
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
		// Of several forms of the same content the first is that of the newest programs, such as a formula; what older
		// ones show in its place, mostly a picture, comes behind it.
		case "AlternateContent":
			done := false
			return t.d.Children(func(xml.StartElement) error {
				if done {
					return t.d.Skip()
				}
				done = true
				return t.d.Children(inline)
			})
		// The elements of Office Math that hold text at some depth. Their text is read in order, without what is drawn
		// around it.
		case "m",
			"oMath",
			"oMathPara",
			"num",
			"den",
			"e",
			"sup",
			"sub",
			"f",
			"sSup",
			"sSub",
			"rad",
			"d",
			"nary",
			"func",
			"fName",
			"limLow",
			"lim",
			"deg":
			return t.d.Children(inline)
		}
		return t.d.Skip()
	}
	err := t.d.Children(inline)
	// In PowerPoint's own texts a vertical tab is a line break within a paragraph.
	p.text = strings.ReplaceAll(b.String(), "\v", "\n")
	return p, err
}

// bullet reads what a paragraph's properties say of its bullet or number.
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

// counters are the numbers of a shape's lists, by level from 1. The first element stays unused.
type counters [10]struct {
	n      int
	scheme string
}

// next counts a paragraph and returns its number as the slide shows it, such as "3." or "c)"; 0 and nothing for one
// without. Schemes are the values of ST_TextAutonumberScheme, such as "alphaLcParenBoth": the alphabet and the case,
// then what stands around it. A paragraph without a number ends the list of its level, and any paragraph ends those
// below its level.
func (c *counters) next(p paragraph) (ordinal int, mark string) {
	// A paragraph of a higher level begins the lists below it anew.
	for below := p.level + 1; below < len(c); below++ {
		c[below].n = 0
	}
	at := &c[p.level]
	if !p.isItem() || p.list == "bullet" {
		at.n = 0
		return 0, ""
	}
	// Another scheme on the same level is another list.
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
