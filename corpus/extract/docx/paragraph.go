package docx

import (
	"encoding/xml"
	"strings"

	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// paragraph reads a p element (§17.3.1).
func (p *parser) paragraph() (*paragraph, error) {
	para := &paragraph{}
	err := p.inline(para, "")
	return para, err
}

// inline reads the content of a paragraph, or of an element inside it, whose text leads to link. Insertions are read as
// if they were accepted, and deletions are counted and left out. A simple field has its instruction in an attribute and
// its result inside. Elements that only group text, such as smart tags and content controls, are gone through.
func (p *parser) inline(to *paragraph, link string) error {
	return p.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "pPr":
			return p.paragraphProperties(to)
		case "r":
			return p.run(to, link)
		case "hyperlink":
			return p.inline(to, p.target(ooxml.Attr(e, "id"), link))
		case "fldSimple":
			// All that a simple field holds is its result, so that it begins with it.
			p.fields = append(p.fields, field{result: true})
			f := &p.fields[len(p.fields)-1]
			f.instruction.WriteString(ooxml.Attr(e, "instr"))
			err := p.inline(to, link)
			p.fields = p.fields[:max(len(p.fields)-1, 0)]
			return err
		case "ins", "moveTo", "smartTag", "sdt", "sdtContent", "customXml", "bdo", "dir", "oMathPara":
			return p.inline(to, link)
		case "oMath":
			return p.formula(to)
		case "del", "moveFrom":
			p.r.deleted++
			return p.d.Skip()
		case "AlternateContent":
			return p.alternative(func() error { return p.inline(to, link) })
		}
		return p.d.Skip()
	})
}

// paragraphProperties reads what a paragraph says of its structure. outlineLvl counts from 0, and 9 is body text. A
// tracked deletion of the paragraph's mark joins it with the next one.
func (p *parser) paragraphProperties(to *paragraph) error {
	return p.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "pStyle":
			to.style = ooxml.Attr(e, "val")
		case "outlineLvl":
			// Kept from 1, so that 0 is a paragraph that says nothing of it.
			to.outline = min(ooxml.IntAttr(e, "val", bodyText-1)+1, bodyText)
		case "numPr":
			return readListRef(p.d, &to.list)
		case "rPr":
			return p.d.Children(func(e xml.StartElement) error {
				if e.Name.Local == "del" || e.Name.Local == "moveFrom" {
					to.joined = true
				}
				return p.d.Skip()
			})
		}
		return p.d.Skip()
	})
}

// target is the address that a relation leads to, otherwise if it leads nowhere outside the file.
func (p *parser) target(id, otherwise string) string {
	if r, ok := p.relations[id]; ok && r.External {
		return r.Target
	}
	return otherwise
}

