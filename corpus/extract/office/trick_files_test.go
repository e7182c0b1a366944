package office_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
)

// odfNames are the namespaces of OpenDocument.
const odfNames = ` xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
 xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
 xmlns:form="urn:oasis:names:tc:opendocument:xmlns:form:1.0"
 xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"
 xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2"`

// odfStyles is the part styles.xml.
const odfStyles = `<?xml version="1.0" encoding="UTF-8"?><office:document-styles` + odfNames + `><office:styles>COMMON
 </office:styles><office:automatic-styles><style:page-layout style:name="pm"><style:page-layout-properties
 fo:page-width="21cm" fo:page-height="29cm" fo:margin="2cm">PAGE</style:page-layout-properties><style:header-style>
 <style:header-footer-properties fo:min-height="1cm">HEADER</style:header-footer-properties></style:header-style>
 </style:page-layout><style:style style:name="dp" style:family="drawing-page"><style:drawing-page-properties MASTER/>
 </style:style></office:automatic-styles><office:master-styles><style:master-page style:name="Standard"
 style:page-layout-name="pm" draw:style-name="dp"><style:header><text:p>head</text:p></style:header>
 </style:master-page></office:master-styles></office:document-styles>`

// odfContent is the part content.xml with a body.
func odfContent(body string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><office:document-content` + odfNames + `><office:font-face-decls>FONTS
 </office:font-face-decls><office:automatic-styles>STYLES<style:style style:name="sl" style:family="drawing-page">
 <style:drawing-page-properties SLIDE/></style:style></office:automatic-styles><office:body>` + body +
		`</office:body></office:document-content>`
}

// odfParts are the parts of an OpenDocument file.
func odfParts(kind, body string) ooxmltest.Parts {
	mime := "application/vnd.oasis.opendocument." + kind
	return ooxmltest.Parts{
		"mimetype": mime, "styles.xml": odfStyles, "content.xml": odfContent(body),
		"META-INF/manifest.xml": `<manifest:manifest
 xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2"><manifest:file-entry
 manifest:full-path="/" manifest:media-type="` + mime + `"/><manifest:file-entry manifest:full-path="content.xml"
 manifest:media-type="text/xml"/><manifest:file-entry manifest:full-path="styles.xml" manifest:media-type="text/xml"/>
 </manifest:manifest>`,
	}
}

const (
	schemas = "http://schemas.openxmlformats.org/"
	ooNames = ` xmlns:w="` + schemas + `wordprocessingml/2006/main" xmlns:p="` + schemas + `presentationml/2006/main"
 xmlns:r="` + schemas + `officeDocument/2006/relationships" xmlns:a="` + schemas + `drawingml/2006/main"
 xmlns:wp="` + schemas + `drawingml/2006/wordprocessingDrawing" xmlns:pic="` + schemas + `drawingml/2006/picture"
 xmlns:xdr="` + schemas + `drawingml/2006/spreadsheetDrawing" xmlns:v="urn:schemas-microsoft-com:vml"
 xmlns:o="urn:schemas-microsoft-com:office:office"
 xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"`
)

// types is the part with the content types of the others: pairs of a part and the end of its type.
func types(pairs ...string) string {
	var b strings.Builder
	b.WriteString(`<Types xmlns="` + schemas + `package/2006/content-types"><Default Extension="rels"
 ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml"
 ContentType="application/xml"/>`)
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString(`<Override PartName="/` + pairs[i] + `" ` +
			`ContentType="application/vnd.openxmlformats-officedocument.` +
			pairs[i+1] + `+xml"/>`)
	}
	return b.String() + `</Types>`
}

// relations is a part with relationships and a mark for more of them.
func relations(mark string, words ...string) string {
	return strings.Replace(ooxmltest.Relations(words...), "</Relationships>", mark+"</Relationships>", 1)
}

