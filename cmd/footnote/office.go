package main

import (
	"footnote/cmd/footnote/settings"
	"footnote/corpus"
	"footnote/corpus/extract/office"
)

// officePages returns what draws Office files; nil if that is off.
func officePages(s *settings.Settings) corpus.Office {
	if !s.OfficePages {
		return nil
	}
	return office.New()
}

// checkOffice says whether Office files are drawn.
func checkOffice(set *settings.Settings) checkResult {
	f := checkResult{what: "pages of Office files", fine: "off: they are shown as text"}
	if set.OfficePages {
		program, err := office.Program()
		f.fine, f.err = "drawn by "+program, err
	}
	return f
}
