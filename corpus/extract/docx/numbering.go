package docx

import (
	"encoding/xml"
	"strings"

	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// listRef is the list and the level that a paragraph belongs to. numSaid and levelSaid tell what was written from what
// is zero: a paragraph may say one of them and leave the other to its style.
type listRef struct {
	num                string // id of the list; "0": none
	level              int
	numSaid, levelSaid bool
}

// §17.9.6 allows the levels 0 to 8.
const levels = 9 // of a list

// level is how one level of a list is numbered. The zero value of start is what §17.9 has for a missing one.
type level struct {
	format  string // "decimal", "lowerLetter", "bullet", …
	text    string // "%1.%2)" with the numbers of levels from 1
	start   int
	restart int    // the level from 1 whose items start this one anew; 0: never; -1: every level above
	legal   bool   // all numbers are written as decimals
	style   string // the paragraph style that is tied to this level
}

// abstract is a definition that lists share, with their counters: Word counts on through all lists of a definition. In
// the file it is an abstractNum. styleLink is the style in which the levels really stand.
type abstract struct {
	levels    [levels]level
	counters  [levels]int
	begun     [levels]bool
	styleLink string
}

// number is a list: a definition and what this list has otherwise. In the file it is a num, to which paragraphs refer.
// levels and starts are its overrides, by level from 0.
type number struct {
	abstract string
	levels   map[int]level
	starts   map[int]int // where the first item of this list starts anew
}

// numbering are all lists of a document.
type numbering struct {
	abstracts map[string]*abstract
	numbers   map[string]*number
}

// readNumbering reads the part with all lists. A document without lists has no such part, and gets an empty result.
func readNumbering(p *ooxml.Package, part string) (numbering, error) {
	n := numbering{abstracts: map[string]*abstract{}, numbers: map[string]*number{}}
	err := p.Decode(part, func(d *ooxml.Decoder) error {
		return d.Root(func(xml.StartElement) error {
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
	})
	return n, err
}

// readAbstract reads an abstractNum. Levels beyond the ninth are read and dropped.
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

// readLevel reads a lvl element.
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
		case "AlternateContent": // a format of a later version of Word; what follows it is for all
			return d.Skip()
		}
		return d.Skip()
	})
	return l, err
}

// readNumber reads a num element with its overrides.
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

// item is a paragraph's place in a list as Word shows it.
type item struct {
	level   int    // from 1
	ordinal int    // 0 for a bullet
	mark    string // "1.1.a)", empty for a bullet
}

// next counts a paragraph in its list and returns what Word puts before it; ok is false for one in no list. It changes
// the counters, so that it must be called exactly once for each paragraph of a list, in the order of the text, and for
// empty ones as well. First the paragraph's own level is counted or started; then levels below begin anew, unless they
// say that they restart elsewhere; then levels above that had no item count as begun, so that "2.1" can be written.
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
	for above := range ref.level { // a level that was left out counts as its first
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

// level is how a list numbers one of its levels: by its override, else by the definition.
func (num *number) level(a *abstract, at int) level {
	if l, ok := num.levels[at]; ok {
		return l
	}
	return a.levels[at]
}

// levelOfStyle is the level of a list that a style is tied to, else the one that the style itself says. Headings are
// numbered in this way: each level of one list is tied to the style of a heading (§17.9.23).
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

// mark is a level's text with the numbers of the levels that it names. "%1" stands for the number of the first level,
// up to "%9". In a legal list all of them are decimals, whatever the levels above look like by themselves.
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

// styleOf has Word's formats of numbers as doctext.ItemNumber knows them; in one that is not known here a number is
// decimal. The names are those of ST_NumberFormat (§17.18.59).
var styleOf = map[string]string{
	"lowerLetter": "aa", "upperLetter": "AA", "lowerRoman": "i", "upperRoman": "I", "decimalZero": "01",
	"ordinal": "1st",
}

// written is a number in one of Word's formats.
func written(n int, format string) string {
	if format == "none" || format == "bullet" {
		return ""
	}
	return doctext.ItemNumber(n, styleOf[format])
}
