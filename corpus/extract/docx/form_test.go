package docx_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/docx"
	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
)

// form returns a legacy form field with its data and its result, "" for none.
func form(name, data, result string) string {
	if result != "" {
		result = `<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>` + result + `</w:t></w:r>`
	}
	return `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="f"/><w:enabled/>` + data +
		`</w:ffData></w:fldChar></w:r><w:r><w:instrText> ` + name + ` </w:instrText></w:r>` + result +
		`<w:r><w:fldChar w:fldCharType="end"/></w:r>`
}

// control returns a content control with its properties and its content.
func control(properties, content string) string {
	return `<w:sdt><w:sdtPr><w:alias w:val="a"/>` + properties + `</w:sdtPr><w:sdtContent>` + content +
		`</w:sdtContent></w:sdt>`
}

// The text has what is checked, chosen or typed in a form.
func TestFormValuesAreText(t *testing.T) {
	const text, list = `<w:r><w:t>%s</w:t></w:r>`, `<w:listEntry w:val="red"/><w:listEntry w:val="green"/>`
	check := func(on string) string { return `<w14:checkbox><w14:checked w14:val="` + on + `"/></w14:checkbox>` }
	symbol := func(code string) string { return `<w:r><w:sym w:font="Wingdings 2" w:char="` + code + `"/></w:r>` }
	for _, tt := range []struct{ name, content, want string }{
		{"checked", form("FORMCHECKBOX", `<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>`, ""), "☑ yes"},
		{"not checked", form("FORMCHECKBOX", `<w:checkBox><w:checked w:val="0"/><w:default `+
			`w:val="1"/></w:checkBox>`, ""),
			"☐ yes"},
		{"checked by default", form("FORMCHECKBOX", `<w:checkBox><w:sizeAuto/><w:default w:val="1"/></w:checkBox>`, ""),
			"☑ yes"},
		{"a box alone", form("FORMCHECKBOX", `<w:checkBox/>`, ""), "☐ yes"},
		{"chosen", form("FORMDROPDOWN", `<w:ddList><w:result w:val="1"/>`+list+`</w:ddList>`, ""), "green yes"},
		{"chosen by default", form("FORMDROPDOWN", `<w:ddList><w:default w:val="1"/>`+list+`</w:ddList>`, ""),
			"green yes"},
		{"the first entry", form("FORMDROPDOWN", `<w:ddList>`+list+`</w:ddList>`, ""), "red yes"},
		{"chosen, with a result", form("FORMDROPDOWN", `<w:ddList><w:result w:val="1"/>`+list+`</w:ddList>`, "green"),
			"green yes"},
		{"out of range", form("FORMDROPDOWN", `<w:ddList><w:result w:val="9"/>`+list+`</w:ddList>`, ""), "red yes"},
		{"a text field", form("FORMTEXT", `<w:textInput><w:default w:val="d"/></w:textInput>`, "Ida Moss"), "Ida " +
			"Moss yes"},
		{"an empty text field", form("FORMTEXT", `<w:textInput/>`, ""), "yes"},
		{"a check box control", control(check("1"), fmt.Sprintf(text, "☒")), "☒ yes"},
		{"a check box control with a symbol", control(check("1"), symbol("0052")), "☑ yes"},
		{"a cleared one with a symbol", control(check("0"), symbol("00A3")), "☐ yes"},
		{"a check box control with an unknown symbol", control(check("true"), symbol("00FF")), "☑ yes"},
		{"an empty check box control", control(check("0"), ""), "☐ yes"},
		{"a check box control whose symbol has no font", control(`<w14:checkbox><w14:checked w14:val="1"/>`+
			`<w14:checkedState w14:val="2612"/></w14:checkbox>`, fmt.Sprintf(text, "☒")), "☒ yes"},
		{"a date", control(`<w:date w:fullDate="2026-03-12T00:00:00Z"/>`, fmt.Sprintf(text, "12 March")),
			"12 March yes"},
		{"a field with another in its instruction", `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>` +
			` IF </w:instrText></w:r>` + form("MERGEFIELD x", "", "hidden") + `<w:r><w:instrText> = "" "no" "Ida"` +
			`</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>` + fmt.Sprintf(text, "Ida") +
			`<w:r><w:fldChar w:fldCharType="end"/></w:r>`, "Ida yes"},
		{"two fields", form("FOO a", "", "Ida ") + fmt.Sprintf(text, "and ") + form("FOO b", "", "Moss"),
			"Ida and Moss yes"},
		{"nested smart tags", `<w:smartTag w:element="place"><w:smartTag w:element="City">` +
			fmt.Sprintf(text, "Bath") + `</w:smartTag></w:smartTag>`, "Bath yes"},
		{"a list control", control(`<w:dropDownList><w:listItem w:displayText="Big" w:value="1"/></w:dropDownList>`,
			fmt.Sprintf(text, "Big")), "Big yes"},
	} {
		x := read(t, write(t, `<w:p>`+tt.content+fmt.Sprintf(text, " yes")+`</w:p>`, nil))
		if x.Text != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, x.Text, tt.want)
		}
	}
}

