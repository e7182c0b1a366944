package extract

import (
	"archive/zip"
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
)

// packed is a ZIP archive of parts: name, content, name, content… The first part is stored as it is.
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

func TestEverydayFilesAreReadAsTheyLook(t *testing.T) {
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
			[]string{"heading Roof, gutter", "list Start: 2026-03-04 10:15", "list Description: Bring the ladder"}},
		{"an address book", "a.vcf", "BEGIN:VCARD\nVERSION:3.0\nFN:Renée Harrow\nitem1.EMAIL;" +
			"TYPE=work:r@example.com\nADR:;;1 Mill Lane;Leeds;;;UK\nEND:VCARD\n",
			[]string{"heading Renée Harrow", "list Mail: r@example.com", "list Address: 1 Mill Lane, Leeds, UK"}},
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

func TestLinesKeepTheirNumbers(t *testing.T) {
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

func TestHostileEverydayFilesFailWithASentence(t *testing.T) {
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
