package files_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
)

// A pack is a ZIP archive of parts. In its main part "@" is replaced by its text.
type pack struct {
	file  string
	parts []string // name, content, name, content…; the first two may be the name and content of "mimetype"
	main  string   // name of the main part
}

// zipped returns a ZIP archive of parts: name, content, name, content… stored disables compression.
func zipped(t testing.TB, stored bool, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for i, part := range slices.Collect(slices.Chunk(parts, 2)) {
		method := zip.Deflate
		if stored || i == 0 {
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

// with returns the file with parts changed or added: name, content, name, content…
func (p pack) with(t testing.TB, parts ...string) string {
	return zipped(t, false, p.changed(parts...)...)
}

func (p pack) changed(parts ...string) []string {
	all := slices.Clone(p.parts)
	for change := range slices.Chunk(parts, 2) {
		if i := slices.Index(all, change[0]); i >= 0 && i%2 == 0 {
			all[i+1] = change[1]
		} else {
			all = append(all, change...)
		}
	}
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], "@", "The roof is dry.")
	}
	return all
}

// saying returns the main part with another text.
func (p pack) saying(text string) string {
	return strings.ReplaceAll(p.parts[slices.Index(p.parts, p.main)+1], "@", text)
}

// entry changes the directory entry of a part. at is an offset in the 46 bytes of the entry.
func entry(file, part string, at int, value []byte) string {
	b := []byte(file)
	for i := 0; ; {
		found := bytes.Index(b[i:], []byte("PK\x01\x02"))
		if found < 0 {
			panic("no such part: " + part)
		}
		i += found
		name := int(binary.LittleEndian.Uint16(b[i+28:]))
		if string(b[i+46:i+46+name]) == part {
			copy(b[i+at:], value)
			return string(b)
		}
		i += 46
	}
}

func uint32s(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }

// badPackages returns the malicious files of every kind of ZIP archive of XML parts.
func badPackages(t testing.TB, p pack) []bad {
	whole := p.with(t)
	xml := p.saying("The roof is dry.")
	laughs := `<!DOCTYPE x [<!ENTITY a "ha">`
	for c := 'b'; c <= 'z'; c++ {
		laughs += fmt.Sprintf(`<!ENTITY %c "%s">`, c, strings.Repeat(fmt.Sprintf("&%c;", c-1), 10))
	}
	head := `<?xml version="1.0" encoding="%s"?>`
	many := slices.Clone(p.parts)
	for i := range 20_001 {
		many = append(many, fmt.Sprintf("a/%d", i), "")
	}
	random, letters := rand.New(rand.NewPCG(1, 2)), make([]byte, 2<<20)
	for i := range letters {
		letters[i] = 'a' + byte(random.IntN(26))
	}
	made := func(name, data, fate, text string) bad { return bad{name, p.file, data, fate, text} }
	main := func(name, content, fate, text string) bad { return made(name, p.with(t, p.main, content), fate, text) }
	return []bad{
		made("nothing", "", misnamed, ""),
		made("words", "The roof is dry.", misnamed, ""),
		made("half of it", whole[:len(whole)/2], damaged, ""),
		made("without its last bytes", whole[:len(whole)-10], damaged, ""),
		made("its first bytes alone", whole[:100], damaged, ""),
		made("a wrong checksum", entry(whole, p.main, 16, uint32s(1)), damaged, ""),
		made("a part that says it has 4 GB", entry(whole, p.main, 24, uint32s(1<<32-2)), tooMuch, ""),
		made("a part that says it has one byte", entry(whole, p.main, 24, uint32s(1)), damaged, ""),
		made("a part outside the file", entry(whole, p.main, 42, uint32s(1<<31)), damaged, ""),
		made("parts on top of each other", entry(whole, p.main, 42, uint32s(0)), damaged, ""),
		made("a part that is protected", entry(whole, p.main, 8, []byte{1, 0}), encrypted, ""),
		made("a part packed in an unknown way", entry(whole, p.main, 10, []byte{99, 0}), damaged, ""),
		main("4 MB of blanks", strings.Replace(xml, "<", strings.Repeat(" ", 4<<20)+"<", 1), tooMuch, ""),
		made("20,001 parts", zipped(t, true, many...), tooMuch, ""),
		made("parts that lead outside", p.with(t, "../../../slip", "x", `..\..\slip`, "x", "/slip", "x"), "", "roof"),
		main("an entity that is another file", `<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>`+p.saying("&x;"),
			damaged, ""),
		main("a billion laughs", laughs+"]>"+p.saying("&z;"), damaged, ""),
		main("elements 100,000 deep", p.saying(strings.Repeat("<x>", 100_000)), tooDeep, ""),
		main("an end that is missing", xml[:len(xml)-8], damaged, ""),
		main("ends alone", "</x></x></x>", damaged, ""),
		main("zero bytes", p.saying("a\x00b"), damaged, ""),
		main("XML 2.0", `<?xml version="2.0"?>`+xml, damaged, ""),
		main("UTF-7", fmt.Sprintf(head, "utf-7")+xml, damaged, ""),
		main("a character set that nobody knows", fmt.Sprintf(head, "x-nonsense")+xml, damaged, ""),
		main("UTF-16 without a mark", inUTF16(fmt.Sprintf(head, "utf-16")+xml), "", "roof"),
		main("UTF-16 that says it is UTF-8", fmt.Sprintf(head, "utf-8")+inUTF16(xml), damaged, ""),
		main("bytes that are no UTF-8", p.saying("\xff\xfe\xc0\x80"), damaged, ""),
		main("an attribute of 2 MB", p.saying(`The roof is dry.<x a="`+string(letters)+`"/>`), "", "roof"),
		main("100,000 attributes", p.saying(`The roof is dry.<x`+strings.Repeat(` a=""`, 100_000)+`/>`), "", "roof"),
	}
}

