package ooxml

import (
	"encoding/xml"
	"path"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/text/english"
)

// Relation is a reference of a part to another part or to an address outside. The addresses of types differ between the
// transitional and the strict form of ECMA-376; their last words are the same.
type Relation struct {
	Type     string // the last word of its type's address: "styles", "hyperlink"
	Target   string // the name of a part, or an address
	External bool   // Target is an address; it is never opened
}

// Relations are those of a part by their ids.
type Relations map[string]Relation

// Relations reads the relationships of a part; "" stands for the whole package. The relationships of
// "word/document.xml" stand in "word/_rels/document.xml.rels". Targets are relative to the part's folder unless they
// begin with a slash, and come back relative to the package. A part without any has an empty map.
func (p *Package) Relations(part string) (Relations, error) {
	dir, base := path.Split(part)
	all := Relations{}
	err := p.Decode(dir+"_rels/"+base+".rels", func(d *Decoder) error {
		return d.Root(func(xml.StartElement) error {
			return d.Children(func(e xml.StartElement) error {
				kind := Attr(e, "Type")
				r := Relation{Type: kind[strings.LastIndexByte(kind, '/')+1:], Target: Attr(e, "Target")}
				if r.External = Attr(e, "TargetMode") == "External"; !r.External {
					if !strings.HasPrefix(r.Target, "/") {
						r.Target = path.Join("/"+dir, r.Target)
					}
					r.Target = strings.TrimPrefix(path.Clean(r.Target), "/")
				}
				all[Attr(e, "Id")] = r
				return d.Skip()
			})
		})
	})
	return all, err
}

// ByType returns the target of the first relation of a type inside the package, empty without one. Of several it is the
// one whose target comes first. Maps have no order in Go, and the same file must be read the same way each time.
func (r Relations) ByType(kind string) (target string) {
	for _, one := range r {
		if one.Type == kind && !one.External && (target == "" || one.Target < target) {
			target = one.Target
		}
	}
	return target
}

// Main returns the name of the part that the package is about, and its relations. It is a *corpus.Failure when there is
// none. It is the target of the package's relationship "officeDocument": programs may call the part as they like.
func (p *Package) Main() (name string, relations Relations, err error) {
	top, err := p.Relations("")
	if err != nil {
		return "", nil, err
	}
	name = top.ByType("officeDocument")
	if !p.Has(name) {
		return "", nil, Damaged
	}
	relations, err = p.Relations(name)
	return name, relations, err
}

// Properties are what a file says about itself: title, author, subject, keywords, date and language, as far as they are
// filled in. These are the core properties (ECMA-376 part 2, "Core properties"), whose keys come back as propertyKeys
// has them. Of the date only the day is kept, as YYYY-MM-DD.
func (p *Package) Properties() (map[string]string, error) {
	found := map[string]string{}
	top, err := p.Relations("")
	if err != nil {
		return nil, err
	}
	err = p.Decode(top.ByType("core-properties"), func(d *Decoder) error {
		return d.Root(func(xml.StartElement) error {
			return d.Children(func(e xml.StartElement) error {
				text, err := d.Text()
				key := propertyKeys[e.Name.Local]
				if text = doctext.Line(text); key == "" || text == "" {
					return err
				}
				if key == "date" && len(text) >= len("2006-01-02") {
					text = text[:len("2006-01-02")]
				}
				if found[key] == "" || e.Name.Local == "modified" {
					found[key] = text
				}
				return err
			})
		})
	})
	return found, err
}

// propertyKeys are the names of core properties and what documents call them. The last change is a document's date.
var propertyKeys = map[string]string{
	"title": "title", "creator": "author", "subject": "subject", "keywords": "keywords", "created": "date",
	"modified": "date", "language": "language",
}

// Count is how often a file holds something that is not read, such as a "comment". What is a noun in the singular.
type Count struct {
	N    int
	What string
}

// NoteLeftOut says in the metadata what of a file is not read: what its reader counted, and the macros and embedded
// objects of the package. A reader of an answer can then tell why something of the file is not found. Nothing is noted
// if all was read.
func (p *Package) NoteLeftOut(x *corpus.Extracted, counted ...Count) {
	macros, objects := 0, 0
	for name := range p.parts {
		switch {
		case strings.HasSuffix(name, "vbaproject.bin"):
			macros++
		case strings.Contains(name, "/embeddings/") || strings.Contains(name, "/activex/"):
			objects++
		}
	}
	var left []string
	for _, c := range append(counted, Count{macros, "macro project"}, Count{objects, "embedded object"}) {
		if c.N > 0 {
			left = append(left, english.Count(c.N, c.What))
		}
	}
	if len(left) > 0 {
		x.Meta[corpus.MetaLeftOut] = strings.Join(left, ", ")
	}
}
