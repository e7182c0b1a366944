package odf

import (
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus/extract/ooxml"
	"github.com/footnote/footnote/text"
)

// paragraph is a parsed paragraph. Emphasis is dropped, because its styles would have to be resolved for each run.
type paragraph struct {
	runs  []run
	notes []note
	boxes []string // text of the boxes that are anchored in it
}

// run is a piece of text with an optional link. "\n" in it is a line break.
type run struct{ text, link string }

// note is a foot- or endnote, with its displayed number.
type note struct{ mark, text string }

func (p *paragraph) isBlank() bool { return strings.TrimSpace(p.plain()) == "" }

// plain returns the paragraph's text as one line.
func (p *paragraph) plain() string {
	var b strings.Builder
	for _, r := range p.runs {
		b.WriteString(r.text)
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// inline parses the content of a paragraph.
func (r *reader) inline(d *ooxml.Decoder) (*paragraph, error) {
	p := &paragraph{}
	err := r.readInline(d, p, "")
	return p, err
}

// OpenDocument collapses white space like HTML, so that a file encodes several spaces with the element s.
const maxSpaces = 100 // spaces of one element

// readInline parses the content of an element inside a paragraph. link is the link of its text. It reads tokens,
// because text and elements are mixed here.
func (r *reader) readInline(d *ooxml.Decoder, p *paragraph, link string) error {
	add := func(s string) { p.runs = append(p.runs, run{s, link}) }
	for {
		token, err := d.Next()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.CharData:
			add(strings.ReplaceAll(string(t), "\n", " "))
		case xml.EndElement:
			return nil
		case xml.StartElement:
			if err := r.inlineElement(d, t, p, link, add); err != nil {
				return err
			}
		}
	}
}

// inlineElement parses one inline element. Spans and fields are read with their displayed text. Page numbers are
// those of the last layout and are dropped. Deleted text ("tracked-changes") is at the start of the file, outside of
// the text.
func (r *reader) inlineElement(
	d *ooxml.Decoder, e xml.StartElement, p *paragraph, link string, add func(string),
) error {
	switch e.Name.Local {
	case "s":
		add(strings.Repeat(" ", min(max(ooxml.IntAttr(e, "c", 1), 1), maxSpaces)))
	case "tab":
		add(" ")
	case "line-break":
		add("\n")
	case "a":
		return r.readInline(d, p, ooxml.Attr(e, "href"))
	case "note":
		return r.readNote(d, p)
	case "annotation":
		r.comments++
	case "frame", "custom-shape", "text-box", "rect", "g":
		var none paragraph
		said, err := r.cell(d, &none)
		if said != "" {
			p.boxes = append(p.boxes, said)
		}
		return err
	case "ruby":
		return d.Children(func(e xml.StartElement) error {
			if e.Name.Local == "ruby-base" {
				return r.readInline(d, p, link)
			}
			return d.Skip()
		})
	case "page-number", "page-count", "annotation-end", "bookmark", "bookmark-start", "bookmark-end", "change-start",
		"change-end", "change", "soft-page-break", "tracked-changes":
	default: // span, meta, fields with their displayed text
		return r.readInline(d, p, link)
	}
	return d.Skip()
}

// readNote parses a foot- or endnote, and writes its number into the text. The number is the note's citation. The
// fallback is its position among all notes.
func (r *reader) readNote(d *ooxml.Decoder, p *paragraph) error {
	r.notes++
	n := note{mark: strconv.Itoa(r.notes)}
	err := d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "note-citation":
			mark, err := d.Text()
			if mark = strings.TrimSpace(mark); mark != "" {
				n.mark = mark
			}
			return err
		case "note-body":
			var inner paragraph
			said, err := r.cell(d, &inner)
			n.text = said
			return err
		}
		return d.Skip()
	})
	p.runs = append(p.runs, run{text: text.Superscript(n.mark)})
	p.notes = append(p.notes, n)
	return err
}

// writeRuns writes a paragraph with its links and line breaks. Only links are marks.
func (r *reader) writeRuns(p *paragraph) {
	for _, one := range p.runs {
		end := func() {}
		if one.link != "" {
			end = r.w.Mark("link", one.link)
		}
		for i, line := range strings.Split(one.text, "\n") {
			if i > 0 {
				r.w.Break()
			}
			r.w.Text(line)
		}
		end()
	}
}

// writeFlat writes a paragraph as one line.
func (r *reader) writeFlat(p *paragraph) { r.w.Text(p.plain()) }
