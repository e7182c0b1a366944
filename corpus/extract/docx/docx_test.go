package docx_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/docx"
	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
)

const styles = `<w:styles xmlns:w="w">
<w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/>
<w:pPr><w:numPr><w:numId w:val="5"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/><w:basedOn w:val="berschrift1"/>
<w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Own"><w:name w:val="Our own"/><w:basedOn w:val="berschrift2"/></w:style>
</w:styles>`

const numbering = `<w:numbering xmlns:w="w">
<w:abstractNum w:abstractNumId="1">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>
<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2.%3"/></w:lvl>
</w:abstractNum>
<w:abstractNum w:abstractNumId="2">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="-"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="3">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:pStyle w:val="berschrift1"/>
<w:lvlText w:val="%1"/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:pStyle w:val="berschrift2"/>
<w:isLgl/><w:lvlText w:val="%1.%2"/></w:lvl>
</w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="1"/>
<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>
<w:num w:numId="5"><w:abstractNumId w:val="3"/></w:num>
</w:numbering>`

func write(t *testing.T, body string, parts ooxmltest.Parts) corpus.File {
	t.Helper()
	all := ooxmltest.Parts{
		"word/document.xml":  `<w:document xmlns:w="w" xmlns:r="r"><w:body>` + body + `</w:body></w:document>`,
		"word/styles.xml":    styles,
		"word/numbering.xml": numbering,
		"word/_rels/document.xml.rels": ooxmltest.Relations(
			"s",
			"styles",
			"styles.xml",
			"n",
			"numbering",
			"numbering.xml",
			"f",
			"footnotes",
			"footnotes.xml",
			"e",
			"endnotes",
			"endnotes.xml",
			"h",
			"header",
			"header1.xml",
			"link",
			"hyperlink",
			"https://example.com/roof",
		),
	}
	for name, part := range parts {
		all[name] = part
	}
	path := ooxmltest.Write(t, "lease.docx", "word/document.xml", all)
	return corpus.File{Path: path, Filename: filepath.Base(path)}
}

