package odf

import (
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// OpenDocument has ten levels; deeper ones count as the tenth.
const levels = 10 // of a list

const outline = "outline-style" // the list style of headings outside of lists

// listStyle is how the levels of a list are numbered. Element 0 stays unused.
type listStyle [levels + 1]listLevel

// listLevel is how one level's numbers look. Since OpenDocument 1.3 a file may say so as one text; older ones have a
// prefix, a suffix and how many levels are shown, joined by points.
type listLevel struct {
	numbered       bool
	format         string // a style of doctext.ItemNumber; empty: no number
	text           string // "%1%.%2%)", where the file says it so
	prefix, suffix string
	shown          int // how many levels' numbers are written
	start          int
}

// readStyles reads list styles and which styles are based on which. Automatic styles have names of their own, so that
// both parts fill one map.
func (r *reader) readStyles(d *ooxml.Decoder) error {
	return d.Root(func(xml.StartElement) error {
		var walk func(xml.StartElement) error
		walk = func(e xml.StartElement) error {
			switch e.Name.Local {
			case "list-style":
				return r.readListStyle(d, ooxml.Attr(e, "name"))
			case "outline-style":
				return r.readListStyle(d, outline)
			case "style":
				r.parents[ooxml.Attr(e, "name")] = ooxml.Attr(e, "parent-style-name")
				return d.Skip()
			case "styles", "automatic-styles":
				return d.Children(walk)
			}
			return d.Skip()
		}
		return d.Children(walk)
	})
}

// readListStyle reads the levels of a style. Levels of bullets and pictures have no numbers; a list-level-style-number
// and an outline-level-style have some.
func (r *reader) readListStyle(d *ooxml.Decoder, name string) error {
	var style listStyle
	err := d.Children(func(e xml.StartElement) error {
		at := ooxml.IntAttr(e, "level", 0)
		if at < 1 || at > levels {
			return d.Skip()
		}
		style[at] = listLevel{
			numbered: e.Name.Local != "list-level-style-bullet" && e.Name.Local != "list-level-style-image",
			format:   numberStyle(e),
			text:     ooxml.Attr(e, "num-list-format"),
			prefix:   ooxml.Attr(e, "num-prefix"),
			suffix:   ooxml.Attr(e, "num-suffix"),
			shown:    max(ooxml.IntAttr(e, "display-levels", 1), 1),
			start:    max(ooxml.IntAttr(e, "start-value", 1), 0),
		}
		return d.Skip()
	})
	r.lists[name] = style
	return err
}

// numberStyle is how a level's numbers are written. num-letter-sync repeats a letter, "aa" after "z", which
// doctext.ItemNumber calls by two letters.
func numberStyle(e xml.StartElement) string {
	format := ooxml.Attr(e, "num-format")
	switch {
	case strings.HasPrefix(format, "01"):
		return "01"
	case ooxml.Attr(e, "num-letter-sync") == "true":
		return format + format
	}
	return format
}

// counters are the numbers of a list that is at work, by level from 1. Lists that continue one another share them. A
// level begins anew below each item of a level above.
type counters [levels + 1]struct {
	n     int
	begun bool // since the last item of a level above
}

// listPlace is the list, and the level in it, that a block is in. own is the list's style, and style that of the item
// at work, which may override it.
type listPlace struct {
	own, style listStyle // of the list, and of the item at work
	level      int
	counters   *counters
	fresh      bool // the next paragraph begins an item
	start      int  // its number, if it says one
}

// enter begins a list inside another, or a list of its own, which may continue an earlier one. A list inside another
// shares its counters and takes over its style unless it names one. A list of its own continues the one whose id it
// names, or the last one of its style, or none.
func (r *reader) enter(e xml.StartElement, in *listPlace) *listPlace {
	name := ooxml.Attr(e, "style-name")
	inner := &listPlace{level: 1}
	if in != nil {
		*inner = listPlace{own: in.style, level: in.level + 1, counters: in.counters}
	} else {
		inner.counters = r.counters["#"+ooxml.Attr(e, "continue-list")]
		if inner.counters == nil && ooxml.Attr(e, "continue-numbering") == "true" {
			inner.counters = r.counters[name]
		}
		if inner.counters == nil {
			inner.counters = &counters{}
		}
		r.counters[name] = inner.counters
		if id := ooxml.Attr(e, "id"); id != "" {
			r.counters["#"+id] = inner.counters
		}
	}
	if style, ok := r.lists[name]; ok {
		inner.own = style
	}
	inner.style = inner.own
	return inner
}

// begin begins an item. It has a number once it has a paragraph. Further paragraphs of an item have none.
func (r *reader) begin(in *listPlace, e xml.StartElement) {
	in.fresh, in.start, in.style = true, ooxml.IntAttr(e, "start-value", 0), in.own
	if style, ok := r.lists[ooxml.Attr(e, "style-override")]; ok {
		in.style = style
	}
}

// take counts the item that a paragraph begins, and returns its number as the document shows it; ok is false for a
// paragraph that begins none. It counts, so that it must be called once for each paragraph, also for one that turns out
// blank.
func (in *listPlace) take() (mark string, ok bool) {
	if in == nil || !in.fresh {
		return "", false
	}
	in.fresh = false
	in.counters.count(in.style, in.level, in.start)
	return in.style.mark(in.level, in.counters), true
}

// ordinal is the number of the item at work.
func (in *listPlace) ordinal() int { return in.counters[min(in.level, levels)].n }

// count counts an item. start is the number that it says itself, 0 without one. Levels below begin anew, see above.
func (c *counters) count(style listStyle, level, start int) {
	at := min(level, levels)
	for above := 1; above < at; above++ { // a level that was left out counts as its first
		if !c[above].begun {
			c[above].n, c[above].begun = style[above].start, true
		}
	}
	switch {
	case start > 0:
		c[at].n = start
	case !c[at].begun:
		c[at].n = style[at].start
	default:
		c[at].n++
	}
	c[at].begun = true
	for below := at + 1; below <= levels; below++ {
		c[below].begun = false
	}
}

// mark is the number of an item as the document shows it: "2.1." or "c)"; empty for a bullet. Levels without numbers
// leave no point behind.
func (s listStyle) mark(level int, c *counters) string {
	level = min(level, levels)
	l := s[level]
	if !l.numbered || l.format == "" {
		return ""
	}
	if l.text != "" {
		var pairs []string
		for at := 1; at <= level; at++ {
			number := ""
			if s[at].numbered && s[at].format != "" {
				number = doctext.ItemNumber(c[at].n, s[at].format)
			}
			pairs = append(pairs, "%"+strconv.Itoa(at)+"%", number)
		}
		return strings.TrimSpace(strings.NewReplacer(pairs...).Replace(l.text))
	}
	var numbers []string
	for at := max(level-l.shown+1, 1); at <= level; at++ {
		if s[at].numbered && s[at].format != "" {
			numbers = append(numbers, doctext.ItemNumber(c[at].n, s[at].format))
		}
	}
	return strings.TrimSpace(l.prefix + strings.Join(numbers, ".") + l.suffix)
}
