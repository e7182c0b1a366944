package pptx

import (
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// readSlide writes slide n. It parses the shapes, applies the positions of their layout, and sorts them, because the
// reading order depends on all positions.
func (r *reader) readSlide(part string, n int) error {
	relations, err := r.pack.Relations(part)
	if err != nil {
		return err
	}
	shapes, err := r.readShapes(part, relations, n)
	if err != nil {
		return err
	}
	places, err := r.layoutOf(relations.ByType("slideLayout"))
	if err != nil {
		return err
	}
	for _, s := range shapes {
		if s.placed || !s.isHolder() {
			continue
		}
		// A placeholder is looked up by its index, with its type as the fallback.
		if at, ok := places["#"+s.index]; ok && s.index != "" {
			s.at = at
		} else {
			s.at = places[s.holder]
		}
	}
	sortShapes(shapes)
	// The title is first regardless of its position, since all other text is below it as a heading.
	r.writeTitle(shapes, n)
	for _, s := range shapes {
		if !s.isTitle() {
			r.writeShape(s, n)
		}
	}
	return r.writeNotes(relations.ByType("notesSlide"), n)
}

// readShapes parses the shapes of a slide, a layout or notes. n is the slide number, 0 for other parts. A hidden
// slide has the attribute show="0" and is recorded.
func (r *reader) readShapes(part string, relations ooxml.Relations, n int) ([]*shape, error) {
	t := tree{r: r, relations: relations}
	err := r.pack.Decode(part, func(d *ooxml.Decoder) error {
		t.d = d
		// A slide is p:sld, p:cSld and p:spTree, nested in this order (ECMA-376 part 1, §19.3.1); layouts and notes
		// have the same two inside.
		if n > 0 && ooxml.Attr(d.Root, "show") == "0" {
			r.hidden = append(r.hidden, strconv.Itoa(n))
		}
		return d.Children(func(e xml.StartElement) error {
			if e.Name.Local != "cSld" {
				return d.Skip()
			}
			return d.Children(func(e xml.StartElement) error {
				if e.Name.Local != "spTree" {
					return d.Skip()
				}
				return t.read()
			})
		})
	})
	return t.shapes, err
}

// layoutOf returns the positions of a layout's placeholders. Layouts are cached. Without a layout the result is nil.
func (r *reader) layoutOf(part string) (layout, error) {
	// Hundreds of slides may share one layout.
	if known, ok := r.layouts[part]; ok || part == "" {
		return known, nil
	}
	shapes, err := r.readShapes(part, nil, 0)
	if err != nil {
		return nil, err
	}
	places := layout{}
	for _, s := range shapes {
		if s.placed && s.isHolder() {
			places["#"+s.index], places[s.holder] = s.at, s.at
		}
	}
	r.layouts[part] = places
	return places, nil
}

// boxOf returns the position of a shape on its slide, nil if unknown. The box is the page and then left, top, right
// and bottom as shares of the slide's sides, clipped to the slide.
func (r *reader) boxOf(s *shape, n int) *chat.Box {
	if r.width <= 0 || r.height <= 0 || s.at.width <= 0 || s.at.height <= 0 {
		return nil
	}
	// Shapes may be partly outside of the slide.
	inside := func(v float64) float64 { return min(max(v, 0), 1) }
	return &chat.Box{
		float64(n), inside(s.at.x / r.width), inside(s.at.y / r.height), inside((s.at.x + s.at.width) / r.width),
		inside((s.at.y + s.at.height) / r.height),
	}
}

// maxTitle is the maximum length in bytes of a first line that is used as the title.
const maxTitle = 120

// writeTitle writes the title of a slide as a heading. The fallback is the slide's first line, if it is short, which
// is then removed from its shape. Without either, the heading path is cleared.
func (r *reader) writeTitle(shapes []*shape, n int) {
	// All title shapes together are the title, since some designs split it; its box is that of the first.
	title, at := "", (*chat.Box)(nil)
	if i := slices.IndexFunc(shapes, func(s *shape) bool { return s.isTitle() && len(s.paragraphs) > 0 }); i >= 0 {
		var lines []string
		for _, s := range shapes {
			if s.isTitle() {
				for _, p := range s.paragraphs {
					lines = append(lines, p.text)
				}
			}
		}
		title, at = doctext.Line(strings.Join(lines, " ")), r.boxOf(shapes[i], n)
	}
	for _, s := range shapes {
		if title != "" || s.isMargin() || len(s.paragraphs) == 0 {
			continue
		}
		// Only the first shape with text is a candidate for the fallback.
		if first := doctext.Line(s.paragraphs[0].text); len(first) > maxTitle || s.paragraphs[0].isItem() {
			break
		} else {
			title, at, s.paragraphs = first, r.boxOf(s, n), s.paragraphs[1:]
		}
	}
	if title == "" {
		// Otherwise the slide's text would be below the title of another slide.
		r.w.LeaveHeadings()
		return
	}
	if r.title == "" {
		r.title = title
	}
	r.w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: 1, Page: n, Box: at})
	r.w.Text(title)
	r.w.End()
}