func read(t *testing.T, f corpus.File) corpus.Extracted {
	t.Helper()
	x, err := docx.Read(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if err := doctext.Check(x); err != nil {
		t.Fatal(err)
	}
	return x
}

// para returns a paragraph in a style or a list: "Titel", "1/0" or empty.
func para(form, text string) string {
	properties := ""
	if num, level, listed := strings.Cut(form, "/"); listed {
		properties = `<w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + num + `"/></w:numPr>`
	} else if form != "" {
		properties = `<w:pStyle w:val="` + form + `"/>`
	}
	if !strings.HasPrefix(text, "<") {
		text = `<w:r><w:t>` + text + `</w:t></w:r>`
	}
	return `<w:p><w:pPr>` + properties + `</w:pPr>` + text + `</w:p>`
}

// shown formats the blocks of a document, one per line: "h1 Title", "p text", "l2 1.1 item", "t a | b".
func shown(x corpus.Extracted) []string {
	var lines []string
	kinds := map[corpus.BlockKind]string{
		corpus.BlockHeading: "h", corpus.BlockParagraph: "p", corpus.BlockList: "l", corpus.BlockTable: "t",
	}
	for _, b := range x.Blocks {
		kind := kinds[b.Kind]
		if b.Level > 0 {
			kind += string(rune('0' + b.Level))
		}
		lines = append(lines, kind+" "+doctext.Slice(x.Text, b.Start, b.End))
	}
	return lines
}

func TestHeadingAndListNumbersMatchWord(t *testing.T) {
	x := read(t, write(t, para("Titel", "The lease")+
		para("berschrift1", "Repairs")+para("berschrift2", "Roof")+para("Own", "Walls")+
		para("1/0", "one")+para("1/1", "under one")+para("1/2", "deeper")+para("1/2", "deeper still")+
		para("2/0", "a bullet")+para("1/0", "two")+para("1/1", "")+para("1/1", "under an empty one")+
		para("3/0", "another list")+para("1/0", "it goes on")+
		para("berschrift1", "Rent")+para("berschrift2", "Amount"), nil))
	want := []string{
		"h1 The lease", "h1 I Repairs", "h2 1.1 Roof", "h2 1.2 Walls", "l1 1. one", "l2 1.1 under one",
		"l3 1.1.a deeper", "l3 1.1.b deeper still", "l1 a bullet", "l1 2. two", "l2 2.2 under an empty one",
		"l1 7. another list", "l1 8. it goes on", "h1 II Rent", "h2 2.1 Amount",
	}
	if diff := cmp.Diff(want, shown(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if x.Title != "The lease" {
		t.Errorf("title = %q, want %q", x.Title, "The lease")
	}
}

func TestTextMatchesWordWithChangesAccepted(t *testing.T) {
	run := func(s string) string { return `<w:r><w:t>` + s + `</w:t></w:r>` }
	x := read(t, write(t,
		para("", run("Rent is ")+`<w:del><w:r><w:delText>900</w:delText></w:r></w:del><w:ins>`+run("950")+`</w:ins>`+
			`<w:r><w:commentReference w:id="1"/></w:r>`)+
			para(
				"",
				`<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://example.com/a" `+
					`</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>`+
					run(
						"the deed",
					)+`<w:r><w:fldChar w:fldCharType="end"/></w:r>`+run(
					" and ",
				)+
					`<w:hyperlink r:id="link">`+run(
					"the roof",
				)+`</w:hyperlink>`+
					`<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden`+
					`</w:t></w:r>`,
			)+
			`<w:p><w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx><w:txbxContent>`+para("", "in a box")+
			`</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>`+
			para("", "in a box")+`</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>`+
			run("beside a box")+`</w:p>`, nil))
	want := []string{"p Rent is 950", "p the deed and the roof☑", "p beside a box", "p in a box"}
	if diff := cmp.Diff(want, shown(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	links := map[string]string{}
	for _, m := range x.Blocks[1].Marks {
		links[doctext.Slice(x.Text, m.Start, m.End)] = m.URL
	}
	if diff := cmp.Diff(
		map[string]string{"the deed": "https://example.com/a", "the roof": "https://example.com/roof"}, links,
	); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if got := x.Meta[corpus.MetaLeftOut]; got != "1 comment, 1 deleted passage" {
		t.Errorf("left out: %v, want the comment and the deletion", got)
	}
}

func TestNotesFollowBlockAndHeadersAppearOnce(t *testing.T) {
	x := read(t, write(t, para("", `<w:r><w:t>Repaired</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>`)+
		para("", `<w:r><w:t>Paid</w:t></w:r><w:r><w:endnoteReference w:id="3"/></w:r>`), ooxmltest.Parts{
		"word/footnotes.xml": `<w:footnotes xmlns:w="w"><w:footnote w:type="separator" w:id="0">` + para("", "---") +
			`</w:footnote><w:footnote w:id="2">` + para("", "by the landlord") + `</w:footnote></w:footnotes>`,
		"word/endnotes.xml": `<w:endnotes xmlns:w="w"><w:endnote w:id="3">` + para("", "in May") +
			`</w:endnote></w:endnotes>`,
		"word/header1.xml": `<w:hdr xmlns:w="w">` + para("", "Confidential") + para("", "Confidential") + `</w:hdr>`,
	}))
	want := []string{"p Repaired¹", "p ¹ by the landlord", "p Paidi", "p i in May", "p Confidential"}
	if diff := cmp.Diff(want, shown(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestTablesKeepRowsAndColumns(t *testing.T) {
	cell := func(properties, text string) string {
		return `<w:tc><w:tcPr>` + properties + `</w:tcPr>` + para("", text) + `</w:tc>`
	}
	x := read(t, write(t, `<w:tbl><w:tr>`+cell("", "Room")+cell("", "Size")+cell("", "State")+`</w:tr><w:tr>`+
		cell(`<w:vMerge w:val="restart"/>`, "Hall")+cell(`<w:gridSpan w:val="2"/>`, "12 m², dry")+`</w:tr><w:tr>`+
		cell(`<w:vMerge/>`, "")+cell("", "9 m²")+cell("", "damp")+`</w:tr></w:tbl>`+
		`<w:tbl><w:tr>`+cell("", "A table of one column is text")+`</w:tr></w:tbl>`, nil))
	want := []string{"t Room | Size | State\nHall | 12 m², dry | \n | 9 m² | damp", "p A table of one column is text"}
	if diff := cmp.Diff(want, shown(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestHostileFilesFailWithMessage(t *testing.T) {
	deep := strings.Repeat("<w:sdt>", 100_000)
	for _, tt := range []struct{ name, document, code string }{
		{"an entity", `<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><w:document><w:body><w:p><w:r><w:t>&x;` +
			`</w:t></w:r></w:p></w:body></w:document>`, "broken"},
		{"elements deep in each other", `<w:document><w:body>` + deep, "broken"},
		{"an end that is missing", `<w:document><w:body><w:p>`, "broken"},
		{"a part that unpacks to too much",
			`<w:document><w:body>` + strings.Repeat(" ", 40<<20) + `</w:body></w:document>`, "too_large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := docx.Read(t.Context(), write(t, "", ooxmltest.Parts{"word/document.xml": tt.document}))
			failure, ok := errors.AsType[*corpus.Failure](err)
			if !ok || failure.Code != tt.code || failure.Detail == "" {
				t.Errorf("error = %v, want a failure with the code %s", err, tt.code)
			}
		})
	}
}

func TestCyclicStylesAndPartsEnd(t *testing.T) {
	x := read(t, write(t, para("A", "text"), ooxmltest.Parts{
		"word/styles.xml": `<w:styles><w:style w:type="paragraph" w:styleId="A"><w:basedOn w:val="B"/></w:style>` +
			`<w:style w:type="paragraph" w:styleId="B"><w:basedOn w:val="A"/></w:style></w:styles>`,
	}))
	if diff := cmp.Diff([]string{"p text"}, shown(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func BenchmarkRead(b *testing.B) {
	var body strings.Builder
	const pages = 200 // of some 500 words
	for range pages * 5 {
		body.WriteString(para("1/0", strings.Repeat("The Landlord shall keep the roof in good repair. ", 11)))
	}
	path := ooxmltest.Write(b, "long.docx", "word/document.xml", ooxmltest.Parts{
		"word/document.xml": `<w:document xmlns:w="w"><w:body>` + body.String() + `</w:body></w:document>`,
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := docx.Read(b.Context(), corpus.File{Path: path}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(pages*b.N)/b.Elapsed().Seconds(), "pages/s")
}

func TestPlaceholderIsNotTitle(t *testing.T) {
	for stated, want := range map[string]string{
		"Lease of the house": "Lease of the house", "Document1": "Repairs", "Untitled": "Repairs",
		"lease-v3.docx": "Repairs",
		"Dokument1":     "Repairs", "Company letterhead": "Repairs",
	} {
		x := read(t, write(t, `<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Repairs</w:t></w:r></w:p>`+
			para("", "The landlord of the house repairs the roof."), ooxmltest.Parts{
			"_rels/.rels": ooxmltest.Relations("d", "officeDocument", "word/document.xml",
				"p", "core-properties", "core.xml"),
			"core.xml": `<cp:coreProperties xmlns:cp="cp" xmlns:dc="dc"><dc:title>` + stated +
				`</dc:title></cp:coreProperties>`,
			"word/styles.xml":    `<w:styles xmlns:w="w"/>`,
			"word/numbering.xml": `<w:numbering xmlns:w="w"/>`,
		}))
		if x.Title != want {
			t.Errorf("a file that calls itself %q has the title %q, want %q", stated, x.Title, want)
		}
	}
}
