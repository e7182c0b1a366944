package extract

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
)

const sampleMail = `From: =?utf-8?q?Ren=C3=A9e_Harrow?= <renee@example.com>
To: Judith <judith@example.com>
Date: Wed, 4 Mar 2026 10:15:00 +0100
Subject: =?iso-8859-1?q?Re:_Roof_f=FCr_May?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Dear Judith,

the slates cost 4=2E500 =A4 f=FCr alles.

> What did the slates cost?
>> And the gutter?

-- =20
Harrow Ltd
--inner
Content-Type: text/html

<p>not this one</p>
--inner--
--outer
Content-Type: text/csv; name="prices.csv"
Content-Disposition: attachment; filename="prices.csv"
Content-Transfer-Encoding: base64

aXRlbSxwcmljZQpzbGF0ZSw0NTAwCg==
--outer
Content-Type: application/octet-stream
Content-Disposition: attachment; filename="../../prices.csv"

other
--outer--
`

// extractFile reads a file of that name, with a directory for its members.
func extractFile(t *testing.T, name, body string) (corpus.Extracted, string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "original")
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	inside := t.TempDir()
	x, err := New(nil, nil).Extract(t.Context(), corpus.File{
		Path: path, Filename: name, Bytes: int64(len(body)), Members: inside,
	}, nil)
	if err == nil {
		if err := doctext.Check(x); err != nil {
			t.Fatal(err)
		}
	}
	return x, inside, err
}

// blockLines formats the blocks of a text, one per line.
func blockLines(x corpus.Extracted) (lines []string) {
	for _, b := range x.Blocks {
		quoted := ""
		if b.Quote {
			quoted = "> "
		}
		lines = append(lines, string(b.Kind)+" "+quoted+doctext.Slice(x.Text, b.Start, b.End))
	}
	return lines
}

