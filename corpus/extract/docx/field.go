package docx

import (
	"encoding/xml"
	"strings"

	"github.com/footnote/footnote/corpus/extract/ooxml"
)

const (
	// Fields of real files are nested two or three deep, such as a page number in a condition.
	maxFields      = 100  // nesting depth
	maxInstruction = 4000 // bytes
)

// fieldChar handles the begin, the separator or the end of a complex field (§17.16.18). These are three characters
// in different runs, with the instruction between the first two and the result between the last two. A field may
// extend over several paragraphs, so that its state is in the parser. An end without a begin is ignored.
func (p *parser) fieldChar(kind string) {
	switch n := len(p.fields); kind {
	case "begin":
		if n < maxFields {
			p.fields = append(p.fields, field{})
		}
	case "separate":
		if n > 0 {
			p.fields[n-1].result = true
		}
	case "end":
		p.fields = p.fields[:max(n-1, 0)]
	}
}

// formField parses the data of a form field (§17.16.17) and returns what it displays without a result: a box, or the
// chosen entry of a list. The value takes precedence over the default in either order.
func (p *parser) formField() (shown string, err error) {
	chosen := map[string]xml.StartElement{}
	box := false
	var entries []string
	var walk func(e xml.StartElement) error
	walk = func(e xml.StartElement) error {
		switch name := e.Name.Local; name {
		case "ffData", "ddList", "checkBox":
			box = box || name == "checkBox"
			return p.d.Children(walk)
		case "checked", "result", "default":
			chosen[name] = e
		case "listEntry":
			entries = append(entries, ooxml.Attr(e, "val"))
		}
		return p.d.Skip()
	}
	if err := p.d.Children(walk); err != nil {
		return "", err
	}
	for _, name := range []string{"checked", "result", "default"} {
		e, ok := chosen[name]
		switch n := ooxml.IntAttr(e, "val", 0); {
		case !ok:
		case box:
			return checkBox(ooxml.IsOn(e)), nil
		case n >= 0 && n < len(entries):
			return entries[n], nil
		}
	}
	switch {
	case box:
		return checkBox(false), nil
	case len(entries) > 0:
		return entries[0], nil
	}
	return "", nil
}

// checkBox returns the character of a box.
func checkBox(on bool) string {
	if on {
		return "☑"
	}
	return "☐"
}

// isShown reports whether text is displayed here. Field instructions and page numbers are not. Page numbers are
// those of Word's last layout, which differs from the pages rendered here.
func (p *parser) isShown() bool {
	for i := range p.fields {
		if !p.fields[i].result {
			return false
		}
		switch p.fields[i].name() {
		case "PAGE", "NUMPAGES", "SECTIONPAGES", "PAGEREF":
			return false
		}
	}
	return true
}

// name returns the first word of the instruction, in upper case: "HYPERLINK", "REF", "TOC".
func (f *field) name() string {
	name, _, _ := strings.Cut(strings.TrimSpace(f.instruction), " ")
	return strings.ToUpper(name)
}

// fieldLink returns the URL of the enclosing HYPERLINK field, "" without one. It is the first quoted word. Switches,
// such as \l for a place in the same file, are not links here.
func (p *parser) fieldLink() string {
	for i := range p.fields {
		if p.fields[i].name() != "HYPERLINK" {
			continue
		}
		_, rest, _ := strings.Cut(p.fields[i].instruction, `"`)
		address, _, _ := strings.Cut(rest, `"`)
		return address
	}
	return ""
}
