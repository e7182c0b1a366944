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

// listStyle is the numbering of a list by level. Index 0 is unused.
type listStyle [levels + 1]listLevel

// listLevel is the number format of one level. Since OpenDocument 1.3 a file may define it as one format string.
// Older files have a prefix, a suffix and the number of displayed levels, which are joined by full stops.
type listLevel struct {
	numbered       bool
	format         string // a style of doctext.ItemNumber; empty: no number
	text           string // format string "%1%.%2%)", if the file has one
	prefix, suffix string
	shown          int // number of displayed levels
	start          int
}

// readStyles parses list styles and the parents of styles. Automatic styles have unique names, so that both parts
// share one map.
func (r *reader) readStyles(d *ooxml.Decoder) error {
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
}

// readListStyle parses the levels of a style. Levels of bullets and pictures have no numbers; those of
// list-level-style-number and outline-level-style do.
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

// numberStyle returns the number style of a level in doctext.ItemNumber's form. num-letter-sync repeats a letter,
// "aa" after "z", for which the style has two letters.
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

// counters holds the current numbers of a list, by level from 1. Lists that continue one another share them. A level
// restarts after each item of a level above.
type counters [levels + 1]struct {
	n     int
	begun bool // since the last item of a level above
}

// listPlace is the list and level of a block. own is the list's style, and style that of the current item, which may
// override it.
type listPlace struct {
	own, style listStyle // of the list, and of the current item
	level      int
	counters   *counters
	fresh      bool // the next paragraph begins an item
	start      int  // its explicit number; 0: none
}

// enter begins a nested or a top-level list. A nested list shares the counters of its parent, and inherits its style
// unless it has one. A top-level list continues the list with the id in continue-list, else with continue-numbering
// the last one of its style.
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

// begin begins an item. It is numbered with its first paragraph. Further paragraphs of the item have no number.
func (r *reader) begin(in *listPlace, e xml.StartElement) {
	in.fresh, in.start, in.style = true, ooxml.IntAttr(e, "start-value", 0), in.own
	if style, ok := r.lists[ooxml.Attr(e, "style-override")]; ok {
		in.style = style
	}
}

// take increments the counter for a paragraph that begins an item, and returns its displayed number. ok is false for
// other paragraphs. It must be called once for each paragraph, including blank ones.
func (in *listPlace) take() (mark string, ok bool) {
	if in == nil || !in.fresh {
		return "", false
	}
	in.fresh = false
	in.counters.count(in.style, in.level, in.start)
	return in.style.mark(in.level, in.counters), true
}

// ordinal returns the number of the current item.
func (in *listPlace) ordinal() int { return in.counters[min(in.level, levels)].n }

// count increments the counter of a level. start is the item's explicit number, 0 without one. Levels below restart.
func (c *counters) count(style listStyle, level, start int) {
	at := min(level, levels)
	for above := 1; above < at; above++ { // a skipped level counts as its first item
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

// mark returns the displayed number of an item: "2.1." or "c)"; empty for a bullet. Levels without numbers are
// skipped with their full stops.
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
