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

// checkOffice says whether Office files are drawn; nothing is said where that is off.
func checkOffice(set *settings) []checkResult {
	if !set.OfficePages {
		return nil
	}
	program, err := office.Program()
	return []checkResult{{what: "pages of Office files", fine: "drawn by " + program, err: err}}
}
