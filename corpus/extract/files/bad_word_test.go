package files_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
)

var word = pack{"bad.docx", []string{
	"_rels/.rels", ooxmltest.Relations("m", "officeDocument", "word/document.xml"),
	"word/document.xml", `<w:document xmlns:w="w" xmlns:r="r"><w:body><w:p><w:r><w:t>@</w:t></w:r></w:p></w:body>` +
		`</w:document>`,
}, "word/document.xml"}

func badWord(t testing.TB) []bad {
	const end = `</w:t></w:r></w:p>`
	const begin = `<w:p><w:r><w:t>`
	body := func(s string) string { return word.saying("The roof is dry." + end + s + begin) }
	made := func(name, text string, parts ...string) bad {
		return bad{name, word.file, word.with(t, parts...), "", text}
	}
	refuses := func(name, fate string, parts ...string) bad {
		return bad{name, word.file, word.with(t, parts...), fate, ""}
	}
	const rels = "word/_rels/document.xml.rels"
	listed := func(properties, text string) string {
		return `<w:p><w:pPr>` + properties + `</w:pPr><w:r><w:t>` + text + end
	}
	inList := `<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>`
	lists := func(abstract, number string) []string {
		return []string{
			word.main, body(listed(inList, "one") + listed(inList, "two")), rels,
			ooxmltest.Relations("n", "numbering", "numbering.xml"), "word/numbering.xml",
			`<w:numbering><w:abstractNum w:abstractNumId="0">` + abstract + `</w:abstractNum><w:num w:numId="1">` +
				`<w:abstractNumId w:val="0"/>` + number + `</w:num></w:numbering>`,
		}
	}
	level := func(inside string) string { return `<w:lvl w:ilvl="0">` + inside + `</w:lvl>` }
	chain := ""
	for i := range 20_000 {
		chain += fmt.Sprintf(`<w:style w:type="paragraph" w:styleId="s%d"><w:basedOn w:val="s%d"/></w:style>`, i, i+1)
	}
	return append(badPackages(t, word),
		refuses("tables in tables", tooDeep, word.main, body(strings.Repeat("<w:tbl><w:tr><w:tc>", 10_000))),
		made("tables 300 deep that end", "roof", word.main, body(strings.Repeat("<w:tbl><w:tr><w:tc>", 300)+
			begin+"deep"+end+strings.Repeat("</w:tc></w:tr></w:tbl>", 300))),
		made("a cell over a billion columns", "wide", word.main, body(`<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan `+
			`w:val="1000000000"/></w:tcPr>`+begin+"wide"+end+`</w:tc><w:tc>`+begin+"b"+end+`</w:tc></w:tr></w:tbl>`)),
		made("100,000 cells that span 100 columns", "roof", word.main, body(`<w:tbl><w:tr>`+strings.Repeat(
			`<w:tc><w:tcPr><w:gridSpan w:val="100"/></w:tcPr></w:tc>`, 100_000)+`</w:tr></w:tbl>`)),
		made("styles based on each other", "roof", word.main, body(listed(`<w:pStyle w:val="a"/>`, "in a loop")), rels,
			ooxmltest.Relations("s", "styles", "styles.xml"), "word/styles.xml",
			`<w:styles><w:style w:type="paragraph" w:styleId="a"><w:basedOn w:val="b"/></w:style>`+
				`<w:style w:type="paragraph" w:styleId="b"><w:basedOn w:val="a"/></w:style></w:styles>`),
		made("20,000 styles in a chain", "in a chain", word.main,
			body(strings.Repeat(listed(`<w:pStyle w:val="s0"/>`, "in a chain"), 500)), rels,
			ooxmltest.Relations("s", "styles", "styles.xml"), "word/styles.xml", `<w:styles>`+chain+`</w:styles>`),
		made("headers that are the document", "roof", rels,
			ooxmltest.Relations("h", "header", "document.xml", "f", "footnotes", "document.xml", "n", "numbering",
				"document.xml", "s", "styles", "document.xml")),
		refuses("relations that are no XML", damaged, rels, "<<<"),
		made("relations that lead outside", "roof", rels, ooxmltest.Relations("h", "header", "../../../etc/passwd",
			"t", "attachedTemplate", "http://127.0.0.1:1/x", "s", "styles", "//127.0.0.1/x")),
		refuses("a document that is its relations", damaged, "_rels/.rels",
			ooxmltest.Relations("m", "officeDocument", "_rels/none")),
		made("a list of level 999", "one", word.main,
			body(listed(`<w:numPr><w:ilvl w:val="999"/><w:numId w:val="1"/></w:numPr>`, "one"))),
		made("a number of 2³¹", "2147483647", lists(level(`<w:start w:val="2147483647"/><w:lvlText w:val="%1"/>`),
			"")...),
		made("letters for the billionth item", "one", lists(level(`<w:start w:val="1000000000"/><w:numFmt `+
			`w:val="lowerLetter"/><w:lvlText w:val="%1"/>`), "")...),
		made("a number below zero in Roman figures", "one", lists(level(`<w:start w:val="-5"/><w:numFmt `+
			`w:val="upperRoman"/><w:lvlText w:val="%1%9%0%"/>`), `<w:lvlOverride w:ilvl="-1"><w:startOverride `+
			`w:val="-9"/></w:lvlOverride>`)...),
		made("a number's text of 300 kB", "one", lists(level(`<w:lvlText w:val="`+strings.Repeat("%1.", 100_000)+`"/>`),
			"")...),
		made("lists that link to themselves", "one", lists(`<w:numStyleLink w:val="x"/><w:styleLink w:val="x"/>`,
			"")...),
		made("a note in itself", "roof", word.main, body(`<w:p><w:r><w:footnoteReference w:id="1"/></w:r></w:p>`), rels,
			ooxmltest.Relations("f", "footnotes", "footnotes.xml"), "word/footnotes.xml",
			`<w:footnotes><w:footnote w:id="1">`+listed(``, `in itself</w:t><w:footnoteReference w:id="1"/><w:t>`)+
				`</w:footnote></w:footnotes>`),
		made("fields that never end", "roof", word.main, body(strings.Repeat(
			`<w:p><w:r><w:fldChar w:fldCharType="begin"/><w:instrText>HYPERLINK "x"</w:instrText></w:r></w:p>`,
			50_000))),
		made("text boxes in text boxes", "roof", word.main, body(strings.Repeat(
			`<w:p><w:r><w:drawing><w:txbxContent>`, 200)+
			strings.Repeat(`</w:txbxContent></w:drawing></w:r></w:p>`, 200))),
		made("a diagram that is the document", "roof", word.main, body(`<w:p><w:r><w:drawing><a:graphicData>`+
			`<dgm:relIds r:dm="d"/><c:chart r:id="d"/></a:graphicData></w:drawing></w:r></w:p>`), rels,
			ooxmltest.Relations("d", "diagramData", "document.xml")),
		made("symbols beyond Unicode", "roof", word.main,
			body(`<w:p><w:r><w:sym w:font="Wingdings" w:char="FFFFFFFF"/>`+
				`<w:sym w:char="D800"/><w:sym w:char="-1"/></w:r></w:p>`)),
	)
}

