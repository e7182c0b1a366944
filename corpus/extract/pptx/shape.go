package pptx

import (
	"cmp"
	"encoding/xml"
	"slices"

	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// shape is a text container on a slide. A placeholder inherits missing properties from its layout, above all its
// position.
type shape struct {
	holder     string // type of placeholder: "title", "body", …; empty for a free box
	index      string // of the placeholder in its layout
	at         box
	placed     bool // it has an explicit position
	paragraphs []paragraph
	rows       [][]string // of a table
	words      []string   // of a chart or a diagram
}

// isHolder reports whether a shape fills a placeholder of the layout.
func (s *shape) isHolder() bool { return s.holder != "" || s.index != "" }

// isTitle reports whether a shape is the slide's title, including the centred title of a title slide.
func (s *shape) isTitle() bool { return s.holder == "title" || s.holder == "ctrTitle" }

// isMargin reports whether a shape repeats on each slide: its number, the date, the footer.
func (s *shape) isMargin() bool { return s.holder == "sldNum" || s.holder == "dt" || s.holder == "ftr" }

// box is a rectangle on a slide in EMU, 914,400 per inch. x and y are the upper left corner; x increases to the
// right and y downwards.
type box struct{ x, y, width, height float64 }

// frame is the coordinate transformation of a group. from is the coordinate space of the group's shapes (chOff and
// chExt), to is its rectangle outside (off and ext).
type frame struct{ from, to box }

// place converts a box inside the frame to the outer coordinates. A frame without a size, as in a malformed file,
// leaves its boxes unchanged.
func (f frame) place(b box) box {
	if f.from.width == 0 || f.from.height == 0 {
		return b
	}
	sx, sy := f.to.width/f.from.width, f.to.height/f.from.height
	return box{f.to.x + (b.x-f.from.x)*sx, f.to.y + (b.y-f.from.y)*sy, b.width * sx, b.height * sy}
}

// layout maps the placeholders of a layout to their positions. Keys are "#" and the index, or the type as a
// fallback.
type layout map[string]box

// sortShapes sorts shapes in reading order: the title, the other placeholders, free boxes, and shapes that repeat on
// each slide; each from top to bottom. The file has them in stacking order, which is the order of their creation.
func sortShapes(shapes []*shape) {
	rank := func(s *shape) int {
		switch {
		case s.isTitle():
			return 0
		case s.holder == "subTitle":
			return 1
		case s.isMargin():
			return 4
		case s.isHolder():
			return 2
		}
		return 3
	}
	slices.SortStableFunc(shapes, func(a, b *shape) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.at.y, b.at.y), cmp.Compare(a.at.x, b.at.x))
	})
}

// tree parses the shapes of a slide or a group. frames holds those of the enclosing groups, the outermost first.
type tree struct {
	r         *reader
	d         *ooxml.Decoder
	relations ooxml.Relations
	frames    []frame
	shapes    []*shape
}

// read parses the shapes directly inside an element. Pictures have no text.
func (t *tree) read() error {
	return t.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "sp", "cxnSp":
			return t.shape(&shape{})
		case "graphicFrame":
			return t.graphic(&shape{})
		case "grpSp":
			return t.group()
		case "grpSpPr":
			return t.groupFrame()
		case "AlternateContent":
			return t.alternative()
		case "pic", "nvGrpSpPr", "extLst":
			return t.d.Skip()
		}
		return t.d.Skip()
	})
}

// alternative parses the first of several alternatives of the same shape (ECMA-376 part 3). Parsing the others as
// well would duplicate the text.
func (t *tree) alternative() error {
	done := false
	return t.d.Children(func(xml.StartElement) error {
		if done {
			return t.d.Skip()
		}
		done = true
		return t.read()
	})
}

// group parses a group of shapes, and removes its frame afterwards.
func (t *tree) group() error {
	depth := len(t.frames)
	err := t.read()
	t.frames = t.frames[:depth]
	return err
}

// groupFrame parses the frame of a group, which precedes its shapes.
func (t *tree) groupFrame() error {
	return t.d.Children(func(e xml.StartElement) error {
		if e.Name.Local != "xfrm" {
			return t.d.Skip()
		}
		var f frame
		err := t.d.Children(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "off":
				f.to.x, f.to.y = number(e, "x"), number(e, "y")
			case "ext":
				f.to.width, f.to.height = number(e, "cx"), number(e, "cy")
			case "chOff":
				f.from.x, f.from.y = number(e, "x"), number(e, "y")
			case "chExt":
				f.from.width, f.from.height = number(e, "cx"), number(e, "cy")
			}
			return t.d.Skip()
		})
		t.frames = append(t.frames, f)
		return err
	})
}

// add stores a shape with its position on the slide. Frames are applied from the innermost to the outermost.
func (t *tree) add(s *shape) {
	for _, f := range slices.Backward(t.frames) {
		s.at = f.place(s.at)
	}
	t.shapes = append(t.shapes, s)
}

// shape parses a shape or a connector with its text.
func (t *tree) shape(s *shape) error {
	err := t.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "nvSpPr", "nvCxnSpPr":
			return t.holder(s)
		case "spPr":
			return t.position(s)
		case "txBody":
			return t.text(s)
		}
		return t.d.Skip()
	})
	t.add(s)
	return err
}

// holder parses the placeholder of a shape, at any depth. A placeholder without a type is an object ("obj"), the
// default of ST_PlaceholderType.
func (t *tree) holder(s *shape) error {
	return t.d.Children(func(e xml.StartElement) error {
		if e.Name.Local == "ph" {
			s.holder, s.index = cmp.Or(ooxml.Attr(e, "type"), "obj"), ooxml.Attr(e, "idx")
			return t.d.Skip()
		}
		return t.holder(s)
	})
}

// position parses the position of a shape from its properties.
func (t *tree) position(s *shape) error {
	return t.d.Children(func(e xml.StartElement) error {
		if e.Name.Local == "xfrm" {
			return t.transform(s)
		}
		return t.d.Skip()
	})
}

// transform parses an xfrm: the corner and the size, in the group's coordinates.
func (t *tree) transform(s *shape) error {
	s.placed = true
	return t.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "off":
			s.at.x, s.at.y = number(e, "x"), number(e, "y")
		case "ext":
			s.at.width, s.at.height = number(e, "cx"), number(e, "cy")
		}
		return t.d.Skip()
	})
}
