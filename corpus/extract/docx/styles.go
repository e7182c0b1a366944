package docx

import (
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// style holds the structure properties of a paragraph style, without its formatting, see §17.7. Missing properties
// are inherited from its parent style.
type style struct {
	name     string // lower case; built-in names are in English in every language
	basedOn  string
	outline  int // level of a heading from 1; 0: not set; bodyText: no heading
	list     listRef
	listSaid bool
	vanish   bool
}

// bodyText is the outline level of text other than headings. In the file levels start at 0 and body text is 9
// (§17.3.1.20). Here they are one more, so that 0 means "not set".
const bodyText = 10

// styles maps a document's paragraph styles by id.
type styles struct {
	byID   map[string]style
	normal string // id of the default style
}

// readStyles parses the styles part. Without one, only paragraphs with an explicit outline level are headings.
func readStyles(p *ooxml.Package, part string) (styles, error) {
	s := styles{byID: map[string]style{}}
	err := p.Decode(part, func(d *ooxml.Decoder) error {
		return d.Children(func(e xml.StartElement) error {
			if e.Name.Local != "style" {
				return d.Skip()
			}
			return s.readStyle(d, e)
		})
	})
	return s, err
}

// readStyle stores a paragraph style; those of characters, tables and lists are dropped.
func (s *styles) readStyle(d *ooxml.Decoder, e xml.StartElement) error {
	id := ooxml.Attr(e, "styleId")
	paragraph := ooxml.Attr(e, "type") == "paragraph"
	if paragraph && ooxml.Attr(e, "default") == "1" {
		s.normal = id
	}
	var st style
	err := d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "name":
			st.name = strings.ToLower(ooxml.Attr(e, "val"))
		case "basedOn":
			st.basedOn = ooxml.Attr(e, "val")
		case "rPr":
			return d.Children(func(e xml.StartElement) error {
				if e.Name.Local == "vanish" {
					st.vanish = ooxml.IsOn(e)
				}
				return d.Skip()
			})
		case "pPr":
			return d.Children(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "outlineLvl":
					st.outline = min(ooxml.IntAttr(e, "val", bodyText-1)+1, bodyText)
				case "numPr":
					st.listSaid = true
					return readListRef(d, &st.list)
				}
				return d.Skip()
			})
		}
		return d.Skip()
	})
	if id != "" && paragraph {
		s.byID[id] = st
	}
	return err
}

// readListRef parses a numPr element.
func readListRef(d *ooxml.Decoder, to *listRef) error {
	return d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "ilvl":
			to.level, to.levelSaid = ooxml.IntAttr(e, "val", 0), true
		case "numId":
			to.num, to.numSaid = ooxml.Attr(e, "val"), true
		}
		return d.Skip()
	})
}

// maxChain is the maximum number of parent styles; a longer chain is a cycle.
const maxChain = 30

// outline returns the heading level of a style, 0 for other text. Without a level in the chain of parent styles, the
// name decides. Word's built-in headings are named "heading 1" to "heading 9" in the file regardless of the
// program's language, and derived styles are headings too. HTML has six levels, and so have blocks.
func (s *styles) outline(id string) int {
	for range maxChain {
		st, ok := s.byID[id]
		switch {
		case !ok:
			return 0
		case st.outline == bodyText:
			return 0
		case st.outline > 0:
			return min(st.outline, 6)
		}
		if level, ok := strings.CutPrefix(st.name, "heading "); ok {
			if n, err := strconv.Atoi(level); err == nil && n >= 1 && n <= 9 {
				return min(n, 6)
			}
		}
		id = st.basedOn
	}
	return 0
}

// isNamed reports whether a style or one of its parents has a name.
func (s *styles) isNamed(id, name string) bool {
	for range maxChain {
		st, ok := s.byID[id]
		if !ok {
			return false
		}
		if st.name == name {
			return true
		}
		id = st.basedOn
	}
	return false
}

// hides reports whether a style's text is hidden. Parent styles are ignored.
func (s *styles) hides(id string) bool { return s.byID[id].vanish }

// list returns the list of a style's paragraphs. The level may be set in a style nearer to the paragraph than the
// one with the list.
func (s *styles) list(id string) (ref listRef) {
	for range maxChain {
		st, ok := s.byID[id]
		if !ok {
			return ref
		}
		if st.listSaid {
			if !ref.levelSaid && st.list.levelSaid {
				ref.level, ref.levelSaid = st.list.level, true
			}
			if st.list.numSaid {
				ref.num, ref.numSaid = st.list.num, true
				return ref
			}
		}
		id = st.basedOn
	}
	return ref
}
