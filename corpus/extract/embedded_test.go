package extract

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
)

// Reports of other programs embed each part as HTML, RTF or a saved page (altChunk).
func TestWordFileWithEmbeddedDocuments(t *testing.T) {
	const body = `<w:document xmlns:w="w" xmlns:r="r"><w:body><w:p><w:r><w:t>Before</w:t></w:r></w:p>` +
		`<w:altChunk r:id="a"/><w:p><w:r><w:t>After</w:t></w:r></w:p></w:body></w:document>`
	for _, tt := range []struct {
		name, data string
		want       []string
	}{
		{"a.html", "<html><body><h2>Finding</h2><p>Short by <b>418</b>.</p><table><tr><th>Week<th>Missing<tr><td>12" +
			"<td>90</table><ul><li>one</ul></body></html>", []string{"paragraph: Before", "heading2: Finding",
			"paragraph in Finding: Short by 418.",
			"table in Finding: Week | Missing\n12 | 90 [Week;Missing] [12;90]",
			"paragraph in Finding: one", "paragraph in Finding: After"}},
		{"a.htm", "<p>Caf\xe9</p>", []string{"paragraph: Before", "paragraph: Café", "paragraph: After"}},
		{"a.rtf", `{\rtf1\ansi Caf\'e9\par Two\par}`, []string{"paragraph: Before", "paragraph: Café", "paragraph: Two",
			"paragraph: After"}},
		{"a.mht", "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=\"--b\"\n\n----b\nContent-Type: " +
			"text/html;" +
			" charset=\"utf-8\"\nContent-Transfer-Encoding: quoted-printable\n\n<p>Caf=C3=A9</p>\n----b--\n",
			[]string{"paragraph: Before", "paragraph: Café", "paragraph: After"}},
		{"a.txt", "Plain <text>.", []string{"paragraph: Before", "paragraph: Plain <text>.", "paragraph: After"}},
	} {
		path := ooxmltest.Write(t, "a.docx", "word/document.xml", ooxmltest.Parts{
			"word/document.xml": body, "word/" + tt.name: tt.data,
			"word/_rels/document.xml.rels": ooxmltest.Relations("a", "aFChunk", tt.name),
		})
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, describe(mustExtract(t, "a.docx", string(data)))); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}
