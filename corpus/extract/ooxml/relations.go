package ooxml

import (
	"encoding/xml"
	"path"
	"strings"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/text/english"
)

// Relation is a relationship of a part to another part or to an external URL. The URLs of types differ between the
// transitional and the strict form of ECMA-376, but their last segments are equal.
type Relation struct {
	Type     string // the last segment of its type's URL: "styles", "hyperlink"
	Target   string // the name of a part, or a URL
	External bool   // Target is a URL; it is never opened
}

// Relations maps the ids of a part's relationships.
type Relations map[string]Relation

// Relations parses the relationships of a part; "" is the package. Those of "word/document.xml" are in
// "word/_rels/document.xml.rels". Targets are relative to the part's folder unless they begin with a slash; they are
// returned relative to the package. A part without relationships returns an empty map.
func (p *Package) Relations(part string) (Relations, error) {
	dir, base := path.Split(part)
	all := Relations{}
	err := p.Decode(dir+"_rels/"+base+".rels", func(d *Decoder) error {
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
	return all, err
}

// ByType returns the internal target of a relationship of a type, "" without one. Of several it returns the first in
// alphabetic order, because Go's map order is random and the result must be deterministic.
func (r Relations) ByType(kind string) (target string) {
	for _, one := range r {
		if one.Type == kind && !one.External && (target == "" || one.Target < target) {
			target = one.Target
		}
	}
	return target
}

// Main returns the name of the package's main part, and its relationships. It fails with a *corpus.Failure without
// one. The main part is the target of the relationship "officeDocument", since programs may name the part freely.
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

// Describe sets the language and the metadata of a document, and returns its stated title. They are the file's core
// properties (ECMA-376 part 2, "Core properties") with the keys of propertyKeys, and its unread content, see
// NoteLeftOut. The date has the form YYYY-MM-DD.
func (p *Package) Describe(x *corpus.Extracted, counted ...Count) (title string, err error) {
	top, err := p.Relations("")
	if err != nil {
		return "", err
	}
	found := map[string]string{}
	err = p.Decode(top.ByType("core-properties"), func(d *Decoder) error {
		return d.Children(func(e xml.StartElement) error {
			text, err := d.Text()
			key := propertyKeys[e.Name.Local]
			if text = doctext.Line(text); key == "" || text == "" {
				return err
			}
			if key == "date" && len(text) >= len(time.DateOnly) {
				text = text[:len(time.DateOnly)]
			}
			if found[key] == "" || e.Name.Local == "modified" {
				found[key] = text
			}
			return err
		})
	})
	x.Language = found["language"]
	for _, key := range []string{"author", "subject", "keywords", "date"} {
		if found[key] != "" {
			x.Meta[key] = found[key]
		}
	}
	p.NoteLeftOut(x, counted...)
	return found["title"], err
}

// propertyKeys maps core properties to metadata keys. The modification date takes precedence over the creation date.
var propertyKeys = map[string]string{
	"title": "title", "creator": "author", "subject": "subject", "keywords": "keywords", "created": "date",
	"modified": "date", "language": "language",
}

// Count is the number of unread items in a file. What is a singular noun, such as "comment".
type Count struct {
	N    int
	What string
}

// NoteLeftOut lists the unread content of a file in the metadata: the counts of its reader, and the package's macros
// and embedded objects. It explains to the reader of an answer why something of the file is not found. Without
// unread content it sets nothing.
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