// run reads a run. Its properties come first. add takes text only where it is shown: not in hidden runs and not in
// instructions of fields. A page break is a space, since the text goes on behind it. Of a word with its reading above
// it (ruby) the word is kept. References to notes become their marks, raised.
func (p *parser) run(to *paragraph, link string) error {
	var form run
	hidden := false
	add := func(text string) {
		if hidden || text == "" || !p.isShown() {
			return
		}
		one := form
		one.text = text
		// A hyperlink element goes before a field around it.
		if one.link = link; link == "" {
			one.link = p.fieldLink()
		}
		to.runs = append(to.runs, one)
	}
	var content func(e xml.StartElement) error
	content = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "rPr":
			return p.runProperties(&form, &hidden)
		case "t":
			text, err := p.d.Text()
			add(text)
			return err
		case "tab", "ptab":
			add(" ")
		case "br", "cr":
			if kind := ooxml.Attr(e, "type"); kind == "" || kind == "textWrapping" {
				add("\n")
			} else {
				add(" ")
			}
		case "noBreakHyphen":
			// The hyphen where no line may break, U+2011.
			add("\u2011")
		case "sym":
			add(symbol(ooxml.Attr(e, "font"), ooxml.Attr(e, "char")))
		case "instrText":
			text, err := p.d.Text()
			// The instruction may be cut into several runs; it is bounded, as only the address in it is wanted.
			if n := len(p.fields); n > 0 && !p.fields[n-1].result && p.fields[n-1].instruction.Len() < maxInstruction {
				p.fields[n-1].instruction.WriteString(text)
			}
			return err
		case "fldChar":
			p.fieldChar(ooxml.Attr(e, "fldCharType"))
		case "footnoteReference", "endnoteReference":
			id := noteID{strings.TrimSuffix(e.Name.Local, "Reference"), ooxml.Attr(e, "id")}
			if mark := p.r.referTo(id, to); mark != "" && !hidden && p.isShown() {
				to.runs = append(to.runs, run{text: mark, raised: true})
			}
		case "commentReference":
			p.r.comments++
		case "ruby":
			return p.d.Children(func(e xml.StartElement) error {
				if e.Name.Local == "rubyBase" {
					return p.inline(to, link)
				}
				return p.d.Skip()
			})
		case "AlternateContent":
			return p.alternative(func() error { return p.d.Children(content) })
		case "drawing", "pict", "object":
			return p.boxes(to)
		}
		return p.d.Skip()
	}
	return p.d.Children(content)
}

// runProperties reads formatting that says something: emphasis and superscript. Hidden text (vanish) is hidden in print
// too; webHidden is so only in a browser, and is read.
func (p *parser) runProperties(form *run, hidden *bool) error {
	return p.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "b":
			form.bold = ooxml.IsOn(e)
		case "i":
			form.italic = ooxml.IsOn(e)
		case "vanish", "webHidden":
			*hidden = *hidden || ooxml.IsOn(e) && e.Name.Local == "vanish"
		case "vertAlign":
			form.raised = ooxml.Attr(e, "val") == "superscript"
		}
		return p.d.Skip()
	})
}

// boxes reads the text boxes of a drawing, and the words of its charts and diagrams. Boxes are written behind the
// paragraph in which they are anchored, as blocks of their own. A field that is open outside of a box does not reach
// into it, so that a box has a parser of its own.
func (p *parser) boxes(to *paragraph) error {
	return p.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "txbxContent":
			inner := parser{r: p.r, d: p.d, relations: p.relations}
			nodes, err := inner.collect()
			to.boxes = append(to.boxes, nodes...)
			return err
		case "AlternateContent":
			return p.alternative(func() error { return p.boxes(to) })
		case "graphicData":
			return p.d.Children(func(e xml.StartElement) error { return p.graphic(to, e) })
		}
		return p.boxes(to)
	})
}

// graphic reads the words of a chart or a diagram, or else the text boxes of a shape. Each line becomes a paragraph.
func (p *parser) graphic(to *paragraph, e xml.StartElement) error {
	lines, err := p.r.pack.GraphicLines(e, p.relations, true)
	if err != nil {
		return err
	}
	for _, line := range lines {
		to.boxes = append(to.boxes, node{paragraph: &paragraph{runs: []run{{text: line}}}})
	}
	return p.boxes(to)
}

// formula reads the text of a formula. It is the text in reading order, with "/" in fractions: 1/2 must not become 12
// (Office Math, chapter 22.1).
func (p *parser) formula(to *paragraph) error {
	return p.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "t":
			text, err := p.d.Text()
			to.runs = append(to.runs, run{text: text})
			return err
		case "f":
			first := true
			return p.d.Children(func(e xml.StartElement) error {
				if e.Name.Local != "num" && e.Name.Local != "den" {
					return p.d.Skip()
				}
				if !first {
					to.runs = append(to.runs, run{text: "/"})
				}
				first = false
				return p.formula(to)
			})
		case "rPr", "ctrlPr":
			return p.d.Skip()
		}
		return p.formula(to)
	})
}
