package docx

import "strings"

const (
	// Fields of real files lie two or three in each other, such as a page number in a condition.
	maxFields      = 100  // in each other
	maxInstruction = 4000 // bytes
)

// fieldChar begins a field, turns to its result, or ends it. A complex field (§17.16.18) is three of these characters
// in different runs, with its instruction between the first two and its result between the last two. It may go on over
// several paragraphs, which is why the parser keeps it. An end without a beginning does nothing.
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

// isShown reports whether text is shown here: no field's instruction, and no page number. Page numbers are those of
// Word's last layout, which is not that of the pages shown here.
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

// name is the first word of the instruction, in capitals: "HYPERLINK", "REF", "TOC".
func (f *field) name() string {
	name, _, _ := strings.Cut(strings.TrimSpace(f.instruction.String()), " ")
	return strings.ToUpper(name)
}

// fieldLink is the address of the field HYPERLINK that text is the result of. The address is the first word in
// quotation marks; switches such as \l for a place in the same file are not links here.
func (p *parser) fieldLink() string {
	for i := range p.fields {
		if p.fields[i].name() != "HYPERLINK" {
			continue
		}
		_, rest, _ := strings.Cut(p.fields[i].instruction.String(), `"`)
		address, _, _ := strings.Cut(rest, `"`)
		return address
	}
	return ""
}