// templates are files with marks for the markup of tricks.
func templates(kind string) (main string, parts ooxmltest.Parts) {
	const tree = `<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>`
	switch kind {
	case "odt":
		return "", odfParts("text", `<office:text>BODY<text:p>The end.</text:p></office:text>`)
	case "odp":
		return "", odfParts("presentation", `<office:presentation><draw:page draw:name="p" draw:style-name="sl"
 draw:master-page-name="Standard"><draw:frame svg:x="1cm" svg:y="20cm" svg:width="9cm"
 svg:height="2cm"><draw:text-box>
 <text:p>A slide</text:p></draw:text-box></draw:frame>BODY</draw:page></office:presentation>`)
	case "ods":
		return "", odfParts("spreadsheet", `<office:spreadsheet><table:table table:name="S"><table:shapes>SHAPES
 </table:shapes><table:table-row><table:table-cell office:value-type="string">CELL<text:p>A cell</text:p>
 </table:table-cell>CELLS</table:table-row></table:table>BODY</office:spreadsheet>`)
	case "docx":
		return "word/document.xml", ooxmltest.Parts{
			"[Content_Types].xml":          types("word/document.xml", "wordprocessingml.document.main"),
			"word/_rels/document.xml.rels": relations("RELS", "s", "settings", "settings.xml"),
			"word/settings.xml": `<w:settings` + ooNames + `><w:displayBackgroundShape/><w:attachedTemplate ` +
				`r:id="r20"/>
 </w:settings>`,
			"word/document.xml": `<w:document` + ooNames + `>BACK<w:body>BODY<w:p><w:r><w:t>The end.</w:t></w:r></w:p>
 </w:body></w:document>`,
		}
	case "xlsx":
		return "xl/workbook.xml", ooxmltest.Parts{
			"[Content_Types].xml": types("xl/workbook.xml", "spreadsheetml.sheet.main", "xl/worksheets/sheet1.xml",
				"spreadsheetml.worksheet", "xl/drawings/drawing1.xml", "drawing"),
			"xl/_rels/workbook.xml.rels": relations("BOOKRELS", "s", "worksheet", "worksheets/sheet1.xml"),
			"xl/workbook.xml": `<workbook xmlns="` + schemas + `spreadsheetml/2006/main"` + ooNames + `><sheets><sheet
 name="S" sheetId="1" r:id="s"/></sheets>BOOK</workbook>`,
			"xl/worksheets/_rels/sheet1.xml.rels": relations("SHEETRELS", "d", "drawing", "../drawings/drawing1.xml"),
			"xl/worksheets/sheet1.xml": `<worksheet xmlns="` + schemas + `spreadsheetml/2006/main"` + ooNames + `>
 <sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>A cell</t></is></c></row><row r="9">CELL</row></sheetData>
 <drawing r:id="d"/>SHEET</worksheet>`,
			"xl/drawings/_rels/drawing1.xml.rels": relations("DRAWINGRELS"),
			"xl/drawings/drawing1.xml":            `<xdr:wsDr` + ooNames + `>DRAWING</xdr:wsDr>`,
		}
	case "pptx":
		return "ppt/presentation.xml", ooxmltest.Parts{
			"[Content_Types].xml": types("ppt/presentation.xml", "presentationml.presentation.main",
				"ppt/slides/slide1.xml", "presentationml.slide", "ppt/slideLayouts/slideLayout1.xml",
				"presentationml.slideLayout", "ppt/slideMasters/slideMaster1.xml", "presentationml.slideMaster",
				"ppt/theme/theme1.xml", "theme"),
			"ppt/_rels/presentation.xml.rels": relations("", "s", "slide", "slides/slide1.xml", "m", "slideMaster",
				"slideMasters/slideMaster1.xml"),
			"ppt/presentation.xml": `<p:presentation` + ooNames + `><p:sldMasterIdLst><p:sldMasterId id="2147483648"
 r:id="m"/></p:sldMasterIdLst><p:sldIdLst><p:sldId id="256" r:id="s"/></p:sldIdLst><p:sldSz cx="12000000"
 cy="6800000"/></p:presentation>`,
			"ppt/slides/_rels/slide1.xml.rels": relations("RELS", "l", "slideLayout",
				"../slideLayouts/slideLayout1.xml"),
			"ppt/slides/slide1.xml": `<p:sld` + ooNames + `><p:cSld>BACK<p:spTree>` + tree +
				`BODY<p:sp><p:nvSpPr><p:cNvPr
 id="2" name="t"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x="100000" y="3000000"/><a:ext cx="2000000"
 cy="900000"/></a:xfrm><a:prstGeom prst="rect"/></p:spPr><p:txBody><a:bodyPr/><a:p><a:r><a:t>A slide</a:t></a:r></a:p>
 </p:txBody></p:sp></p:spTree></p:cSld></p:sld>`,
			"ppt/slideLayouts/_rels/slideLayout1.xml.rels": relations("", "m", "slideMaster",
				"../slideMasters/slideMaster1.xml"),
			"ppt/slideLayouts/slideLayout1.xml": `<p:sldLayout` + ooNames + `><p:cSld><p:spTree>` + tree +
				`</p:spTree></p:cSld></p:sldLayout>`,
			"ppt/slideMasters/_rels/slideMaster1.xml.rels": relations("", "t", "theme", "../theme/theme1.xml", "l",
				"slideLayout", "../slideLayouts/slideLayout1.xml"),
			"ppt/slideMasters/slideMaster1.xml": `<p:sldMaster` + ooNames + `><p:cSld><p:spTree>` + tree + `</p:spTree>
 </p:cSld><p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3"
 accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/><p:sldLayoutIdLst>
 <p:sldLayoutId id="2147483649" r:id="l"/></p:sldLayoutIdLst></p:sldMaster>`,
			"ppt/theme/theme1.xml": `<a:theme` + ooNames + ` name="t"><a:themeElements><a:clrScheme ` +
				`name="c"/></a:themeElements>
 </a:theme>`,
		}
	}
	return "", ooxmltest.Parts{"": `{\rtf1\ansi BODY The end.\par}`}
}

