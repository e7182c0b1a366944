package docx

import (
	"encoding/xml"
	"strings"

	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// listRef is the list and level of a paragraph. numSaid and levelSaid distinguish explicit values from zero values,
// because a paragraph may set one and inherit the other from its style.
type listRef struct {
	num                string // id of the list; "0": no list
	level              int
	numSaid, levelSaid bool
}

// The valid levels are 0 to 8 (§17.9.6).
const levels = 9 // of a list

// level is the numbering of one list level. The zero value of start is the default of §17.9.
type level struct {
	format  string // "decimal", "lowerLetter", "bullet", …
	text    string // format string "%1.%2)" with the numbers of levels from 1
	start   int
	restart int    // the level from 1 whose items restart this one; 0: never; -1: every level above
	legal   bool   // all numbers are decimal
	style   string // the paragraph style of this level
}

// abstract is a numbering definition (abstractNum) that lists share, with its counters: Word continues the numbers
// through all lists of a definition. styleLink is the style that defines the levels.
type abstract struct {
	levels    [levels]level
	counters  [levels]int
	begun     [levels]bool
	styleLink string
}

// number is a list (num), to which paragraphs refer: a definition with overrides. levels and starts are the
// overrides, by level from 0.
type number struct {
	abstract string
	levels   map[int]level
	starts   map[int]int // restart values for the first item of this list
}

// numbering holds all lists of a document.
type numbering struct {
	abstracts map[string]*abstract
	numbers   map[string]*number
}

// readNumbering parses the numbering part. Without one it returns an empty result.
func readNumbering(p *ooxml.Package, part string) (numbering, error) {
	n := numbering{abstracts: map[string]*abstract{}, numbers: map[string]*number{}}
	err := p.Decode(part, func(d *ooxml.Decoder) error {
		return d.Children(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "abstractNum":
				return n.readAbstract(d, ooxml.Attr(e, "abstractNumId"))
			case "num":
				return n.readNumber(d, ooxml.Attr(e, "numId"))
			}
			return d.Skip()
		})
	})
	return n, err
}

// readAbstract parses an abstractNum. Levels beyond the ninth are dropped.
func (n *numbering) readAbstract(d *ooxml.Decoder, id string) error {
	a := &abstract{}
	n.abstracts[id] = a
	return d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "lvl":
			at := ooxml.IntAttr(e, "ilvl", 0)
			l, err := readLevel(d)
			if at >= 0 && at < levels {
				a.levels[at] = l
			}
			return err
		case "numStyleLink":
			a.styleLink = ooxml.Attr(e, "val")
		}
		return d.Skip()
	})
}

// readLevel parses a lvl element.
func readLevel(d *ooxml.Decoder) (level, error) {
	l := level{restart: -1, format: "decimal"}
	err := d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "start":
			l.start = ooxml.IntAttr(e, "val", 0)
		case "numFmt":
			l.format = ooxml.Attr(e, "val")
		case "lvlText":
			l.text = ooxml.Attr(e, "val")
		case "lvlRestart":
			l.restart = ooxml.IntAttr(e, "val", -1)
		case "isLgl":
			l.legal = ooxml.IsOn(e)
		case "pStyle":
			l.style = ooxml.Attr(e, "val")
		case "AlternateContent": // a format of a later version of Word; the fallback follows
			return d.Skip()
		}
		return d.Skip()
	})
	return l, err
}

// readNumber parses a num element with its overrides.
func (n *numbering) readNumber(d *ooxml.Decoder, id string) error {
	num := &number{levels: map[int]level{}, starts: map[int]int{}}
	n.numbers[id] = num
	return d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "abstractNumId":
			num.abstract = ooxml.Attr(e, "val")
		case "lvlOverride":
			at := ooxml.IntAttr(e, "ilvl", 0)
			return d.Children(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "startOverride":
					num.starts[at] = ooxml.IntAttr(e, "val", 1)
				case "lvl":
					l, err := readLevel(d)
					num.levels[at] = l
					return err
				}
				return d.Skip()
			})
		}
		return d.Skip()
	})
}