func inUTF16(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}

const spreadsheetML = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ` +
	`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`

var excel = pack{"bad.xlsx", []string{
	"_rels/.rels", ooxmltest.Relations("m", "officeDocument", "xl/workbook.xml"),
	"xl/workbook.xml", `<workbook ` + spreadsheetML + `><sheets><sheet name="Roof" sheetId="1" r:id="s"/></sheets>` +
		`</workbook>`,
	"xl/_rels/workbook.xml.rels", ooxmltest.Relations("s", "worksheet", "worksheets/sheet1.xml"),
	"xl/worksheets/sheet1.xml", `<worksheet ` + spreadsheetML +
		`><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>@` +
		`</t></is></c></row></sheetData></worksheet>`,
}, "xl/worksheets/sheet1.xml"}

func badExcel(t testing.TB) []bad {
	made := func(name, text string, parts ...string) bad {
		return bad{name, excel.file, excel.with(t, parts...), "", text}
	}
	refuses := func(name string, parts ...string) bad {
		return bad{name, excel.file, excel.with(t, parts...), damaged, ""}
	}
	rows := func(s string) string {
		return strings.Replace(excel.saying("The roof is dry."), "</sheetData>", s+"</sheetData>", 1)
	}
	after := func(s string) string {
		return strings.Replace(excel.saying("The roof is dry."), "</sheetData>", "</sheetData>"+s, 1)
	}
	const rels, bookRels = "xl/worksheets/_rels/sheet1.xml.rels", "xl/_rels/workbook.xml.rels"
	shared := ooxmltest.Relations("s", "worksheet", "worksheets/sheet1.xml", "t", "sharedStrings", "sharedStrings.xml",
		"y", "styles", "styles.xml")
	var wide, sheets, merges strings.Builder
	for i := range 16_384 {
		fmt.Fprintf(&wide, `<c><v>%d</v></c>`, i)
	}
	for i := range 5000 {
		fmt.Fprintf(&sheets, `<sheet name="S%d" sheetId="%d" r:id="s"/>`, i, i+2)
	}
	for i := range 100_000 {
		fmt.Fprintf(&merges, `<mergeCell ref="A1:A%d"/>`, 1_000_000+i%1000)
	}
	packages := badPackages(t, excel)
	for i := range packages {
		switch packages[i].name {
		case "a part that says it has 4 GB": // the library validates it first
			packages[i].fate = damaged
		case "UTF-16 without a mark": // unsupported by the library
			packages[i].fate, packages[i].text = damaged, ""
		case "an end that is missing": // after all cells
			packages[i].fate, packages[i].text = "", "roof"
		}
	}
	return append(packages,
		made("a row of 16,384 columns", "16383", excel.main, rows(`<row r="2">`+wide.String()+`</row>`)),
		made("a cell of 32,767 characters", "xxx", excel.main,
			rows(`<row r="2"><c t="str"><v>`+strings.Repeat("x", 32_767)+`</v></c></row>`)),
		made("a billion shared strings that are not there", "roof", bookRels, shared, "xl/sharedStrings.xml",
			`<sst `+spreadsheetML+` count="1000000000" uniqueCount="1000000000"><si><t>a</t></si></sst>`, excel.main,
			rows(`<row r="2"><c t="s"><v>999999999</v></c><c t="s"><v>-1</v></c><c t="s"><v>0</v></c></row>`)),
		made("a shared string of 1 MB in 1,000 cells", "roof", bookRels, shared, "xl/sharedStrings.xml",
			`<sst `+spreadsheetML+`><si><t>a</t></si></sst>`, excel.main,
			rows(strings.Repeat(`<row><c t="s"><v>0</v></c></row>`, 1000))),
		refuses("shared strings that break off", bookRels, shared, "xl/sharedStrings.xml",
			`<sst `+spreadsheetML+`><si><t>a</t></si><si><t>b`, excel.main,
			rows(`<row r="2"><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>`)),
		bad{"shared strings of 36 MB that break off", excel.file, zipped(t, true, excel.changed(bookRels, shared,
			"xl/sharedStrings.xml", `<sst `+spreadsheetML+`><si><t>a</t></si><si><t>`+strings.Repeat("word ", 36<<20/5)+
				`</t></si><si><t>b`, excel.main, rows(`<row r="2"><c t="s"><v>0</v></c><c t="s"><v>2</v></c></row>`+
				``))...),
			damaged, ""},
		made("the last row alone", "last", excel.main,
			rows(`<row r="1048576"><c r="XFD1048576" t="str"><v>last</v></c></row>`)),
		refuses("a row beyond the last", excel.main,
			rows(`<row r="2147483647"><c r="A2147483647"><v>1</v></c></row>`)),
		refuses("cells in columns that are none", excel.main,
			rows(`<row r="2"><c r="ZZZZZZZZ2"><v>1</v></c><c r="-1"><v>1</v></c><c r=""><v>1</v></c></row>`)),
		made("merges of the whole sheet", "roof", excel.main,
			after(`<mergeCells><mergeCell ref="A1:XFD1048576"/><mergeCell ref="XFD1:A1"/><mergeCell ref="x:y"/><`+
				`/mergeCells>`)),
		made("100,000 merges over 20,000 rows", "roof", excel.main, strings.Replace(rows(strings.Repeat(
			`<row><c><v>1</v></c><c><v>2</v></c></row>`, 20_000)), "</sheetData>",
			"</sheetData><mergeCells>"+merges.String()+"</mergeCells>", 1)),
		made("one sheet under 5,000 names", "roof", "xl/workbook.xml",
			strings.Replace(excel.parts[3], "</sheets>", sheets.String()+"</sheets>", 1)),
		made("a drawing that is its sheet", "roof", rels, ooxmltest.Relations("d", "drawing", "sheet1.xml")),
		made("a sheet that is its own drawing and chart", "roof", rels,
			ooxmltest.Relations("d", "drawing", "d.xml"), "xl/worksheets/d.xml", `<x><chart r:id="d"/><txBody/></x>`,
			"xl/worksheets/_rels/d.xml.rels", ooxmltest.Relations("d", "chart", "d.xml")),
		refuses("formats that are nonsense", bookRels, shared, "xl/styles.xml", `<styleSheet `+spreadsheetML+
			`><numFmts><numFmt numFmtId="200" formatCode="`+strings.Repeat("[", 5000)+
			`"/><numFmt numFmtId="201" formatCode="`+
			strings.Repeat("0", 50_000)+`"/></numFmts><cellXfs><xf numFmtId="200"/><xf numFmtId="201"/></cellXfs><`+
			`/styleSheet>`,
			excel.main, rows(`<row r="2"><c s="0"><v>1</v></c><c s="1"><v>1</v></c><c s="99"><v>1</v></c><c `+
				`s="-1"><v>1</v></c></row>`)),
		made("days beyond the calendar", "roof", bookRels, shared, "xl/styles.xml", `<styleSheet `+spreadsheetML+
			`><cellXfs><xf numFmtId="14"/></cellXfs></styleSheet>`, excel.main,
			rows(`<row r="2"><c s="0"><v>1e308</v></c><c s="0"><v>-1e308</v></c><c s="0"><v>NaN</v></c></row>`)),
	)
}
