package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
)

// realFile is a file as a program writes it, with a question whose answer is a quote of it.
type realFile struct {
	file            file
	question, quote string
	answer, not     string // in the answer, and not in it
	marks           marks  // of a PDF
}

// Files as programs write them are answered from, and their quotes are marked in the document. Each file is in a
// library of its own.
func TestRealFilesAreQuoted(t *testing.T) {
	t.Parallel()
	office := func(name, main string, parts ooxmltest.Parts) file {
		data, err := os.ReadFile(ooxmltest.Write(t, name, main, parts))
		if err != nil {
			t.Fatal(err)
		}
		return file{name, string(data)}
	}
	run := func(text string) string { return `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r>` }
	const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	files := append(realMails(), []realFile{
		{file{"figures.csv", "Figure,Value\nEmployees,47\nTrucks,12\nFloor area,3400 m2\nFounded,1987\n"},
			"How many employees are there?", "Employees | 47", "47", "Count", nil},
		{file{"statement.csv", "Account statement\nAccount:;DE02 1203\n\nDate;Payee;Amount\n03.01.2026;Harbour " +
			"Cafe;12,40\n" +
			"09.01.2026;Water works;61,00\n"}, "What did the water works get?", "09.01.2026 | Water works | 61,00",
			"61,00", "", nil},
		{file{"stock.html", "<html><table><tr><th>Region<th>Product<th>Units<tr><td " +
			"rowspan=2>Coast<td>Rope<td>12<tr><td>Hub" +
			"<td>7<tr><td>Hills<td>Rope<td>3<tr><td colspan=2>All<td>22</table></html>"},
			"What is the total of the units?", "Coast | Rope | 12", "22", "15", nil},
		{file{"tide.mht", "From: <Saved by Blink>\r\nSubject: Tides\r\nMIME-Version: 1.0\r\nContent-Type: " +
			"multipart/related; " +
			"boundary=\"--b\"\r\n\r\n----b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: " +
			"quoted-printable\r\n\r\n" +
			"<html><h1>Tides</h1><p>Spring tide is on 21 March at 6=E2=80=93=\r\n7.</p></html>\r\n----b--\r\n"},
			"When is the spring tide?", "Spring tide is on 21 March at 6–7.", "21 March", "=E2", nil},
		{file{"crew.csv", "name;note\n'Ida Moss';'on leave; back in May'\n'Bo Dahl';'at sea'\n"},
			"What is the note of Bo Dahl?", "Bo Dahl | at sea", "at sea", "'", nil},
		{file{"quay.csv", "berth^depth\nNorth^7 m\nSouth^4 m\n"}, "What is the depth of North?", "North | 7 m",
			"7 m", "^", nil},
		{file{"gate.md", "\n---\ntitle: Gate: hours\nby: Ann\n---\n\nThe gate opens at seven.\n"},
			"When does the gate open?", "The gate opens at seven.", "seven", "title:", nil},
		{file{"page.mht", "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=B; start=\"<m>\"\r\n\r\n" +
			"--B\r\nContent-Type: text/html\r\n\r\n<p>The ferry is cheap.</p>\r\n--B\r\nContent-Type: text/html\r\n" +
			"Content-Id: <m>\r\n\r\n<p>The ferry leaves at eight.</p>\r\n--B--\r\n"}, "When does the ferry leave?",
			"The ferry leaves at eight.", "eight", "cheap", nil},
		{office("audit.docx", "word/document.xml", ooxmltest.Parts{
			"word/document.xml": `<w:document xmlns:w="w" xmlns:r="r"><w:body><w:p>` + run("Report of the auditors.") +
				`</w:p><w:altChunk r:id="a"/><w:p>` + run("End of the report.") + `</w:p></w:body></w:document>`,
			"word/a.html":                  "<p>The cash box was short by 418 crowns.</p>",
			"word/_rels/document.xml.rels": ooxmltest.Relations("a", "aFChunk", "a.html"),
		}), "By how much was the cash box short?", "The cash box was short by 418 crowns.", "418", "", nil},
		{office("bill.xlsx", "xl/workbook.xml", ooxmltest.Parts{
			"xl/workbook.xml": `<workbook xmlns="` + main + `" ` +
				`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/` +
				`relationships"><sheets><sheet name="Bill" sheetId="1" r:id="s"/></sheets></workbook>`,
			"xl/_rels/workbook.xml.rels": ooxmltest.Relations("s", "worksheet", "worksheets/sheet1.xml"),
			"xl/worksheets/sheet1.xml": `<worksheet xmlns="` + main + `"><sheetData><row r="1"><c r="A1" ` +
				`t="inlineStr"><is><t>` +
				`Item</t></is></c><c r="B1" t="inlineStr"><is><t>Price</t></is></c></row><row r="2"><c r="A2" ` +
				`t="inlineStr"><is>` +
				`<t>Nail</t></is></c><c r="B2"><v>4</v></c></row><row r="3"><c r="A3" t="inlineStr"><is><t>Grand ` +
				`total</t></is>` +
				`</c><c r="B3"><f>SUM(B2:B2)</f><v></v></c></row></sheetData></worksheet>`,
		}), "What is the grand total?", "Grand total | =SUM(B2:B2)", "=SUM", "", nil},
	}...)
	for _, tt := range append(files, realPDFs(t)...) {
		t.Run(tt.file.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, newDir(t))
			s.add(tt.file)
			log := s.run(tt.question)
			said := strings.ReplaceAll(log.answer.Markdown, `\`, "")
			if !strings.Contains(said, tt.answer) || tt.not != "" && strings.Contains(said, tt.not) {
				t.Errorf("%s: %s; want %q, not %q", tt.question, said, tt.answer, tt.not)
			}
			if len(log.answer.Citations) == 0 || log.answer.Citations[0].Quote != tt.quote {
				t.Fatalf("%s: quotes %+v, want %q", tt.question, log.answer.Citations, tt.quote)
			}
			c := log.answer.Citations[0]
			want := squeezed(tt.quote)
			page := s.send("GET", c.URL, nil).body
			if got := marksOf(t, page, c); !strings.Contains(got, want) {
				t.Errorf("%s: marked is %q, want %q", tt.question, got, tt.quote)
			}
			if diff := cmp.Diff(tt.marks, rectsOf(t, page), about); diff != "" {
				t.Errorf("%s: places of the marks (-want +got):\n%s", tt.question, diff)
			}
		})
	}
}
