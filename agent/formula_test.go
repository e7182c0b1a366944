package agent

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
	"github.com/footnote/footnote/e2e/scripted"
)

// An answer about a formula without a result quotes the formula. It is never an empty cell, nor a sum without it.
func TestFormulasWithoutResultsAreQuoted(t *testing.T) {
	t.Parallel()
	const (
		main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
		rels = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	)
	text := func(at, said string) string {
		return `<c r="` + at + `" t="inlineStr"><is><t>` + said + `</t></is></c>`
	}
	ods := func(said string) string { return `<table:table-cell><text:p>` + said + `</text:p></table:table-cell>` }
	number := func(said string) string {
		return `<table:table-cell office:value-type="float" office:value="` + said + `"><text:p>` + said +
			`</text:p></table:table-cell>`
	}
	formula := func(said string) string { return `<table:table-cell table:formula="of:=` + said + `"/>` }
	row := func(cells ...string) string {
		return `<table:table-row>` + strings.Join(cells, "") + `</table:table-row>`
	}
	for _, file := range []struct {
		name, main string
		parts      ooxmltest.Parts
	}{
		{"bill.xlsx", "xl/workbook.xml", ooxmltest.Parts{
			"xl/workbook.xml": `<workbook xmlns="` + main + `" xmlns:r="` + rels + `"><sheets><sheet name="Bill" ` +
				`sheetId="1" r:id="s"/></sheets></workbook>`,
			"xl/_rels/workbook.xml.rels": ooxmltest.Relations("s", "worksheet", "worksheets/sheet1.xml"),
			"xl/worksheets/sheet1.xml": `<worksheet xmlns="` + main + `"><sheetData><row r="1">` + text("A1", "Item") +
				text("B1", "Price") + text("C1", "Tax") + `</row><row r="2">` + text("A2", "Nail") +
				`<c r="B2"><v>4</v></c><c r="C2"><f>B2*0.2</f></c></row><row r="3">` + text("A3", "Rope") +
				`<c r="B3"><v>9</v></c><c r="C3"><f>B3*0.2</f><v></v></c></row><row r="4">` +
				text("A4", "Grand total") + `<c r="B4"><f>SUM(B2:B3)</f><v/></c><c r="C4"><f>SUM(C2:C3)</f></c></row>` +
				`</sheetData></worksheet>`,
		}},
		{"bill.ods", "", ooxmltest.Parts{
			"mimetype": "application/vnd.oasis.opendocument.spreadsheet",
			"content.xml": `<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x"><office:body>` +
				`<office:spreadsheet><table:table table:name="Bill">` + row(ods("Item"), ods("Price"), ods("Tax")) +
				row(ods("Nail"), number("4"), formula("[.B2]*0.2")) +
				row(ods("Rope"), number("9"), formula("[.B3]*0.2")) +
				row(ods("Grand total"), formula("SUM([.B2:.B3])"), formula("SUM([.C2:.C3])")) +
				`</table:table></office:spreadsheet></office:body></office:document-content>`,
		}},
	} {
		data, err := os.ReadFile(ooxmltest.Write(t, file.name, file.main, file.parts))
		if err != nil {
			t.Fatal(err)
		}
		h := newHarness(t, scripted.New())
		h.add(file.name, string(data))
		h.startAgent(offline.New(nil, nil))
		for question, quoted := range map[string]string{
			"What is the grand total?":         "=SUM(B2:B3)",
			"What is the tax of the nail?":     "=B2*0.2",
			"How much is the tax for Rope?":    "=B3*0.2",
			"What is the total of the tax?":    "=",
			"What is the price of the rope?":   "9",
			"What is the average of the taxes": "=",
			"Which item has the highest tax?":  "=",
		} {
			a := h.answer(asks(question)).answer()
			said := strings.ReplaceAll(a.Markdown, `\`, "")
			if strings.HasPrefix(said, "Found") && !strings.Contains(said, quoted) || strings.Contains(said, "**") {
				t.Errorf("%s: %s: %s\nwant %q, and nothing calculated", file.name, question, said, quoted)
			}
			for _, c := range a.Citations {
				for line := range strings.Lines(c.Quote) {
					if cells := strings.Split(line, " | "); len(cells) != 3 || slices.Contains(cells, "") {
						t.Errorf("%s: %s: quotes %q, want no empty cell", file.name, question, line)
					}
				}
			}
		}
	}
}
