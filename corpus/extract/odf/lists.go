package odf

import (
	"encoding/xml"
	"strings"

	"footnote/corpus/extract/doctext"
	"footnote/corpus/extract/ooxml"
)

const levels = 10 // of a list

// listStyle is how the levels of a list are numbered.
type listStyle [levels + 1]listLevel

type listLevel struct {
	numbered       bool
	format         string // "1", "a", "A", "i", "I"; empty: no number
	prefix, suffix string
	shown          int // how many levels' numbers are written
	start          int
}

// readStyles reads list styles and which styles are based on which.
func (r *reader) readStyles(d *ooxml.Decoder) error {
	return d.Root(func(xml.StartElement) error {
		var walk func(xml.StartElement) error
		walk = func(e xml.StartElement) error {
			switch e.Name.Local {
			case "list-style", "outline-style":
				return r.readListStyle(d, ooxml.Attr(e, "name"))
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

func (r *reader) readListStyle(d *ooxml.Decoder, name string) error {
	var style listStyle
	err := d.Children(func(e xml.StartElement) error {
		at := ooxml.IntAttr(e, "level", 0)
		if at < 1 || at > levels {
			return d.Skip()
		}
		style[at] = listLevel{
			numbered: e.Name.Local != "list-level-style-bullet" && e.Name.Local != "list-level-style-image",
			format: ooxml.Attr(
				e,
				"num-format",
			),
			prefix: ooxml.Attr(e, "num-prefix"),
			suffix: ooxml.Attr(e, "num-suffix"),
			shown:  max(ooxml.IntAttr(e, "display-levels", 1), 1),
			start:  max(ooxml.IntAttr(e, "start-value", 1), 0),
		}
		return d.Skip()
	})
	r.lists[name] = style
	return err
}

// mark is the number of an item as the document shows it: "2.1." or "c)"; empty for a bullet.
func (s listStyle) mark(level int, counters *[levels + 1]int) string {
	l := s[min(level, levels)]
	if !l.numbered || l.format == "" {
		return ""
	}
	var numbers []string
	for at := max(level-l.shown+1, 1); at <= min(level, levels); at++ {
		if s[at].numbered && s[at].format != "" {
			numbers = append(numbers, doctext.ItemNumber(max(counters[at], s[at].start), s[at].format))
		}
	}
	return strings.TrimSpace(l.prefix + strings.Join(numbers, ".") + l.suffix)
}