// marks are where the markup of tricks goes.
var marks = []string{"BODY", "STYLES", "COMMON", "PAGE", "HEADER", "FONTS", "SLIDE", "MASTER", "SHAPES", "CELLS",
	"CELL", "DRAWINGRELS", "DRAWING", "SHEETRELS", "SHEET", "BOOKRELS", "BOOK", "RELS", "BACK"}

// trickFile writes a file with all tricks of a kind.
func trickFile(t *testing.T, l *lures, kind string) string {
	t.Helper()
	main, parts := templates(kind)
	markup := map[string]string{}
	for _, trick := range tricksOf(kind) {
		filled := l.add(t)
		for part, text := range trick.parts {
			markup[part] += filled.Replace(text)
		}
	}
	var pairs []string
	for _, mark := range marks {
		pairs = append(pairs, mark, markup[mark])
		delete(markup, mark)
	}
	fill := strings.NewReplacer(pairs...)
	for name, text := range parts {
		parts[name] = fill.Replace(text)
	}
	for name, text := range markup { // parts of their own
		parts[name] = text
	}
	if kind == "rtf" {
		path := filepath.Join(t.TempDir(), "tricks.rtf")
		if err := os.WriteFile(path, []byte(parts[""]), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, ok := parts["Pictures/a.svg"]; ok { // LibreOffice refuses what is not in the list
		parts["META-INF/manifest.xml"] = strings.Replace(parts["META-INF/manifest.xml"], "</manifest:manifest>",
			`<manifest:file-entry manifest:full-path="Pictures/a.svg" manifest:media-type="image/svg+xml"/>`+
				`</manifest:manifest>`, 1)
	}
	return ooxmltest.Write(t, "tricks."+kind, main, parts)
}