// item is a paragraph's displayed place in a list.
type item struct {
	level   int    // from 1
	ordinal int    // 0 for a bullet
	mark    string // "1.1.a)", empty for a bullet
}

// next increments the counters for a paragraph in a list, and returns its displayed number. ok is false for a
// paragraph in no list. It must be called exactly once for each paragraph of a list, in text order, including empty
// ones. First the paragraph's level is incremented or started. Then the levels below restart, unless their restart
// level differs. Finally, skipped levels above are started, so that "2.1" can be formatted.
func (n *numbering) next(ref listRef) (it item, ok bool) {
	num := n.numbers[ref.num]
	if num == nil || ref.level < 0 || ref.level >= levels {
		return it, false
	}
	a := n.abstracts[num.abstract]
	if a == nil {
		return it, false
	}
	if start, anew := num.starts[ref.level]; anew {
		delete(num.starts, ref.level)
		a.counters[ref.level], a.begun[ref.level] = start, true
	} else if !a.begun[ref.level] {
		a.counters[ref.level], a.begun[ref.level] = num.level(a, ref.level).start, true
	} else {
		a.counters[ref.level]++
	}
	for below := ref.level + 1; below < levels; below++ {
		if r := num.level(a, below).restart; r < 0 || r > ref.level {
			a.begun[below] = false
		}
	}
	for above := range ref.level { // a skipped level counts as its first item
		if !a.begun[above] {
			a.counters[above], a.begun[above] = num.level(a, above).start, true
		}
	}
	l := num.level(a, ref.level)
	it = item{level: ref.level + 1}
	if l.format == "bullet" || l.format == "none" && !strings.Contains(l.text, "%") {
		return it, true
	}
	it.ordinal = a.counters[ref.level]
	it.mark = strings.TrimSpace(num.mark(a, l))
	if it.mark == "" {
		it.ordinal = 0
	}
	return it, true
}

// level returns the numbering of a level: the override, else that of the definition.
func (num *number) level(a *abstract, at int) level {
	if l, ok := num.levels[at]; ok {
		return l
	}
	return a.levels[at]
}

// levelOfStyle returns the list level of a paragraph style, else the level set in the style. Headings are numbered
// like this: each level of a list has the style of a heading (§17.9.23).
func (n *numbering) levelOfStyle(by listRef, style string) (int, bool) {
	num := n.numbers[by.num]
	if num == nil || n.abstracts[num.abstract] == nil {
		return by.level, by.levelSaid
	}
	for at := range levels {
		if style != "" && num.level(n.abstracts[num.abstract], at).style == style {
			return at, true
		}
	}
	return by.level, by.levelSaid
}

// mark formats a level's format string with the numbers of its levels. "%1" to "%9" are the numbers of the levels.
// In a legal list all numbers are decimal.
func (num *number) mark(a *abstract, l level) string {
	var b strings.Builder
	for i := 0; i < len(l.text); i++ {
		if l.text[i] != '%' || i+1 >= len(l.text) || l.text[i+1] < '1' || l.text[i+1] > '9' {
			b.WriteByte(l.text[i])
			continue
		}
		at := int(l.text[i+1] - '1')
		format := num.level(a, at).format
		if l.legal {
			format = "decimal"
		}
		b.WriteString(written(a.counters[at], format))
		i++
	}
	return doctext.Line(b.String())
}

// styleOf maps Word's number formats, the values of ST_NumberFormat (§17.18.59), to the styles of
// doctext.ItemNumber. Others fall back to decimal.
var styleOf = map[string]string{
	"lowerLetter": "aa", "upperLetter": "AA", "lowerRoman": "i", "upperRoman": "I", "decimalZero": "01",
	"ordinal": "1st",
}

// written formats a number in one of Word's formats.
func written(n int, format string) string {
	if format == "none" || format == "bullet" {
		return ""
	}
	return doctext.ItemNumber(n, styleOf[format])
}
