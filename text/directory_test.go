package text_test

import (
	"testing"

	"github.com/footnote/footnote/text"
)

func TestDirectory(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"a table of contents", "1 The roof . . . . . . 3\n1.1 Its slates and\nhow they are laid . . . . . 4\n" +
			"2 Cellar . . . . . . 5", true},
		{"an index", "packages apt, 37 apt-doc, 36 , 37 apt-file, 39 binutils, 27 debian-faq, 63 debian-goodies, " +
			"42–44 dpkg, 31, 33, 40 gcc, 19 zoo, 3", true},
		{"an index in lines",
			"apt, 3\nbinutils, 4\ncron, 5\ndpkg, 6\nemacs, 7\nfind, 8\ngcc, 9\nhurd, 10", true},
		{"text with a form in it", "Fill this in.\nName ........\nTown ........\nDate ........\nThen send the form " +
			"to the office in the town hall, where it is kept for as long as the law asks for it.", false},
		{"dates", "On March 3, 1999 the roof was laid. On May 4, 2001 it leaked, 2002 again, and in June, 2003 it " +
			"was mended. In July, 2004 it was sold, in August, 2005 let, in May, 2006 and in June, 2007 left as it " +
			"is, 2008 too.", false},
		{"values without order",
			"width, 3 height, 4 depth, 5 area, 6 weight, 7 age, 8 year, 9 colour, 1 size, 2 rim, 4", false},
		{"nothing", "", false},
	} {
		if got := text.Directory(tt.text); got != tt.want {
			t.Errorf("%s: Directory = %v, want %v", tt.name, got, tt.want)
		}
	}
}