// writeShape writes a shape's text, table and words. Of shapes that repeat on each slide only footers are written,
// each text once.
func (r *reader) writeShape(s *shape, n int) {
	if s.isMargin() {
		if s.holder != "ftr" {
			return
		}
		line := ""
		for _, p := range s.paragraphs {
			line += p.text + " "
		}
		if line = doctext.Line(line); r.margins[line] {
			return
		}
		r.margins[line] = true
	}
	at := r.boxOf(s, n)
	r.writeParagraphs(s, n, at)
	if len(s.rows) > 0 {
		r.w.Table(s.rows, corpus.Block{Page: n, Box: at})
	}
	for _, line := range s.words {
		r.w.Begin(corpus.Block{Kind: corpus.BlockParagraph, Page: n, Box: at})
		r.w.Text(line)
	}
	r.w.End()
}

// writeParagraphs writes text. Paragraphs in a text placeholder have bullets by default, which its master defines. A
// single paragraph is no list.
func (r *reader) writeParagraphs(s *shape, n int, at *chat.Box) {
	var numbers counters
	// "body" and "obj" are the placeholders whose text the masters of PowerPoint give bullets.
	listed := (s.holder == "body" || s.holder == "obj") && len(s.paragraphs) > 1
	for _, p := range s.paragraphs {
		ordinal, mark := numbers.next(p)
		b := corpus.Block{Kind: corpus.BlockParagraph, Page: n, Box: at}
		if mark != "" || p.list == "bullet" || p.list == "" && listed {
			// A paragraph with "none" is text even among items.
			b.Kind, b.Level, b.Ordinal = corpus.BlockList, p.level, ordinal
		}
		r.w.Begin(b)
		if mark != "" {
			r.w.Number(mark)
		}
		for i, line := range strings.Split(p.text, "\n") {
			if i > 0 {
				r.w.Break()
			}
			r.w.Text(line)
		}
	}
	r.w.End()
}

// writeNotes writes a slide's speaker notes below a heading. The notes page also has the slide's picture and its
// number; only its body holds the notes.
func (r *reader) writeNotes(part string, n int) error {
	if part == "" {
		return nil
	}
	shapes, err := r.readShapes(part, nil, 0)
	if err != nil {
		return err
	}
	begun := false
	for _, s := range shapes {
		if s.holder != "body" || len(s.paragraphs) == 0 {
			continue
		}
		if !begun {
			begun = true
			r.w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: 2, Page: n})
			r.w.Text("Notes")
		}
		// Without its type, the body of notes is no list, and without a box it is not highlighted on the slide.
		r.writeParagraphs(&shape{paragraphs: s.paragraphs}, n, nil)
	}
	return nil
}
