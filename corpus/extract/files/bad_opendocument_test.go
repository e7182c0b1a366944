package files_test

import (
	"strings"
	"testing"
)

// openDocument is a file of one of the three kinds: inside is what stands in its body.
func openDocument(file, kind, inside string) pack {
	return pack{file, []string{
		"mimetype", "application/vnd.oasis.opendocument." + kind,
		"content.xml", `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d">` +
			`<office:automatic-styles/><office:body><office:` + kind + `>` + inside + `</office:` + kind + `>` +
			`</office:body></office:document-content>`,
	}, "content.xml"}
}

var (
	openSheet = openDocument("bad.ods", "spreadsheet",
		`<table:table table:name="Roof"><table:table-row><table:table-cell><text:p>@</text:p></table:table-cell>`+
			`</table:table-row></table:table>`)
	openText   = openDocument("bad.odt", "text", `<text:p>@</text:p>`)
	openSlides = openDocument("bad.odp", "presentation",
		`<draw:page><draw:frame><draw:text-box><text:p>@</text:p></draw:text-box></draw:frame></draw:page>`)
)

const protected = `<manifest><file-entry><encryption-data/></file-entry></manifest>`

func badOpenSheets(t testing.TB) []bad {
	cells := func(name, text, s string) bad {
		const end, begin = `</text:p></table:table-cell></table:table-row>`,
			`<table:table-row><table:table-cell><text:p>`
		return bad{name, openSheet.file, openSheet.with(t, "content.xml", openSheet.saying("The roof is dry."+end+
			s+begin)),
			"", text}
	}
	row := func(times, inside string) string {
		return `<table:table-row table:number-rows-repeated="` + times + `">` + inside + `</table:table-row>`
	}
	cell := func(times, text string) string {
		return `<table:table-cell table:number-columns-repeated="` + times + `"><text:p>` + text +
			`</text:p></table:table-cell>`
	}
	const billion, most = "1000000000", "9223372036854775807"
	return append(badPackages(t, openSheet),
		cells("a cell that is there a billion times", "wide", row("1", cell(billion, "wide"))),
		cells("a row that is there a billion times", "high", row(billion, cell("1", "high"))),
		cells("a billion rows of a billion cells", "roof", row(billion, cell(billion, "x"))),
		cells("200 times a billion rows of a billion cells", "roof", strings.Repeat(row(billion, cell(billion,
			"x")), 200)),
		cells("counts that no number holds", "roof", strings.Repeat(row(most, cell(most, "")+cell(most, "x")), 3)+
			row("99999999999999999999999", cell("-5", "y"))),
		cells("tables in tables", "roof", strings.Repeat("<table:table>", 200)+strings.Repeat("</table:table>", 200)),
		cells("an object that is the document", "roof", row("1",
			`<table:table-cell><draw:frame><draw:object href="."/>`+
				`<draw:object href="../../.."/><draw:object href="http://127.0.0.1:1/x"/></draw:frame><`+
				`/table:table-cell>`)),
		bad{"a spreadsheet that is protected", openSheet.file, openSheet.with(t, "META-INF/manifest.xml", protected),
			encrypted, ""},
	)
}

func badOpenTexts(t testing.TB) []bad {
	body := func(name, text, s string) bad {
		return bad{name, openText.file, openText.with(t, "content.xml",
			openText.saying("The roof is dry.</text:p>"+s+"<text:p>")), "", text}
	}
	return append(badPackages(t, openText),
		bad{"a text that is protected", openText.file, openText.with(t, "META-INF/manifest.xml", protected),
			encrypted, ""},
		body("a billion blanks", "a b", `<text:p>a<text:s text:c="1000000000"/>b</text:p>`),
		body("lists 300 deep", "deep", strings.Repeat("<text:list><text:list-item>", 300)+"<text:p>deep</text:p>"+
			strings.Repeat("</text:list-item></text:list>", 300)),
		body("a cell that is there a billion times", "wide", `<table:table><table:table-row><table:table-cell `+
			`table:number-columns-repeated="1000000000"><text:p>wide</text:p></table:table-cell></table:table-row>`+
			`</table:table>`),
		body("items that begin with 2⁶³", "item", `<text:list><text:list-item text:start-value="9223372036854775807">`+
			`<text:p>item</text:p></text:list-item><text:list-item><text:p>next</text:p></text:list-item></text:list>`),
		body("notes in notes", "roof", strings.Repeat(`<text:p><text:note><text:note-body>`, 200)+
			strings.Repeat(`</text:note-body></text:note></text:p>`, 200)),
		body("an object that is the document", "roof", `<text:p><draw:frame><draw:object href="."/></draw:frame><`+
			`/text:p>`),
		bad{"styles based on each other", openText.file, openText.with(t, "content.xml", strings.Replace(
			openText.saying("The roof is dry."), "<office:automatic-styles/>",
			`<office:automatic-styles><style name="a" `+
				`parent-style-name="b"/><style name="b" parent-style-name="a"/></office:automatic-styles>`, 1)),
			"", "roof"},
	)
}

func badOpenSlides(t testing.TB) []bad {
	body := func(name, text, s string) bad {
		return bad{name, openSlides.file, openSlides.with(t, "content.xml", openSlides.saying(
			"The roof is dry.</text:p></draw:text-box></draw:frame></draw:page>"+s+
				"<draw:page><draw:frame><draw:text-box><text:p>")), "", text}
	}
	return append(badPackages(t, openSlides),
		bad{"slides that are protected", openSlides.file, openSlides.with(t, "META-INF/manifest.xml", protected),
			encrypted, ""},
		body("200,000 empty slides", "roof", strings.Repeat("<draw:page/>", 200_000)),
		body("groups 300 deep", "roof", "<draw:page>"+strings.Repeat("<draw:g>", 300)+strings.Repeat("</draw:g>", 300)+
			"</draw:page>"),
		body("a chart in itself", "roof", `<draw:page><draw:frame><draw:object href="./"/></draw:frame></draw:page>`),
	)
}
