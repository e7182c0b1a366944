package docx

import (
	"encoding/xml"
	"strings"

	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// paragraph parses a p element (§17.3.1).
func (p *parser) paragraph() (*paragraph, error) {
	para := &paragraph{}
	err := p.inline(para, "")
	return para, err
}

// inline parses the content of a paragraph, or of an element inside it. link is the link of its text. Insertions are
// read as accepted, and deletions are counted and skipped. A simple field has its instruction in an attribute and
// its result inside. It descends into grouping elements, such as smart tags and content controls.
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
			// A simple field contains only its result.
			p.fields = append(p.fields, field{instruction: ooxml.Attr(e, "instr"), result: true})
			err := p.inline(to, link)
			p.fields = p.fields[:max(len(p.fields)-1, 0)]
			return err
		case "sdt":
			return p.control(to, link)
		case "ins", "moveTo", "smartTag", "sdtContent", "customXml", "bdo", "dir", "oMathPara":
			return p.inline(to, link)
		case "oMath":
			text, err := p.d.Formula()
			to.runs = append(to.runs, run{text: text})
			return err
		case "del", "moveFrom":
			p.r.deleted++
			return p.d.Skip()
		case "altChunk":
			to.boxes = append(to.boxes, p.chunk(e)...)
		case "AlternateContent":
			return p.alternative(func() error { return p.inline(to, link) })
		}
		return p.d.Skip()
	})
}

// control parses a content control (§17.5.2). A check box whose character is not known is written as its state.
func (p *parser) control(to *paragraph, link string) error {
	box, before := "", len(to.runs)
	err := p.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "sdtContent":
			return p.inline(to, link)
		case "sdtPr":
			return p.d.Children(func(e xml.StartElement) error {
				if e.Name.Local != "checkbox" {
					return p.d.Skip()
				}
				box = checkBox(false)
				return p.d.Children(func(e xml.StartElement) error {
					if e.Name.Local == "checked" {
						box = checkBox(ooxml.IsOn(e))
					}
					return p.d.Skip()
				})
			})
		}
		return p.d.Skip()
	})
	if content := (&paragraph{runs: to.runs[before:]}); box != "" && content.isBlank() {
		to.runs = append(to.runs, run{text: box})
	}
	return err
}

// paragraphProperties parses the structure properties of a paragraph. outlineLvl starts at 0, and 9 is body text. A
// tracked deletion of the paragraph mark joins the paragraph with the next one.
func (p *parser) paragraphProperties(to *paragraph) error {
	return p.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "pStyle":
			to.style = ooxml.Attr(e, "val")
		case "outlineLvl":
			// Stored from 1, so that 0 means that it is not set.
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

// target returns the external URL of a relationship, else otherwise.
func (p *parser) target(id, otherwise string) string {
	if r, ok := p.relations[id]; ok && r.External {
		return r.Target
	}
	return otherwise
}

// run parses a run. Its properties are first. add appends text only where it is displayed: not in hidden runs and
// field instructions. A page break becomes a space, since the text continues after it. Of ruby text the base is
// read. References to notes become superscript numbers.
func (p *parser) run(to *paragraph, link string) error {
	var form run
	hidden := false
	add := func(text string) {
		if hidden || text == "" || !p.isShown() {
			return
		}
		one := form
		one.text = text
		for i := range p.fields {
			p.fields[i].shown = "" // it has a result
		}
		// A hyperlink element takes precedence over an enclosing field.
		if one.link = link; link == "" {
			one.link = p.fieldLink()
		}
		to.runs = append(to.runs, one)
	}
	var content func(e xml.StartElement) error
	content = func(e xml.StartElement) (err error) {
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
			// The non-breaking hyphen, U+2011.
			add("\u2011")
		case "sym":
			add(symbol(ooxml.Attr(e, "font"), ooxml.Attr(e, "char")))
		case "instrText":
			text, err := p.d.Text()
			// The instruction may be split into several runs; it is bounded, as only its URL is needed.
			if n := len(p.fields); n > 0 && !p.fields[n-1].result && len(p.fields[n-1].instruction) < maxInstruction {
				p.fields[n-1].instruction += text
			}
			return err
		case "fldChar":
			kind, shown := ooxml.Attr(e, "fldCharType"), ""
			if n := len(p.fields); kind == "end" && n > 0 {
				shown = p.fields[n-1].shown
			}
			p.fieldChar(kind)
			add(shown)
			if n := len(p.fields); kind == "begin" && n > 0 {
				p.fields[n-1].shown, err = p.formField()
				return err
			}
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

// runProperties parses formatting with meaning: emphasis and superscript. Hidden text (vanish) is hidden in print
// too; webHidden is hidden only in a browser, and is read.
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

// boxes parses the text boxes of a drawing, and the words of its charts and diagrams. Boxes are written as separate
// blocks after the paragraph that anchors them. An open field does not extend into a box, so that a box has a
// separate parser.
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

// graphic parses the words of a chart or a diagram, else the text boxes of a shape. Each line becomes a paragraph.
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