func TestMailIncludesTextHeaderAndAttachments(t *testing.T) {
	x, inside, err := extractFile(t, "roof.eml", sampleMail)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"heading Re: Roof für May, 4 March 2026",
		`row From: Renée Harrow <renee@example.com> · To: Judith <judith@example.com> · ` +
			`Date: Wed, 4 Mar 2026 10:15 +0100 · Subject: Re: Roof für May`,
		"paragraph Dear Judith,", "paragraph the slates cost 4.500 ¤ für alles.",
		"paragraph > What did the slates cost?\nAnd the gutter?", "paragraph Harrow Ltd",
		"row Attachments: prices.csv, prices.csv",
	}
	if diff := cmp.Diff(want, blockLines(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if x.Title != "Re: Roof für May" || x.Meta["date"] != "2026-03-04" {
		t.Errorf("title %q, date %v; want the subject and 2026-03-04", x.Title, x.Meta["date"])
	}
	files := map[string]string{}
	for _, m := range x.Members {
		body, err := os.ReadFile(filepath.Join(inside, m.File))
		if err != nil {
			t.Fatal(err)
		}
		files[m.Path] = strings.TrimSpace(string(body))
	}
	if diff := cmp.Diff(
		map[string]string{"prices.csv": "item,price\nslate,4500", "1-2/prices.csv": "other"},
		files,
	); diff != "" {
		t.Errorf("files inside (-want +got):\n%s", diff)
	}
}

func TestMailWithoutTextUsesHTML(t *testing.T) {
	x, _, err := extractFile(t, "a.eml", "From: a@example.com\nSubject: Hi\nContent-Type: text/html; charset=utf-8\n\n"+
		"<style>p{}</style><p>The <b>roof</b> is dry.<img src=\"https://example.com/pixel\"></p><script>1</script>")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"heading Hi", "row From: a@example.com · Subject: Hi", "paragraph The roof is dry."}
	if diff := cmp.Diff(want, blockLines(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestDamagedMailsArePartlyRead(t *testing.T) {
	for name, mail := range map[string]string{
		"a line that is no header":    "no header\nX Y: z\n\nIt is dry.",
		"a header of 2 MB":            "X-A: " + strings.Repeat("a", 2<<20) + "\n\nIt is dry.",
		"other characters in base64":  "Content-Transfer-Encoding: base64 \n\nSXQg-aXMg\n ZHJ5Lg==",
		"base64 that breaks off":      "Content-Transfer-Encoding: base64\n\nSXQgaXMgZHJ5LgoKS",
		"an invalid parameter":        "Content-Type: text/html; name=a b\n\n<p>It is dry.",
		"parts that are not declared": "Content-Type: multipart/mixed\n\nIt is dry.",
	} {
		mail = "Subject: Roof\n" + strings.Replace(mail, "\n\n", "\nFrom: a@example.com\n\n", 1)
		x, _, err := extractFile(t, "a.eml", mail)
		want := []string{"heading Roof", "row From: a@example.com · Subject: Roof", "paragraph It is dry."}
		if diff := cmp.Diff(want, blockLines(x)); err != nil || diff != "" {
			t.Errorf("%s: %v, blocks (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestMailboxIsSplitIntoMails(t *testing.T) {
	var box strings.Builder
	for i := range 3 {
		fmt.Fprintf(
			&box,
			"From sender Mon Jun 01 10:00:00 2009\nSubject: Letter %d\n\nBody %d\n>From here on\n\n",
			i+1,
			i+1,
		)
	}
	x, _, err := extractFile(t, "letters.mbox", box.String())
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 3 {
		want = append(want, fmt.Sprintf("heading Letter %d", i+1), fmt.Sprintf("row Subject: Letter %d", i+1),
			fmt.Sprintf("paragraph Body %d\nFrom here on", i+1))
	}
	if diff := cmp.Diff(want, blockLines(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestBrokenMailsUseBoundedMemory(t *testing.T) {
	deep := "Subject: deep\n"
	for i := range 2000 {
		deep += fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	for name, body := range map[string]string{
		"parts in each other": deep,
		"a part that never ends": "Subject: cut\nContent-Type: multipart/mixed; " +
			"boundary=x\n\n--x\nContent-Type: text/plain\n\nhalf",
		"an encoding that is none": "Subject: =?nonsense?q?a?=\nContent-Transfer-Encoding: uucode\n\ntext",
		"a thousand empty parts": "Subject: many\nContent-Type: multipart/mixed; " +
			"boundary=x\n\n" + strings.Repeat("--x\n\n", 1000),
		"a header of a million runs": "Subject: " + strings.Repeat("=?utf-8?q?a?= ", 100_000) + "\n\ntext",
	} {
		t.Run(name, func(t *testing.T) {
			x, _, err := extractFile(t, "a.eml", body)
			if err != nil && !strings.Contains(err.Error(), "This ") {
				t.Errorf("error = %v, want a sentence about the file", err)
			}
			if len(x.Text) > 20_000 {
				t.Errorf("%d bytes of text, want less than there was", len(x.Text))
			}
		})
	}
}

// In a text and on a slide the words of a chart include its values, which are nowhere else.
func TestChartWordsAreReadFromTextsAndSlides(t *testing.T) {
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

// packed returns a ZIP archive of parts: name, content, name, content… The first part is not compressed.
func packed(t testing.TB, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for i, part := range slices.Collect(slices.Chunk(parts, 2)) {
		method := zip.Deflate
		if i == 0 {
			method = zip.Store
		}
		w, err := archive.CreateHeader(&zip.FileHeader{Name: part[0], Method: method})
		if err == nil {
			_, err = w.Write([]byte(part[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func openDocument(t testing.TB, kind, styles, body string) string {
	return packed(
		t,
		"mimetype",
		"application/vnd.oasis.opendocument."+kind,
		"content.xml",
		`<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d" xmlns:style="s">`+
			`<office:automatic-styles>`+
			styles+`</office:automatic-styles><office:body><office:`+kind+`>`+body+`</office:`+kind+`></office:body`+
			`></office:document-content>`,
		"meta.xml",
		`<office:document-meta xmlns:office="o" xmlns:dc="dc"><office:meta><dc:creator>R. Harrow</dc:creator>`+
			`</office:meta></office:document-meta>`,
	)
}

func TestEverydayFilesReadAsDisplayed(t *testing.T) {
	list := `<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" ` +
		`style:num-suffix="."/>` +
		`<text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")" ` +
		`text:display-levels="2"/></text:list-style>` +
		`<style:style style:name="P1" style:parent-style-name="Title"/>`
	for _, tt := range []struct {
		name, file string
		body       string
		want       []string
	}{
		{"an OpenDocument text", "lease.odt", openDocument(t, "text", list,
			`<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p text:style-name="P1">The `+
				`lease</text:p>`+
				`<text:h text:outline-level="1">Repairs</text:h>`+
				`<text:p>The roof<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>of `+
				`slate</text:p></text:note-body></text:note> is<text:s text:c="3"/>dry.</text:p>`+
				`<text:list text:style-name="L1"><text:list-item><text:p>one</text:p><text:list><text:list-item>`+
				`<text:p>deeper</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>`+
				`two</text:p><text:p>still two</text:p></text:list-item></text:list>`+
				`<table:table><table:table-row><table:table-cell><text:p>Room</text:p></table:table-cell>`+
				`<table:table-cell><text:p>Size</text:p></table:table-cell></table:table-row></table:table>`),
			[]string{"heading The lease", "heading Repairs", "paragraph The roof¹ is dry.", "paragraph ¹ of " +
				"slate", "list 1. one",
				"list 1.a) deeper", "list 2. two", "paragraph still two", "table Room | Size"}},
		{"an OpenDocument presentation", "talk.odp", openDocument(t, "presentation", "",
			`<draw:page><draw:frame presentation:class="outline"><draw:text-box><text:p>Slate lasts.</text:p>`+
				`</draw:text-box></draw:frame></draw:page>`+
				`<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>The roof</text:p>`+
				`</draw:text-box></draw:frame><presentation:notes><draw:frame><draw:text-box><text:p>Slowly`+
				`</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>`),
			[]string{"paragraph Slate lasts.", "heading The roof", "heading Notes", "paragraph Slowly"}},
		{"rich text", "lease.rtf", `{\rtf1\ansi\ansicpg1251\uc1{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 ` +
			`Arial;}}{\stylesheet{\s1\outlinelevel0 heading 1;}}` +
			`{\info{\title The lease}}\pard\s1\outlinelevel0 Repairs\par\pard {\f1 \'ca\'f0\'fb\'f8\'e0} is ` +
			`\u8220?dry\u8221? \b now\b0{\footnote of slate}.\par` +
			`{\listtext\f0 1.\tab}The first\par\pard{\v hidden}{\field{\*\fldinst{HYPERLINK ` +
			`"https://example.com/a"}}{\fldrslt the deed}}\par` +
			`\trowd\pard\intbl Room\cell Size\cell\row\trowd\pard\intbl Hall\cell 12\cell\row\pard{\*\unknown not ` +
			`this}The end\par{\pict 0102}}`,
			[]string{"heading Repairs", "paragraph Крыша is “dry” now¹.", "paragraph ¹ of slate", "list 1. The first",
				"paragraph the deed", "table Room | Size\nHall | 12", "paragraph The end"}},
		{"a book", "book.epub", packed(t, "mimetype", "application/epub+zip",
			"META-INF/container.xml", `<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles>`+
				`</container>`,
			"OPS/book.opf", `<package><metadata><dc:title>The sea</dc:title><dc:creator>J. Conrad</dc:creator>`+
				`</metadata><manifest>`+
				`<item id="n" href="nav.xhtml" properties="nav"/><item id="b" href="two%20words.xhtml"/><item `+
				`id="a" href="one.xhtml"/></manifest>`+
				`<spine><itemref idref="a"/><itemref idref="b"/></spine></package>`,
			"OPS/nav.xhtml", `<html><body><nav><ol><li><a href="one.xhtml">One</a></li><li><a `+
				`href="two%20words.xhtml#x">The storm</a></li></ol></nav></body></html>`,
			"OPS/one.xhtml", `<html><body><h1>The calm</h1><p>It was calm.</p></body></html>`,
			"OPS/two words.xhtml", `<html><body><p>It blew.</p></body></html>`),
			[]string{"heading The calm", "paragraph It was calm.", "heading The storm", "paragraph It blew."}},
		{"data", "a.json", "{\n  \"roof\": \"dry\",\n\n  \"walls\": 4\n}\n",
			[]string{"code {\n  \"roof\": \"dry\",\n\n  \"walls\": 4\n}"}},
		{"a notebook", "a.ipynb", `{"cells":[{"cell_type":"markdown","source":["# Rent\n","\n","It *rose*."]},` +
			`{"cell_type":"code","source":"1+1","outputs":[{"data":{"text/plain":["2"]}}]}]}`,
			[]string{"heading Rent", "paragraph It rose.", "code 1+1", "code 2"}},
		{"a calendar", "a.ics", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Roof\\, gutter\r\nDTSTART;" +
			"TZID=Europe/London:20260304T101500\r\nUID:1\r\nDESCRIPTION:Bring the\r\n  " +
			"ladder\r\nBEGIN:VALARM\r\nDESCRIPTION:alarm\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
			[]string{"heading Roof, gutter", "row Name: Roof, gutter · Start: 2026-03-04 10:15 (Europe/London) · " +
				"Description: Bring the ladder"}},
		{"an address book", "a.vcf", "BEGIN:VCARD\nVERSION:3.0\nFN:Renée Harrow\nitem1.EMAIL;" +
			"TYPE=work:r@example.com\nADR:;;1 Mill Lane;Leeds;;;UK\nEND:VCARD\n",
			[]string{"heading Renée Harrow",
				"row Name: Renée Harrow · Mail: r@example.com · Address: 1 Mill Lane, Leeds, UK"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, _, err := extractFile(t, tt.file, tt.body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, blockLines(x)); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
			mime, err := Formats.Sniff([]byte(tt.body[:min(len(tt.body), corpus.SniffBytes)]), tt.file)
			if f, _ := Formats.ByExtension(tt.file); err != nil || mime != f.MIME {
				t.Errorf("Sniff = %q, %v; want %q", mime, err, f.MIME)
			}
		})
	}
}

func TestLineNumbersAreKept(t *testing.T) {
	var src strings.Builder
	for range 100 {
		src.WriteString("key: value\n\n")
	}
	x, _, err := extractFile(t, "a.yaml", src.String())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(src.String(), "\n")
	for _, b := range x.Blocks {
		if got := lines[b.Line-1]; got != "key: value" {
			t.Errorf("block %s begins with line %d, %q; want a line with words", b.ID, b.Line, got)
		}
	}
	if len(x.Blocks) < 3 {
		t.Errorf("%d blocks, want several", len(x.Blocks))
	}
}

func TestHostileEverydayFilesFailWithMessage(t *testing.T) {
	for _, tt := range []struct{ name, file, body, code string }{
		{"rich text in too many groups", "a.rtf", `{\rtf1` + strings.Repeat("{", 5000), "broken"},
		{"rich text of nothing", "a.rtf", `{\rtf1\ansi {\pict 00}}`, "no_text"},
		{"an encrypted " +
			"text", "a.odt", packed(t, "mimetype", "application/vnd.oasis.opendocument.text", "content.xml", "x",
			"META-INF/manifest.xml", `<manifest><file-entry><encryption-data/></file-entry></manifest>`), "encrypted"},
		{"a text without content", "a.odt", packed(t, "mimetype", "application/vnd.oasis.opendocument.text"), "broken"},
		{"a text with an entity", "a.odt", openDocument(t, "text", "", "<text:p>&x;</text:p>"), "broken"},
		{"a book without a package", "a.epub", packed(t, "mimetype", "application/epub+zip"), "broken"},
		{"a book that names itself", "a.epub", packed(t, "mimetype", "application/epub+zip",
			"META-INF/container.xml", `<c><r><rootfile full-path="META-INF/container.xml"/></r></c>`), "no_text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := extractFile(t, tt.file, tt.body)
			failure, ok := errors.AsType[*corpus.Failure](err)
			if !ok || failure.Code != tt.code {
				t.Errorf("error = %v, want a failure with the code %s", err, tt.code)
			}
		})
	}
}

func FuzzEverydayFiles(f *testing.F) {
	for _, seed := range []string{
		`{\rtf1\ansi\uc1 \u8220?a\'e4 {\field{\*\fldinst HYPERLINK "https://a.b"}{\fldrslt b}}\trowd\cell\row}`,
		"Subject: a\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nb\n--x--", "BEGIN:VCARD\nFN:a\nEND:VCARD",
		"From a\nSubject: b\n\nc\nFrom d\n\n", `{"cells":[{"cell_type":"code","source":1}]}`,
	} {
		for _, name := range []string{"a.rtf", "a.eml", "a.vcf", "a.mbox", "a.ipynb"} {
			f.Add(name, seed)
		}
	}
	f.Fuzz(func(t *testing.T, name, body string) {
		if len(name) > 40 || len(body) > 64<<10 || strings.ContainsAny(name, "/\x00") {
			return
		}
		_, _, err := extractFile(t, name, body)
		if failure, ok := errors.AsType[*corpus.Failure](err); err != nil && (!ok || failure.Detail == "") {
			t.Errorf("%q fails with %v, want a sentence", name, err)
		}
	})
}

// The numbers are those that LibreOffice displays.
func TestListNumbersMatchLibreOffice(t *testing.T) {
	level := func(n, rest string) string {
		return `<text:list-level-style-number text:level="` + n + `" ` + rest + `/>`
	}
	styles := `<text:list-style style:name="L">` + level("1", `style:num-format="1" style:num-suffix="."`) +
		level("2", `style:num-format="1" text:display-levels="2"`) +
		level("3", `style:num-format="a" loext:num-list-format="%1%-%2%-%3%)"`) + `</text:list-style>` +
		`<text:list-style style:name="M">` +
		level("1", `style:num-format="A" style:num-letter-sync="true" text:start-value="27"`) +
		level("2", `style:num-format="01, 02, 03, ..."`) + `</text:list-style>` +
		`<text:outline-style style:name="Outline">` + level("1", `style:num-format="I" style:num-suffix="."`) +
		`</text:outline-style>`
	list := func(how string, items ...string) string {
		return `<text:list ` + how + `>` + strings.Join(items, "") + `</text:list>`
	}
	item := func(inside string) string { return `<text:list-item>` + inside + `</text:list-item>` }
	p := func(text string) string { return `<text:p>` + text + `</text:p>` }
	const own, other = `text:style-name="L"`, `text:style-name="M"`
	for _, tt := range []struct {
		name, file, body string
		want             []string
	}{
		{"a list that goes on behind another", "a.odt", openDocument(t, "text", styles,
			list(`xml:id="x" `+own, item(p("a")), item(p("b")))+list(other, item(p("c"))+item(p("d")))+
				list(`text:continue-list="x" `+own, item(p("e")))+p("f")+
				list(`text:continue-numbering="true" `+own, item(p("g")))+list(own, item(p("h")))),
			[]string{"list 1. a", "list 2. b", "list AA c", "list BB d", "list 3. e", "paragraph f", "list 4. g",
				"list 1. h"}},
		{"levels that go on, and one that nothing stands in", "a.odt", openDocument(t, "text", styles,
			list(own, item(list("", item(p("a")), item(p("b")))))+
				list(`text:continue-numbering="true" `+own, item(list("", item(p("c")+list("", item(p("d"))))))+
					item(p("e")+list("", item(p("f")))))),
			[]string{"list 1.1 a", "list 1.2 b", "list 1.3 c", "list 1-3-a) d", "list 2. e", "list 2.1 f"}},
		{"an item of another style, an empty one and a number of its own", "a.odt", openDocument(t, "text", styles,
			list(own, item(p("a")), `<text:list-item text:style-override="M">`+p("b")+`</text:list-item>`, item(p("")),
				item(p("c")+p("d")), `<text:list-item text:start-value="9">`+p("e")+`</text:list-item>`)),
			[]string{"list 1. a", "list B b", "list 4. c", "paragraph d", "list 9. e"}},
		{"headings, and a list in a table", "a.odt", openDocument(t, "text", styles,
			`<text:h text:outline-level="1">a</text:h><text:h text:outline-level="1" text:is-list-header="true">b`+
				`</text:h><text:h text:outline-level="1">c</text:h><table:table><table:table-row><table:table-cell>`+
				list(own, item(p("d")), item(p("e")))+`</table:table-cell><table:table-cell>`+p("f")+
				`</table:table-cell></table:table-row></table:table>`),
			[]string{"heading I. a", "heading b", "heading II. c", "table 1. d 2. e | f"}},
		{"rich text with bare numbers and bullets", "a.rtf", `{\rtf1{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset2 ` +
			`Wingdings;}}{\listtext\f0 1\tab}one\par{\listtext\f0 B\tab}two\par{\listtext\f0 o\tab}three\par` +
			`{\listtext\f1 l\tab}four\par}`,
			[]string{"list 1 one", "list B two", "list three", "list four"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, _, err := extractFile(t, tt.file, tt.body)
			if diff := cmp.Diff(tt.want, blockLines(x)); err != nil || diff != "" {
				t.Errorf("%v, blocks (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Browsers save a page with its pictures as one mail.
func TestMHTMLIsPage(t *testing.T) {
	const chrome = "From: <Saved by Blink>\r\nSnapshot-Content-Location: https://example.org/tide\r\n" +
		"Subject: =?utf-8?Q?Tide=20page?=\r\nDate: Tue, 3 Mar 2026 09:12:00 -0000\r\nMIME-Version: 1.0\r\n" +
		"Content-Type: multipart/related;\r\n\ttype=\"text/html\";\r\n\tboundary=\"----B\"\r\n\r\n\r\n------B\r\n"
	const picture = "------B\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n" +
		"Content-Location: https://example.org/a.png\r\n\r\niVBORw0KGgo=\r\n------B--\r\n"
	part := func(encoding, kind, body string) string {
		return "Content-Type: " + kind + "\r\nContent-Transfer-Encoding: " + encoding + "\r\n\r\n" + body + "\r\n"
	}
	for _, tt := range []struct{ name, file, src, title, text string }{
		{"Chrome", "tide.mht", chrome + part("quoted-printable", "text/html", "<html><head><meta charset=3D\"utf-8\">"+
			"<title>Tides</title></head><body><h1>Tides</h1><p>Spring tide is at 6=E2=80=93=\r\n7.</p></body></html>") +
			picture, "Tides", "Tides\n\nSpring tide is at 6–7."},
		{"without an extension", "tide", chrome + part("8bit", "text/html", "<p>At 6.</p>") + picture,
			"Tide page", "At 6."},
		{"Word", "tide.mhtml", "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=\"----B\"\n\n" +
			"This document is a Single File Web Page.\n\n------B\n" + part("quoted-printable",
			"text/html; charset=\"windows-1252\"", "<html><body><p>Caf=E9 at 6.</p></body></html>") + picture,
			"", "Café at 6."},
		{"base64", "tide.mht", chrome + part("base64", "text/html; charset=utf-8", "PHA+QXQgNi48L3A+") + picture,
			"Tide page", "At 6."},
		{"one part", "tide.mht", "MIME-Version: 1.0\n" + part("7bit", "text/html", "<title>Tides</title><p>At 6.</p>"),
			"Tides", "At 6."},
		{"an advertisement in a frame", "tide.mht", chrome + part("8bit", "text/html", "<p>At 6.</p>") + "------B\r\n" +
			part("8bit", "text/html", "<p>Buy!</p>") + picture, "Tide page", "At 6."},
		{"a page that is not the first part", "tide.mht", "MIME-Version: 1.0\r\nContent-Type: multipart/related; " +
			"boundary=B; start=\"<main>\"\r\n\r\n--B\r\nContent-Id: <ad>\r\n" + part("8bit", "text/html",
			"<p>Buy!</p>") + "--B\r\nContent-Id: <main>\r\n" + part("8bit", "text/html", "<p>At 6.</p>") +
			"--B--\r\n", "", "At 6."},
		{"XHTML", "tide.mht", chrome + part("8bit", "application/xhtml+xml", "<html><p>At 6.</p></html>") + picture,
			"Tide page", "At 6."},
		{"a page of frames", "tide.mht", chrome + part("8bit", "text/html", "<frameset><frame "+
			"src=\"cid:a\"></frameset>") +
			"------B\r\n" + part("8bit", "text/html", "<p>At 6.</p>") + picture, "Tide page", "At 6."},
	} {
		x := mustExtract(t, tt.file, tt.src)
		if x.Title != tt.title || x.Text != tt.text {
			t.Errorf("%s: %q, %q, want %q, %q", tt.name, x.Title, x.Text, tt.title, tt.text)
		}
	}
}