func badMails() []bad {
	read := func(name, text, data string) bad { return bad{name, "bad.eml", "Subject: Roof\n" + data, "", text} }
	deep, closed := "", ""
	for i := range 5000 {
		deep += fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	for i := range 300 {
		closed += fmt.Sprintf("Content-Type: message/rfc822\nSubject: %d\n\n", i)
	}
	mixed := "Content-Type: multipart/mixed; boundary=x\n\n"
	return []bad{
		{"nothing", "bad.eml", "", misnamed, ""},
		{"a picture", "bad.eml", "\x89PNG\r\n\x1a\n", "This image is damaged", ""},
		{"headers without names", "bad.eml", strings.Repeat(":\n", 100_000), misnamed, ""},
		read("parts in parts", "Roof", deep),
		read("mails in mails", "Roof", closed),
		read("a part that never ends", "half", mixed+"--x\nContent-Type: text/plain\n\nhalf"),
		read("200,000 empty parts", "Roof", mixed+strings.Repeat("--x\n\n", 200_000)),
		read("a boundary of nothing", "Roof", "Content-Type: multipart/mixed; boundary=\"\"\n\n--\n\nThe roof"),
		read("a boundary of 1 MB", "Roof", "Content-Type: multipart/mixed; boundary="+strings.Repeat("x", 1<<20)+
			"\n\nx"),
		read("a million headers", "dry", strings.Repeat("X: y\n", 1_000_000)+"\nThe roof is dry."),
		read("a header of 8 MB", "dry", "X: "+strings.Repeat("y", 8<<20)+"\n\nThe roof is dry."),
		read("a header that goes on for 500,000 lines", "dry", "To: a\n"+strings.Repeat(" b\n", 500_000)+
			"\nThe roof is dry."),
		read("a million encoded words", "dry", "To: "+strings.Repeat("=?utf-8?q?a?= ", 1_000_000)+
			"\n\nThe roof is dry."),
		read("a character set that nobody knows", "dry",
			"Content-Type: text/plain; charset=x-none\nTo: =?x-none?b?AA==?=\n\n"+
				"The roof is dry."),
		read("an encoding that nobody knows", "dry", "Content-Transfer-Encoding: x-none\n\nThe roof is dry."),
		read("base64 that is none", "Roof", "Content-Transfer-Encoding: base64\n\n=====!!!!"),
		read("quoted-printable that breaks off", "dry", "Content-Transfer-Encoding: quoted-printable\n\nThe roof "+
			"is dry=\n=Z"),
		read("a file whose path leads outside", "slip", mixed+"--x\nContent-Disposition: attachment; "+
			"filename=\"../../slip\"\n\nx\n--x\nContent-Disposition: attachment; "+
			"filename=\"..\\\\..\\\\slip\"\n\nx\n--x--"),
		read("3,000 files", "Roof", mixed+strings.Repeat("--x\nContent-Disposition: attachment; "+
			"filename=\"a\"\n\nx\n", 3000)),
		read("elements 100,000 deep", "dry", "Content-Type: text/html\n\nThe roof is dry."+strings.Repeat("<div>",
			100_000)),
		read("a date that is none", "dry", "Date: Thu, 99 Foo 99999 99:99:99 +9999\n\nThe roof is dry."),
		read("zero bytes", "dry", "To: a\x00b\n\nThe roof is\x00 dry."),
		read("100,000 lines of quotations", "dry", "\n"+strings.Repeat(strings.Repeat(">", 50)+" a\nb\n", 50_000)+
			"dry"),
	}
}

func badMailboxes() []bad {
	read := func(name, text, data string) bad { return bad{name, "bad.mbox", data, "", text} }
	fails := func(name, fate, data string) bad { return bad{name, "bad.mbox", data, fate, ""} }
	const one = "From a Mon Jun 01 10:00:00 2009\nSubject: Roof\n\nThe roof is dry.\n\n"
	return []bad{
		fails("nothing", misnamed, ""),
		fails("a ZIP archive", misnamed, "PK\x03\x04"),
		fails("a million beginnings", noText, strings.Repeat("From a\n\n", 1_000_000)),
		read("60,000 mails", "dry", strings.Repeat(one, 60_000)),
		read("a beginning alone, then a mail", "dry", "From a\n"+one),
		read("half a mail", "The", one[:len(one)-12]),
		read("a line of 16 MB", "Roof", one+strings.Repeat("x", 16<<20)),
		read("beginnings without mails between mails", "dry", strings.Repeat("From x\n\n"+one, 1000)),
		read("a million lines that are quoted beginnings", "dry", one+strings.Repeat(">From x\n", 1_000_000)),
		read("a beginning of 8 MB", "dry", one+"From "+strings.Repeat("x", 8<<20)+"\n\nx"),
		read("a mail of parts in parts", "dry", one+"From a\n"+strings.Repeat(
			"Content-Type: multipart/mixed; boundary=x\n\n--x\n", 5000)+"\n\n"+one),
		read("zero bytes", "dry", one+"From \x00\nSubject: \x00\n\n\x00"),
		read("mails that hold 3,000 files", "dry", one+strings.Repeat("From a\nContent-Disposition: attachment; "+
			"filename=\"../../a\"\n\nx\n\n", 3000)),
		fails("lines that end with carriage returns alone", noText, strings.ReplaceAll(one, "\n", "\r")),
		read("characters of no encoding", "dry", one+"From a\nSubject: \xff\xfe\xc0\n\n\x81\x8d\x8f\n"),
		read("1,000 mails of 1,000 headers", "dry", strings.Repeat("From a\n"+strings.Repeat("To: a\n", 1000)+
			"\ndry\n\n", 1000)),
	}
}
