package ooxml

import (
	"encoding/xml"
	"strings"

	"github.com/footnote/footnote/corpus/extract/doctext"
)

// Formula returns the current element, a formula of Office Math (chapter 22.1), in one line, as in "P=I²R". 10² must
// not become 102, and 1/2 not 12. It reads the element to its end.
func (d *Decoder) Formula() (string, error) { return d.operand("oMath") }

// operand returns the part of a formula whose element has a name.
func (d *Decoder) operand(name string) (string, error) {
	properties := map[string]string{} // by name: those that change what is displayed
	parts := map[string][]string{}    // by the names of the child elements
	var all []string
	err := d.Children(func(e xml.StartElement) (err error) {
		child, part := e.Name.Local, ""
		switch {
		case child == "del" || child == "moveFrom": // tracked deletions
			return d.Skip()
		case child == "t":
			part, err = d.Text()
		case strings.HasSuffix(child, "Pr"):
			return d.Children(func(e xml.StartElement) error {
				properties[e.Name.Local] = Attr(e, "val")
				return d.Skip()
			})
		default:
			part, err = d.operand(child)
		}
		parts[child], all = append(parts[child], part), append(all, part)
		return err
	})
	first := func(child string) string {
		if len(parts[child]) == 0 {
			return ""
		}
		return parts[child][0]
	}
	property := func(name, otherwise string) string {
		if said, ok := properties[name]; ok {
			return said
		}
		return otherwise
	}
	base := first("e")
	below, above := doctext.Lowered(first("sub")+first("lim")), doctext.Raised(first("sup"))
	switch name {
	case "f":
		return doctext.Grouped(first("num")) + "/" + doctext.Grouped(first("den")), err
	case "sSup":
		return doctext.Grouped(base) + above, err
	case "limUpp":
		return base + doctext.Raised(first("lim")), err
	case "sSub", "sSubSup", "limLow":
		return base + below + above, err
	case "sPre":
		return below + above + base, err
	case "rad":
		return doctext.Raised(first("deg")) + "√" + doctext.Grouped(base), err
	case "nary":
		return property("chr", "∫") + below + above + " " + base, err
	case "func":
		return strings.TrimSpace(first("fName")) + " " + base, err
	case "d":
		inner := strings.Join(parts["e"], property("sepChr", "|"))
		return property("begChr", "(") + inner + property("endChr", ")"), err
	case "mr":
		return strings.Join(all, " "), err
	case "m", "eqArr":
		return strings.Join(all, "; "), err
	}
	return strings.Join(all, ""), err
}
