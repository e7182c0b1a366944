package docx

import "strings"

const (
	maxFields      = 100  // in each other
	maxInstruction = 4000 // bytes
)

// fieldChar begins a field, turns to its result, or ends it.
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

// isShown reports whether text is shown here: no field's instruction, and no page number.
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

func (f *field) name() string {
	name, _, _ := strings.Cut(strings.TrimSpace(f.instruction.String()), " ")
	return strings.ToUpper(name)
}

// fieldLink is the address of the field HYPERLINK that text is the result of.
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
