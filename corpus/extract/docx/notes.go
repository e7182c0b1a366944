package docx

import (
	"encoding/xml"
	"strconv"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
	"github.com/footnote/footnote/text"
)

// noteID identifies a foot- or endnote: "footnote" or "endnote", and its id. The two kinds have separate ids.
type noteID struct{ kind, id string }

// note is a note that is written below the block that refers to it.
type note struct {
	mark string
	id   noteID
}

// readNotes parses foot- and endnotes, which are in two parts (§17.11). Entries of the types "separator" and
// "continuationSeparator" are lines on a page, and are skipped.
func (r *reader) readNotes() error {
	r.notes = map[noteID][]string{}
	for _, kind := range []string{"footnote", "endnote"} {
		part := r.relations.ByType(kind + "s")
		relations, err := r.pack.Relations(part)
		if err != nil {
			return err
		}
		err = r.pack.Decode(part, func(d *ooxml.Decoder) error {
			return d.Children(func(e xml.StartElement) error {
				if e.Name.Local != kind || ooxml.Attr(e, "type") != "" && ooxml.Attr(e, "type") != "normal" {
					return d.Skip()
				}
				return r.readNote(&parser{r: r, d: d, relations: relations}, noteID{kind, ooxml.Attr(e, "id")})
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readNote stores the text of a note's paragraphs without formatting.
func (r *reader) readNote(p *parser, id noteID) error {
	return p.blocks(func(n node) error {
		if n.paragraph != nil && !n.paragraph.isBlank() {
			r.notes[id] = append(r.notes[id], n.paragraph.text())
		}
		return nil
	})
}

// referTo adds a note's reference to a paragraph, and returns the note's number. Notes are numbered in order of
// reference, endnotes in Roman numerals, which is Word's default. For a note without text it returns "".
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

// flushNotes writes the notes that the previous block refers to, each as a paragraph. Notes are directly below the
// text that needs them, because there is no page end here. Each note is written once; further references only have
// its number.
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
