package pptx

import (
	"cmp"
	"encoding/xml"
	"slices"

	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// shape is something on a slide that holds words. A placeholder takes from its layout what it does not say itself:
// above all where it stands.
type shape struct {
	holder     string // kind of placeholder: "title", "body", …; empty for a free box
	index      string // of the placeholder in its layout
	at         box
	placed     bool // it says itself where it stands
	paragraphs []paragraph
	rows       [][]string // of a table
	words      []string   // of a chart or a diagram
}

// isHolder reports whether a shape fills a placeholder of the layout.
func (s *shape) isHolder() bool { return s.holder != "" || s.index != "" }

// isTitle reports whether a shape holds the slide's title, which a title slide has in the middle.
func (s *shape) isTitle() bool { return s.holder == "title" || s.holder == "ctrTitle" }

// isMargin reports whether a shape is the same on each slide: its number, the date, the footer.
func (s *shape) isMargin() bool { return s.holder == "sldNum" || s.holder == "dt" || s.holder == "ftr" }

// box is a place on a slide in EMU. 914,400 EMU are an inch. x and y are the left upper corner; x grows to the right
// and y downwards.
type box struct{ x, y, width, height float64 }

// frame is how the shapes of a group are placed on the slide. from is the space in which the group's shapes count
// (chOff and chExt), to is where that stands outside (off and ext).
type frame struct{ from, to box }

// place is where a box inside the frame stands on the slide. A frame without a size, which a file that is no drawing of
// a person has, leaves its boxes where they are.
func (f frame) place(b box) box {
	if f.from.width == 0 || f.from.height == 0 {
		return b
	}
	sx, sy := f.to.width/f.from.width, f.to.height/f.from.height
	return box{f.to.x + (b.x-f.from.x)*sx, f.to.y + (b.y-f.from.y)*sy, b.width * sx, b.height * sy}
}

// layout says where the placeholders of a layout stand, by index and by kind. Keys are "#" and the index, or the kind
// alone; the kind counts only if the index is not found.
type layout map[string]box

// sortShapes puts shapes in reading order: the title, the other placeholders, free boxes, what is the same on each
// slide; each from top to bottom. The file has shapes in the order in which they cover each other, which is that in
// which they were made.
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

// tree reads the shapes of a slide or a group. frames are those of the groups around the shape at work, the outermost
// first.
type tree struct {
	r         *reader
	d         *ooxml.Decoder
	relations ooxml.Relations
	frames    []frame
	shapes    []*shape
}

// read reads the shapes right inside an element. Pictures hold no text.
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

// alternative reads the first of several forms of the same shape. Reading the others as well would write the same words
// twice (ECMA-376 part 3).
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

// group reads a group of shapes, and forgets its frame afterwards.
func (t *tree) group() error {
	depth := len(t.frames)
	err := t.read()
	t.frames = t.frames[:depth]
	return err
}

// groupFrame reads how a group places its shapes. It stands before them.
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

// add keeps a shape, placed on the slide. Frames are applied from the innermost to the outermost.
func (t *tree) add(s *shape) {
	for _, f := range slices.Backward(t.frames) {
		s.at = f.place(s.at)
	}
	t.shapes = append(t.shapes, s)
}

// shape reads a shape or a connector with what is written on it.
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

// holder reads which placeholder a shape fills. A placeholder without a type is an object ("obj"), as
// ST_PlaceholderType has it. The element stands somewhere below.
func (t *tree) holder(s *shape) error {
	return t.d.Children(func(e xml.StartElement) error {
		if e.Name.Local == "ph" {
			s.holder, s.index = cmp.Or(ooxml.Attr(e, "type"), "obj"), ooxml.Attr(e, "idx")
			return t.d.Skip()
		}
		return t.holder(s)
	})
}

// position reads where a shape stands, from its properties.
func (t *tree) position(s *shape) error {
	return t.d.Children(func(e xml.StartElement) error {
		if e.Name.Local == "xfrm" {
			return t.transform(s)
		}
		return t.d.Skip()
	})
}

// transform reads an xfrm: the corner and the size, inside of the group.
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
