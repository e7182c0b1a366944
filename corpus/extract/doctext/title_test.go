package doctext

import "testing"

// Programs write a title into each file. One that names no content is no title, whatever the program's language.
func TestTitleOfProgramIsPlaceholder(t *testing.T) {
	for stated, want := range map[string]string{
		"Untitled":                                   "",
		"untitled-1":                                 "",
		"Unbenannt-1":                                "",
		"Document":                                   "",
		"Dokument2":                                  "",
		"Sheet (3)":                                  "",
		"Microsoft Word - Document1":                 "",
		"Microsoft Word - Mietvertrag.doc":           "",
		"Microsoft Office Word – Brief7":             "",
		"Microsoft PowerPoint - Slide 1":             "",
		`C:\Users\Ann\My Files\final`:                "",
		`\\server\share\lease`:                       "",
		"file:///tmp/print-0017":                     "",
		"/home/ann/tmp/out":                          "",
		"./build/index":                              "",
		"https://example.org/lease/7":                "",
		"Microsoft Word - Lease of the mill":         "Lease of the mill",
		"i-xx_Phobias-fm.indd":                       "",
		"IMG_1234.jpg":                               "",
		"PowerPoint-Präsentation":                    "",
		"Presentazione di PowerPoint":                "",
		"Node.js":                                    "Node.js",
		"Lease 7":                                    "Lease 7",
		"Lease":                                      "Lease",
		"Mill / lease":                               "Mill / lease",
		"The /etc directory":                         "The /etc directory",
		"Microsoft Word for beginners":               "Microsoft Word for beginners",
		"Apollo 11":                                  "Apollo 11",
		"A: one of two letters":                      "A: one of two letters",
		"Lease, version 2 (draft of the 3rd of May)": "Lease, version 2 (draft of the 3rd of May)",
	} {
		if got := Title(stated, "", "The lease of the mill ends when Apollo 11 lands on Node.js."); got != want {
			t.Errorf("Title(%q) = %q, want %q", stated, got, want)
		}
	}
}
