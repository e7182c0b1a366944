package docx

import (
	"encoding/xml"
	"strconv"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
	"github.com/footnote/footnote/text"
)

// noteID is a foot- or endnote: "footnote" or "endnote", and its id. Foot- and endnotes have ids of their own, which
// may be equal.
type noteID struct{ kind, id string }

// note is a note that is written below the block that refers to it.
type note struct {
	mark string
	id   noteID
}

// readNotes reads foot- and endnotes. Their separators are none. Footnotes and endnotes stand in two parts (§17.11),
// with types "separator" and "continuationSeparator" for the lines above them on a page.
func (r *reader) readNotes() error {
	r.notes = map[noteID][]string{}
	for _, kind := range []string{"footnote", "endnote"} {
		part := r.relations.ByType(kind + "s")
		relations, err := r.pack.Relations(part)
		if err != nil {
			return err
		}
		err = r.pack.Decode(part, func(d *ooxml.Decoder) error {
			return d.Root(func(xml.StartElement) error {
				return d.Children(func(e xml.StartElement) error {
					if e.Name.Local != kind || ooxml.Attr(e, "type") != "" && ooxml.Attr(e, "type") != "normal" {
						return d.Skip()
					}
					return r.readNote(&parser{r: r, d: d, relations: relations}, noteID{kind, ooxml.Attr(e, "id")})
				})
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readNote keeps the text of a note's paragraphs, without formatting.
func (r *reader) readNote(p *parser, id noteID) error {
	return p.blocks(func(n node) error {
		if n.paragraph != nil && !n.paragraph.isBlank() {
			r.notes[id] = append(r.notes[id], n.paragraph.text())
		}
		return nil
	})
}

// referTo notes that a paragraph refers to a note, and returns the note's number. Notes are numbered as they come,
// endnotes in Roman numerals. That is how Word numbers them unless a section says otherwise. A note that has no text
// has no number, and the mark is "".
func (r *reader) referTo(id noteID, from *paragraph) (mark string) {
	if len(r.notes[id]) == 0 {
		return ""
	}
	r.noted[id.kind]++
	mark = strconv.Itoa(r.noted[id.kind])
	if id.kind == "endnote" {
		mark = doctext.ItemNumber(r.noted[id.kind], "i")
	}
	from.notes = append(from.notes, note{mark, id})
	return mark
}

// flushNotes writes the notes that the block before referred to, each as a paragraph. A reader finds a note right below
// the text that needs it, not at the end of a page that doesn't exist here. Each note is written once: what refers to
// it again has the mark alone.
func (r *reader) flushNotes() {
	waiting := r.waiting
	r.waiting = nil
	for _, n := range waiting {
		for i, paragraph := range r.notes[n.id] {
			r.w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
			if i == 0 {
				r.w.Text(text.Superscript(n.mark) + " ")
			}
			r.w.Text(paragraph)
		}
		r.w.End()
		delete(r.notes, n.id)
	}
}
