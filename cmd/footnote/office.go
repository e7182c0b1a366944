package main

import (
	"footnote/corpus"
	"footnote/corpus/extract/office"
)

// officeSettings say how Office files are shown.
type officeSettings struct {
	OfficePages bool `name:"office-pages" help:"Show Office files as they are printed, beside their text: LibreOffice (soffice) draws them, if it is on the PATH." env:"FOOTNOTE_OFFICE_PAGES"`
}

// officePages returns what draws Office files; nil if that is off.
func (s *officeSettings) officePages() corpus.Office {
	if !s.OfficePages {
		return nil
	}
	return office.New()
}

// checkOffice says whether Office files are drawn.
func checkOffice(set *settings) checkResult {
	f := checkResult{what: "pages of Office files", fine: "off: they are shown as text"}
	if set.OfficePages {
		program, err := office.Program()
		f.fine, f.err = "drawn by "+program, err
	}
	return f
}