// A content control may enclose any part of a document.
func TestControlsAreText(t *testing.T) {
	cell := func(text string) string { return `<w:tc>` + para("", text) + `</w:tc>` }
	for _, tt := range []struct {
		name, body string
		want       []string
	}{
		{"in another", control("", para("", "a")+control("", para("", "b"))+para("", "c")),
			[]string{"p a", "p b", "p c"}},
		{"around a table", control("", `<w:tbl><w:tr>`+cell("a")+cell("b")+`</w:tr></w:tbl>`), []string{"t a | b"}},
		{"around a row", `<w:tbl>` + control("", `<w:tr>`+cell("a")+cell("b")+`</w:tr>`) + `</w:tbl>`,
			[]string{"t a | b"}},
		{"around a cell", `<w:tbl><w:tr>` + cell("a") + control("", cell("b")) + `</w:tr></w:tbl>`,
			[]string{"t a | b"}},
		{"in a cell", `<w:tbl><w:tr>` + cell("a") + `<w:tc>` + control("", para("", "b")) + `</w:tc></w:tr></w:tbl>`,
			[]string{"t a | b"}},
		{"repeated", control(`<w15:repeatingSection/>`, control(`<w15:repeatingSectionItem/>`, para("", "a"))),
			[]string{"p a"}},
		{"custom XML", `<w:customXml w:element="x">` + para("", "a") + `</w:customXml>`, []string{"p a"}},
	} {
		if diff := cmp.Diff(tt.want, shown(read(t, write(t, tt.body, nil)))); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}

// The text and the boxes of a paragraph whose mark was deleted continue in the next one.
func TestJoinedParagraphsKeepBoxes(t *testing.T) {
	x := read(t, write(t, `<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>one </w:t></w:r><w:r><w:drawing>`+
		`<w:txbxContent>`+para("", "box")+`</w:txbxContent></w:drawing></w:r></w:p>`+para("", "two"), nil))
	if diff := cmp.Diff([]string{"p one two", "p box"}, shown(x)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A formula in one line has the operators that its layout shows.
func TestFormulasAreOneLine(t *testing.T) {
	r := func(text string) string { return `<m:r><m:rPr><m:sty m:val="p"/></m:rPr><m:t>` + text + `</m:t></m:r>` }
	of := func(name string, parts ...string) (s string) {
		for i := 0; i < len(parts); i += 2 {
			s += `<m:` + parts[i] + `>` + parts[i+1] + `</m:` + parts[i] + `>`
		}
		return `<m:` + name + `>` + s + `</m:` + name + `>`
	}
	for _, tt := range []struct{ name, content, want string }{
		{"a power", of("sSup", "e", r("10"), "sup", r("2")), "10²"},
		{"a power of a sum", of("sSup", "e", of("d", "e", r("x+1")), "sup", r("n")), "((x+1))^n"},
		{"a fraction", of("f", "num", r("1"), "den", r("2")), "1/2"},
		{"a fraction of sums", of("f", "num", r("a+b"), "den", r("2")), "(a+b)/2"},
		{"an index", of("sSub", "e", r("v"), "sub", r("max")), "v_max"},
		{"both", of("sSubSup", "e", r("y"), "sub", r("1"), "sup", r("n")), "y1^n"},
		{"roots", of("rad", "radPr", "", "deg", "", "e", r("x")) + of("rad", "deg", r("3"), "e", r("y")), "√x³√y"},
		{"a function", r("f") + of("d", "e", r("x"), "e", r("y")), "f(x|y)"},
		{"other brackets", of("d", "dPr", `<m:begChr m:val="["/><m:endChr m:val=""/>`, "e", r("x")), "[x"},
		{"a sum", of("nary", "naryPr", `<m:chr m:val="∑"/>`, "sub", r("i=1"), "sup", r("n"), "e", r("i")),
			"∑_(i=1)^n i"},
		{"a named function", of("func", "fName", r("sin"), "e", r("x")), "sin x"},
		{"a matrix", of("m", "mr", `<m:e>`+r("1")+`</m:e><m:e>`+r("2")+`</m:e>`, "mr", `<m:e>`+r("3")+`</m:e>`),
			"1 2; 3"},
		{"a deletion", r("a") + `<w:del>` + r("b") + `</w:del>`, "a"},
	} {
		x := read(t, write(t, `<w:p><m:oMath>`+r("E=")+tt.content+`</m:oMath></w:p>`, nil))
		if x.Text != "E="+tt.want {
			t.Errorf("%s: %q, want %q", tt.name, x.Text, "E="+tt.want)
		}
	}
}

// readLines is a reader of embedded documents whose lines are blocks. "bad" can't be read.
func readLines(_ context.Context, _ string, data []byte) (x corpus.Extracted, err error) {
	if string(data) == "bad" {
		return x, errors.New("bad")
	}
	for line := range strings.Lines(string(data)) {
		start := len(x.Text)
		x.Text += strings.TrimSuffix(line, "\n")
		b := corpus.Block{Kind: corpus.BlockParagraph, Start: start, End: len(x.Text)}
		if strings.HasPrefix(line, "Title") {
			b.Kind, b.Level = corpus.BlockHeading, 2
		}
		x.Blocks = append(x.Blocks, b)
		x.Text += "\n\n"
	}
	return x, nil
}

// zipped returns a Word file as text.
func zipped(t *testing.T, body, relations string) string {
	t.Helper()
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for name, part := range map[string]string{
		"_rels/.rels": ooxmltest.Relations("d", "officeDocument", "word/document.xml"),
		"word/document.xml": `<w:document xmlns:w="w" xmlns:r="r"><w:body>` + body +
			`</w:body></w:document>`,
		"word/_rels/document.xml.rels": relations,
	} {
		w, err := archive.Create(name)
		if err == nil {
			_, err = w.Write([]byte(part))
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

// Documents that a program embeds stand where Word inserts them, or are counted.
func TestEmbeddedDocumentsAreRead(t *testing.T) {
	const chunk = `<w:altChunk r:id="a"/>`
	loop := ooxmltest.Relations("a", "aFChunk", "again.docx")
	for _, tt := range []struct {
		name, body, part string
		want             []string
		left             any
	}{
		{"in the text", para("", "Before") + chunk + para("", "After"), "Title\nInside",
			[]string{"p Before", "h2 Title", "p Inside", "p After"}, nil},
		{"in a paragraph", `<w:p><w:r><w:t>Before</w:t></w:r>` + chunk + `</w:p>` + para("", "After"), "Title\nInside",
			[]string{"p Before", "h2 Title", "p Inside", "p After"}, nil},
		{"several", chunk + para("", "Between") + chunk, "One\nTwo",
			[]string{"p One", "p Two", "p Between", "p One", "p Two"}, nil},
		{"with properties", `<w:altChunk r:id="a"><w:altChunkPr><w:matchSrc/></w:altChunkPr></w:altChunk>`, "a",
			[]string{"p a"}, nil},
		{"inserted", `<w:ins w:id="1">` + chunk + `</w:ins>`, "a", []string{"p a"}, nil},
		{"in a cell", `<w:tbl><w:tr><w:tc>` + chunk + `</w:tc><w:tc>` + para("", "b") + `</w:tc></w:tr></w:tbl>`, "a",
			[]string{"t a | b"}, nil},
		{"in a control", `<w:sdt><w:sdtContent>` + chunk + `</w:sdtContent></w:sdt>`, "a", []string{"p a"}, nil},
		{"a Word file", para("", "Before") + chunk, zipped(t, para("", "Inside")+`<w:tbl><w:tr><w:tc>`+para("", "1")+
			`</w:tc><w:tc>`+para("", "2")+`</w:tc></w:tr></w:tbl>`, ooxmltest.Relations()),
			[]string{"p Before", "p Inside", "t 1 | 2"}, nil},
		{"unreadable", para("", "Before") + chunk, "bad", []string{"p Before"}, "1 embedded document"},
		{"a damaged Word file", para("", "Before") + chunk, "PK\x03\x04", []string{"p Before"}, "1 embedded document"},
		{"missing, and on the web", para("", "Before") + `<w:altChunk r:id="x"/><w:altChunk r:id="web"/>`, "",
			[]string{"p Before"}, "2 embedded documents"},
		{"a Word file that refers to no part", para("", "Before") + chunk, zipped(t, para("", "Inside")+chunk, loop),
			[]string{"p Before", "p Inside"}, "1 embedded document"},
	} {
		x, err := docx.Reader(readLines)(t.Context(), write(t, tt.body, ooxmltest.Parts{
			"word/chunk.bin": tt.part,
			"word/_rels/document.xml.rels": ooxmltest.Relations("a", "aFChunk", "chunk.bin",
				"web", "aFChunk", "https://example.com/a.html"),
		}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, shown(x)); diff != "" || x.Meta[corpus.MetaLeftOut] != tt.left {
			t.Errorf("%s: left out %v, want %v; -want +got\n%s", tt.name, x.Meta[corpus.MetaLeftOut], tt.left, diff)
		}
	}
	x := read(t, write(t, para("", "Before")+chunk, ooxmltest.Parts{"word/chunk.bin": "a",
		"word/_rels/document.xml.rels": ooxmltest.Relations("a", "aFChunk", "chunk.bin")}))
	if x.Meta[corpus.MetaLeftOut] != "1 embedded document" {
		t.Errorf("without a reader, %v is left out, want 1 embedded document", x.Meta[corpus.MetaLeftOut])
	}
}

// A file that embeds many documents, or one in another, is read in bounded time.
func TestEmbeddedDocumentsAreBounded(t *testing.T) {
	const chunk = `<w:altChunk r:id="a"/>`
	calls := 0
	count := func(context.Context, string, []byte) (x corpus.Extracted, err error) {
		calls++
		return x, nil
	}
	if _, err := docx.Reader(count)(t.Context(), write(t, para("", "a")+strings.Repeat(chunk, 100), ooxmltest.Parts{
		"word/chunk.bin":               strings.Repeat("0123456789abcdef", 1<<12) + strings.Repeat(" ", 1<<20-1<<16),
		"word/_rels/document.xml.rels": ooxmltest.Relations("a", "aFChunk", "chunk.bin"),
	})); err != nil || calls != 64 {
		t.Errorf("%d documents of 1 MiB were read, %v, want 64 of 100", calls, err)
	}
}
