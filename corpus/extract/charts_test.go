package extract

import (
	"slices"
	"testing"

	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
)

// In a text and on a slide the values of a chart belong to its words: they stand nowhere else.
func TestTheWordsOfChartsAreReadInTextsAndSlides(t *testing.T) {
	const object = `<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>`
	cell := func(s string) string { return `<table:table-cell><text:p>` + s + `</text:p></table:table-cell>` }
	chart := `<office:document-content><office:body><office:chart><chart:chart><chart:title><text:p>Costs</text:p>` +
		`</chart:title><chart:plot-area><chart:axis><chart:categories/></chart:axis></chart:plot-area><table:table>` +
		`<table:table-row>` + cell("") + cell("Flat") + `</table:table-row><table:table-row>` + cell("2024") +
		cell("900") + `</table:table-row></table:table></chart:chart></office:chart></office:body>` +
		`</office:document-content>`
	opened := func(kind, body string) string {
		return packed(t, "mimetype", "application/vnd.oasis.opendocument."+kind, "content.xml",
			`<o:document-content><office:body><office:`+kind+`>`+body+`</office:`+kind+`></office:body>`+
				`</o:document-content>`, "Object 1/content.xml", chart)
	}
	drawn := func(inside string) string {
		return `<w:p><w:r><w:drawing><wp:inline><a:graphic><a:graphicData>` + inside + `</a:graphicData></a:graphic>` +
			`</wp:inline></w:drawing></w:r></w:p>`
	}
	for _, tt := range []struct {
		file, body string
		want       []string
	}{
		{"a.odt", opened("text", `<text:p>The roof`+object+`</text:p>`),
			[]string{"paragraph The roof", "paragraph Costs; Flat: 2024 900"}},
		{"a.odp", opened("presentation", `<draw:page>`+object+`</draw:page>`),
			[]string{"paragraph Costs", "paragraph Flat: 2024 900"}},
		{"a.docx", packed(t, "_rels/.rels", ooxmltest.Relations("m", "officeDocument", "word/document.xml"),
			"word/document.xml", `<w:document><w:body>`+drawn(`<c:chart r:id="c"/>`)+drawn(`<dgm:relIds r:dm="d"/>`)+
				`</w:body></w:document>`,
			"word/_rels/document.xml.rels", ooxmltest.Relations("c", "chart", "c.xml", "d", "diagramData", "d.xml"),
			"word/c.xml", `<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:t>Costs</a:t></a:p></c:rich></c:tx>`+
				`</c:title><c:plotArea><c:pieChart><c:ser><c:cat><c:v>2024</c:v></c:cat><c:val><c:v>900</c:v></c:val>`+
				`</c:ser></c:pieChart></c:plotArea></c:chart></c:chartSpace>`,
			"word/d.xml", `<dgm:dataModel><dgm:ptLst><dgm:pt><dgm:t><a:p><a:t>First the roof</a:t></a:p></dgm:t>`+
				`</dgm:pt></dgm:ptLst></dgm:dataModel>`),
			[]string{"paragraph Costs", "paragraph 2024 900", "paragraph First the roof"}},
	} {
		x, _, err := extractFile(t, tt.file, tt.body)
		if got := blockLines(x); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, blocks %q, want %q", tt.file, err, got, tt.want)
		}
	}
}
