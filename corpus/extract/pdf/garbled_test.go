package pdf_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
)

func TestScansWithGarbledTextNeedOCR(t *testing.T) {
	var picture bytes.Buffer
	if err := jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 60, 80)), nil); err != nil {
		t.Fatal(err)
	}
	prose := []string{
		"The roof was replaced in the spring of last year and has a",
		"warranty of thirty years. The walls are dry, as Mr O'Neill",
		"said on 4 May 2026, and the cellar, 12.5 metres long, is too.",
	}
	polish := []string{
		"Dach wymieniono wiosna zeszlego roku i ma on gwarancje na",
		"trzydziesci lat. Sciany sa suche, jak powiedzial pan",
		"Nowak w maju, a piwnica ma dwanascie metrow i jest sucha.",
	}
	shifted := func(lines []string) (all []string) {
		for _, l := range lines {
			all = append(all, strings.Map(func(r rune) rune {
				switch {
				case r >= 'a' && r <= 'z':
					return 'a' + (r-'a'+10)%26
				case r >= 'A' && r <= 'Z':
					return 'A' + (r-'A'+10)%26
				}
				return r
			}, l))
		}
		return all
	}
	mixed := []string{
		"Tb3 r0*f w@s rep|ac3d 1n tl~e spr1ng 0f lasT yeAr a^d h@s a",
		"w4rr%nty 0f tHirTy y3ars. Tl-1e wa11s aR3 dr~, ^s lVlr",
	}
	reader := newReader(t, nil)
	for _, tt := range []struct {
		name    string
		lines   []string
		picture []byte
		want    bool
	}{
		{"text", prose, picture.Bytes(), false},
		{"text in another language", polish, picture.Bytes(), false},
		{"letters that are others", shifted(prose), picture.Bytes(), true},
		{"letters, digits and marks", mixed, picture.Bytes(), true},
		{"without a picture", mixed, nil, false},
	} {
		content := "BT 3 Tr ET " + pdftest.Para(50, 700, tt.lines...)
		x := mustExtract(t, reader, pdftest.Document("", pdftest.Sheet{Content: content, Picture: tt.picture},
			pdftest.Sheet{Content: pdftest.Para(50, 700, prose...)}))
		if got := len(x.Scans) == 1 && x.Scans[0] == 1; got != tt.want || len(x.Scans) > 1 {
			t.Errorf("%s: scans = %v, want the first page: %v", tt.name, x.Scans, tt.want)
		}
	}
}
