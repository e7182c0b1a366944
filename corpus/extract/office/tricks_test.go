package office_test

import "strings"

// trick is markup that refers to something outside of its file. lures.add fills it in. parts are where it stands, by
// the marks of the templates in trickFile.
type trick struct {
	name  string
	parts map[string]string
}

const para = "STYLES" // mark of automatic styles

// odfFrame is a picture of an address.
func odfFrame(address string) map[string]string {
	return map[string]string{"BODY": `<text:p><draw:frame text:anchor-type="as-char" svg:width="2cm" ` +
		`svg:height="2cm">` +
		`<draw:image xlink:href="` + address + `" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/>` +
		`</draw:frame></text:p>`}
}

// background is a style of a family with a picture behind its text.
func background(family, properties, address string) string {
	return `<style:style style:name="S$N" style:family="` + family + `"><style:` + properties + `>` +
		`<style:background-image xlink:href="` + address + `" xlink:type="simple" xlink:actuate="onLoad" ` +
		`style:repeat="repeat"/></style:` + properties + `></style:style>`
}

// fillImage is a named picture for fillings.
func fillImage(address string) string {
	return `<draw:fill-image draw:name="F$N" xlink:href="` + address + `" xlink:type="simple" xlink:show="embed" ` +
		`xlink:actuate="onLoad"/>`
}

const fill = `draw:fill="bitmap" draw:fill-image-name="F$N" style:repeat="repeat"`

const shape = `<draw:rect text:anchor-type="as-char" draw:style-name="S$N" svg:width="2cm" svg:height="2cm"/>`

const filledStyle = `<style:style style:name="S$N" style:family="graphic"><style:graphic-properties ` + fill +
	`/></style:style>`

var odtTricks = []trick{
	{"a picture", odfFrame("$FILE.png")},
	{"a picture in SVG", odfFrame("$FILE.svg")},
	{"a picture by its path", odfFrame("$PATH.png")},
	{"a picture above the package", odfFrame("$UP.png")},
	{"a picture by a mixed scheme", odfFrame("$MIXED.png")},
	{"a picture of localhost", odfFrame("$HOST.png")},
	{"a picture by a share", odfFrame("$UNC.png")},
	{"a picture in percents", odfFrame("$PERCENT.png")},
	{"a picture in entities", odfFrame("$ENTITY.png")},
	{"a picture in another package", odfFrame("$INNER.png/x.png")},
	{"a picture of an expanded address", odfFrame("$EXPAND.png")},
	{"a picture of an open document", odfFrame("$TEL.png")},
	{"a picture of a server", odfFrame("$HTTP.png")},
	{"a filling of a shape", map[string]string{"COMMON": fillImage("$FILE.png"), para: filledStyle,
		"BODY": `<text:p>` + shape + `</text:p>`}},
	{"a filling in SVG", map[string]string{"COMMON": fillImage("$FILE.svg"), para: filledStyle,
		"BODY": `<text:p>` + shape + `</text:p>`}},
	{"a filling of a server", map[string]string{"COMMON": fillImage("$HTTP.png"), para: filledStyle,
		"BODY": `<text:p>` + shape + `</text:p>`}},
	{"a filling of a paragraph", map[string]string{"COMMON": fillImage("$FILE.png"), para: `<style:style ` +
		`style:name="S$N" style:family="paragraph"><style:paragraph-properties/><style:graphic-properties ` + fill +
		`/></style:style>`, "BODY": `<text:p text:style-name="S$N">filled</text:p>`}},
	{"a filling of a frame", map[string]string{"COMMON": fillImage("$FILE.png"), para: filledStyle,
		"BODY": `<text:p><draw:frame draw:style-name="S$N" text:anchor-type="as-char" svg:width="3cm">` +
			`<draw:text-box fo:min-height="1cm"><text:p>x</text:p></draw:text-box></draw:frame></text:p>`}},
	{"the background of a paragraph", map[string]string{para: background("paragraph", "paragraph-properties",
		"$FILE.png"), "BODY": `<text:p text:style-name="S$N">background</text:p>`}},
	{"the background of a section", map[string]string{para: background("section", "section-properties", "$FILE.png"),
		"BODY": `<text:section text:name="s$N" text:style-name="S$N"><text:p>x</text:p></text:section>`}},
	{"the background of a table", map[string]string{para: background("table", "table-properties", "$FILE.png"),
		"BODY": `<table:table table:name="t$N" table:style-name="S$N"><table:table-column/><table:table-row>` +
			`<table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table>`}},
	{"the background of a row", map[string]string{para: background("table-row", "table-row-properties", "$FILE.png"),
		"BODY": `<table:table table:name="t$N"><table:table-column/><table:table-row table:style-name="S$N">` +
			`<table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table>`}},
	{"the background of a cell", map[string]string{para: background("table-cell", "table-cell-properties", "$FILE.png"),
		"BODY": `<table:table table:name="t$N"><table:table-column/><table:table-row>` +
			`<table:table-cell table:style-name="S$N"><text:p>x</text:p></table:table-cell></table:table-row>` +
			`</table:table>`}},
	{"the background of a frame", map[string]string{para: background("graphic", "graphic-properties", "$FILE.png"),
		"BODY": `<text:p><draw:frame draw:style-name="S$N" text:anchor-type="as-char" svg:width="3cm">` +
			`<draw:text-box fo:min-height="1cm"><text:p>x</text:p></draw:text-box></draw:frame></text:p>`}},
	{"the background of the page", map[string]string{"PAGE": `<style:background-image xlink:href="$FILE.png" ` +
		`xlink:type="simple" style:repeat="repeat"/>`}},
	{"the background of the header", map[string]string{"HEADER": `<style:background-image xlink:href="$FILE.png" ` +
		`xlink:type="simple" style:repeat="repeat"/>`}},
	{"a bullet", map[string]string{para: `<text:list-style style:name="L$N"><text:list-level-style-image ` +
		`text:level="1" xlink:href="$FILE.png" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad">` +
		`<style:list-level-properties fo:width="1cm" fo:height="1cm" style:vertical-pos="middle" ` +
		`style:vertical-rel="line"/></text:list-level-style-image></text:list-style>`,
		"BODY": `<text:list text:style-name="L$N"><text:list-item><text:p>bullet</text:p></text:list-item>` +
			`</text:list>`}},
	{"a section of another text", map[string]string{"BODY": `<text:section text:name="s$N"><text:section-source ` +
		`xlink:href="$FILE.fodt" xlink:type="simple"/><text:p>x</text:p></text:section>`}},
	{"a section of a server", map[string]string{"BODY": `<text:section text:name="s$N"><text:section-source ` +
		`xlink:href="$HTTP.fodt" xlink:type="simple"/><text:p>x</text:p></text:section>`}},
	{"a section by DDE", map[string]string{"BODY": `<text:section text:name="s$N"><office:dde-source ` +
		`office:dde-application="soffice" office:dde-topic="$PATH.fodt" office:dde-item="x" ` +
		`office:automatic-update="true"/><text:p>x</text:p></text:section>`}},
	{"an object", map[string]string{"BODY": `<text:p><draw:frame text:anchor-type="as-char" svg:width="4cm" ` +
		`svg:height="2cm"><draw:object xlink:href="$FILE.fodt" xlink:type="simple" xlink:show="embed" ` +
		`xlink:actuate="onLoad"/></draw:frame></text:p>`}},
	{"an OLE object", map[string]string{"BODY": `<text:p><draw:frame text:anchor-type="as-char" svg:width="4cm" ` +
		`svg:height="2cm"><draw:object-ole xlink:href="$FILE.fodt" xlink:type="simple"/></draw:frame></text:p>`}},
	{"a plugin", map[string]string{"BODY": `<text:p><draw:frame text:anchor-type="as-char" svg:width="4cm" ` +
		`svg:height="2cm"><draw:plugin xlink:href="$FILE.png" xlink:type="simple" draw:mime-type="image/png"/>` +
		`</draw:frame></text:p>`}},
	{"a floating frame", map[string]string{"BODY": `<text:p><draw:frame text:anchor-type="as-char" svg:width="4cm" ` +
		`svg:height="2cm"><draw:floating-frame xlink:href="$FILE.html" xlink:type="simple"/></draw:frame></text:p>`}},
	{"a font", map[string]string{"FONTS": `<style:font-face style:name="A$N" ` +
		`svg:font-family="A$N"><svg:font-face-src>` +
		`<svg:font-face-uri xlink:href="$HTTP.ttf" xlink:type="simple"/></svg:font-face-src><svg:definition-src ` +
		`xlink:href="$HTTP.svg"/></style:font-face>`}},
	{"a picture of a form's button", map[string]string{"BODY": `<office:forms><form:form ` +
		`form:name="f$N"><form:button ` +
		`form:name="b$N" xml:id="c$N" form:id="c$N" form:image-data="$FILE.png"/></form:form></office:forms>` +
		`<text:p><draw:control text:anchor-type="as-char" svg:width="3cm" svg:height="2cm" ` +
		`draw:control="c$N"/></text:p>`}},
	{"a picture inside a picture of the package", map[string]string{
		"Pictures/a.svg": `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ` +
			`width="64" height="64"><image width="64" height="64" xlink:href="$FILE.png"/></svg>`,
		"BODY": `<text:p><draw:frame text:anchor-type="as-char" svg:width="2cm" svg:height="2cm"><draw:image ` +
			`xlink:href="Pictures/a.svg" xlink:type="simple"/></draw:frame></text:p>`}},
	{"a page of the web that has its own", map[string]string{"BODY": `<text:p><text:a xlink:href="$HTTP.html" ` +
		`xlink:type="simple">link</text:a></text:p>`}},
}

var odpTricks = []trick{
	{"a picture", odfFrame("$FILE.png")},
	{"a picture of a server", odfFrame("$HTTP.png")},
	{"a filling of a shape", map[string]string{"COMMON": fillImage("$FILE.png"), para: filledStyle, "BODY": shape}},
	{"the background of a slide", map[string]string{"COMMON": fillImage("$FILE.png"), "SLIDE": fill}},
	{"the background of a master", map[string]string{"COMMON": fillImage("$FILE.png"), "MASTER": fill}},
	{"an object", map[string]string{"BODY": `<draw:frame svg:width="4cm" svg:height="2cm"><draw:object ` +
		`xlink:href="$FILE.fodt" xlink:type="simple"/></draw:frame>`}},
	{"a film", map[string]string{"BODY": `<draw:frame svg:width="4cm" svg:height="2cm"><draw:plugin ` +
		`xlink:href="$HTTP.mp4" xlink:type="simple" draw:mime-type="application/vnd.sun.star.media"/></draw:frame>`}},
}

var odsTricks = []trick{
	{"a picture", map[string]string{"SHAPES": `<draw:frame svg:width="2cm" svg:height="2cm" svg:x="8cm" ` +
		`svg:y="1cm">` +
		`<draw:image xlink:href="$FILE.png" xlink:type="simple"/></draw:frame>`}},
	{"a picture of a server", map[string]string{"SHAPES": `<draw:frame svg:width="2cm" svg:height="2cm" ` +
		`svg:x="8cm" ` +
		`svg:y="4cm"><draw:image xlink:href="$HTTP.png" xlink:type="simple"/></draw:frame>`}},
	{"a filling of a shape", map[string]string{"COMMON": fillImage("$FILE.png"), para: filledStyle,
		"SHAPES": `<draw:rect draw:style-name="S$N" svg:width="2cm" svg:height="2cm" svg:x="11cm" svg:y="1cm"/>`}},
	{"the background of the page", map[string]string{"PAGE": `<style:background-image xlink:href="$FILE.png" ` +
		`xlink:type="simple" style:repeat="repeat"/>`}},
	{"a sheet of another file", map[string]string{"BODY": `<table:table table:name="t$N"><table:table-source ` +
		`xlink:href="$FILE.csv" xlink:type="simple" table:filter-name="Text - txt - csv (StarCalc)" ` +
		`table:refresh-delay="PT1S"/><table:table-row><table:table-cell/></table:table-row></table:table>`}},
	{"cells of another file", map[string]string{"CELL": `<table:cell-range-source table:name="A1" ` +
		`table:last-column-spanned="1" table:last-row-spanned="1" xlink:href="$HTTP.html" xlink:type="simple" ` +
		`table:filter-name="calc_HTML_WebQuery"/>`}},
	{"a formula", map[string]string{"CELLS": `<table:table-cell ` +
		`table:formula="of:=[&apos;$FILE.csv&apos;#$lure.A1]" office:value-type="string"><text:p>x</text:p>` +
		`</table:table-cell>`}},
	{"a web service", map[string]string{"CELLS": `<table:table-cell ` +
		`table:formula="of:=WEBSERVICE(&quot;$HTTP.txt&quot;)" office:value-type="string"><text:p>x</text:p>` +
		`</table:table-cell>`}},
}

// pic is a picture of DrawingML with the reference blip.
func pic(blip string) string {
	return `<w:p><w:r><w:drawing><wp:inline><wp:extent cx="900000" cy="900000"/><wp:docPr id="1" name="p"/><a:graphic>
		<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr>
		<pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip ` + blip + `/><a:stretch>
		<a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/>
		</a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>
		</w:r></w:p>`
}

// rel is a relationship of trick $N to an address outside.
func rel(kind, address string) string {
	return `<Relationship Id="r$N" TargetMode="External" Target="` + address + `" ` +
		`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/` + kind + `"/>`
}

func vml(inside string) string {
	return `<w:p><w:r><w:pict><v:shape style="width:70pt;height:70pt">` + inside + `</v:shape></w:pict></w:r></w:p>`
}

// field is a field of Word whose code is in pieces.
func field(pieces ...string) string {
	var b strings.Builder
	b.WriteString(`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r>`)
	for _, piece := range pieces {
		b.WriteString(`<w:r><w:instrText xml:space="preserve">` + piece + `</w:instrText></w:r>`)
	}
	return b.String() + `<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>result</w:t></w:r>` +
		`<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`
}

var docxTricks = []trick{
	{"a linked picture", map[string]string{"RELS": rel("image", "$FILE.png"), "BODY": pic(`r:link="r$N"`)}},
	{"an embedded picture", map[string]string{"RELS": rel("image", "$FILE.png"), "BODY": pic(`r:embed="r$N"`)}},
	{"a picture in SVG", map[string]string{"RELS": rel("image", "$FILE.svg"), "BODY": pic(`r:link="r$N"`)}},
	{"a picture in percents", map[string]string{"RELS": rel("image", "$PERCENT.png"), "BODY": pic(`r:link="r$N"`)}},
	{"a picture in entities", map[string]string{"RELS": rel("image", "$ENTITY.png"), "BODY": pic(`r:link="r$N"`)}},
	{"a picture by a mixed scheme", map[string]string{"RELS": rel("image", "$MIXED.png"),
		"BODY": pic(`r:link="r$N"`)}},
	{"a picture by its path", map[string]string{"RELS": rel("image", "$PATH.png"), "BODY": pic(`r:link="r$N"`)}},
	{"a picture above the package", map[string]string{"RELS": rel("image", "$UP.png"), "BODY": pic(`r:link="r$N"`)}},
	{"a picture that says it is inside", map[string]string{"RELS": strings.Replace(rel("image", "$FILE.png"),
		"External", "Internal", 1), "BODY": pic(`r:embed="r$N"`)}},
	{"a picture of a server", map[string]string{"RELS": rel("image", "$HTTP.png"), "BODY": pic(`r:link="r$N"`)}},
	{"VML: a picture", map[string]string{"RELS": rel("image", "$FILE.png"), "BODY": vml(`<v:imagedata ` +
		`r:id="r$N"/>`)}},
	{"VML: a picture by href", map[string]string{"RELS": rel("image", "$FILE.png"),
		"BODY": vml(`<v:imagedata r:href="r$N"/>`)}},
	{"VML: a picture by src", map[string]string{"BODY": vml(`<v:imagedata src="$FILE.png"/>`)}},
	{"VML: a picture by o:href", map[string]string{"BODY": vml(`<v:imagedata o:href="$FILE.png"/>`)}},
	{"VML: a filling", map[string]string{"RELS": rel("image", "$FILE.png"), "BODY": `<w:p><w:r><w:pict><v:rect ` +
		`style="width:70pt;height:70pt"><v:fill r:id="r$N" type="tile"/></v:rect></w:pict></w:r></w:p>`}},
	{"the background", map[string]string{"RELS": rel("image", "$FILE.png"), "BACK": `<w:background ` +
		`w:color="FFFFFF"><v:background><v:fill r:id="r$N" type="tile"/></v:background></w:background>`}},
	{"a shape's filling", map[string]string{"RELS": rel("image", "$FILE.png"), "BODY": `<w:p><w:r><w:drawing>` +
		`<wp:inline><wp:extent cx="900000" cy="900000"/><wp:docPr id="1" name="p"/><a:graphic><a:graphicData ` +
		`uri="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"><wps:wsp><wps:cNvSpPr/><wps:spPr>` +
		`<a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"/><a:blipFill>` +
		`<a:blip r:link="r$N"/><a:stretch><a:fillRect/></a:stretch></a:blipFill></wps:spPr><wps:bodyPr/></wps:wsp>` +
		`</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`}},
	{"another document", map[string]string{"RELS": rel("aFChunk", "$FILE.html"), "BODY": `<w:altChunk r:id="r$N"/>`}},
	{"a part of a master document", map[string]string{"RELS": rel("subDocument", "$FILE.fodt"),
		"BODY": `<w:subDoc r:id="r$N"/>`}},
	{"an object", map[string]string{"RELS": rel("oleObject", "$FILE.fodt"), "BODY": `<w:p><w:r><w:object><v:shape ` +
		`id="s$N" style="width:70pt;height:70pt"/><o:OLEObject Type="Link" ProgID="Word.Document.12" ShapeID="s$N" ` +
		`DrawAspect="Content" r:id="r$N" UpdateMode="Always"/></w:object></w:r></w:p>`}},
	{"a template", map[string]string{"RELS": rel("attachedTemplate", "$HTTP.dotm")}},
	{"INCLUDEPICTURE", map[string]string{"BODY": field(` INCLUDEPICTURE "$PATH.png" \d `)}},
	{"INCLUDEPICTURE of a server", map[string]string{"BODY": field(` INCLUDEPICTURE "$HTTP.png" \d `)}},
	{"INCLUDEPICTURE in pieces", map[string]string{"BODY": field(` INCLU`, `DEPICTURE "$PATH`, `.png" \d `)}},
	{"INCLUDETEXT", map[string]string{"BODY": field(` INCLUDETEXT "$PATH.fodt" `)}},
	{"IMPORT", map[string]string{"BODY": field(` IMPORT "$PATH.png" `)}},
	{"LINK", map[string]string{"BODY": field(` LINK Word.Document.12 "$PATH.fodt" "" \a \t `)}},
	{"DDEAUTO", map[string]string{"BODY": field(` DDEAUTO soffice "$PATH.fodt" x `)}},
	{"a simple field", map[string]string{"BODY": `<w:p><w:fldSimple w:instr=" INCLUDETEXT &quot;$PATH.fodt&quot; ">` +
		`<w:r><w:t>result</w:t></w:r></w:fldSimple></w:p>`}},
	{"a link", map[string]string{"RELS": rel("hyperlink", "$HTTP.html"), "BODY": `<w:p><w:hyperlink ` +
		`r:id="r$N"><w:r>` +
		`<w:t>link</w:t></w:r></w:hyperlink></w:p>`}},
}

var xlsxTricks = []trick{
	{"a picture", map[string]string{"DRAWINGRELS": rel("image", "$FILE.png"),
		"DRAWING": `<xdr:absoluteAnchor><xdr:pos ` +
			`x="1900000" y="100000"/><xdr:ext cx="900000" cy="900000"/><xdr:pic><xdr:nvPicPr><xdr:cNvPr id="2" ` +
			`name="p"/>` +
			`<xdr:cNvPicPr/></xdr:nvPicPr><xdr:blipFill><a:blip r:link="r$N"/><a:stretch><a:fillRect/></a:stretch>` +
			`</xdr:blipFill><xdr:spPr><a:xfrm><a:off x="1900000" y="100000"/>` +
			`<a:ext cx="900000" cy="900000"/></a:xfrm>` +
			`<a:prstGeom prst="rect"/></xdr:spPr></xdr:pic><xdr:clientData/></xdr:absoluteAnchor>`}},
	{"a shape's filling", map[string]string{"DRAWINGRELS": rel("image", "$FILE.png"),
		"DRAWING": `<xdr:absoluteAnchor>` +
			`<xdr:pos x="1900000" y="1900000"/><xdr:ext cx="900000" cy="900000"/><xdr:sp>` +
			`<xdr:nvSpPr><xdr:cNvPr id="3" ` +
			`name="s"/><xdr:cNvSpPr/></xdr:nvSpPr><xdr:spPr><a:xfrm><a:off x="1900000" y="1900000"/>` +
			`<a:ext cx="900000" ` +
			`cy="900000"/></a:xfrm><a:prstGeom prst="rect"/><a:blipFill>` +
			`<a:blip r:link="r$N"/><a:stretch><a:fillRect/>` +
			`</a:stretch></a:blipFill></xdr:spPr></xdr:sp><xdr:clientData/></xdr:absoluteAnchor>`}},
	{"a picture of a server", map[string]string{"DRAWINGRELS": rel("image", "$HTTP.png"), "DRAWING": `` +
		`<xdr:absoluteAnchor><xdr:pos x="100000" y="1900000"/><xdr:ext cx="900000" ` +
		`cy="900000"/><xdr:pic><xdr:nvPicPr>` +
		`<xdr:cNvPr id="4" name="p"/><xdr:cNvPicPr/></xdr:nvPicPr><xdr:blipFill><a:blip ` +
		`r:link="r$N"/></xdr:blipFill>` +
		`<xdr:spPr><a:prstGeom prst="rect"/></xdr:spPr></xdr:pic><xdr:clientData/></xdr:absoluteAnchor>`}},
	{"the background", map[string]string{"SHEETRELS": rel("image", "$FILE.png"), "SHEET": `<picture r:id="r$N"/>`}},
	{"another workbook", map[string]string{"BOOKRELS": rel("externalLink", "$FILE.csv"),
		"BOOK": `<externalReferences><externalReference r:id="r$N"/></externalReferences>`,
		"CELL": `<c r="A9" t="str"><f>[1]lure!A1</f><v>x</v></c>`}},
	{"a web service", map[string]string{"CELL": `<c r="B9" ` +
		`t="str"><f>_xlfn.WEBSERVICE("$HTTP.txt")</f><v>x</v></c>`}},
	{"DDE", map[string]string{"CELL": `<c r="C9" t="str"><f>soffice|'$PATH.csv'!A1</f><v>x</v></c>`}},
}

var pptxTricks = []trick{
	{"a picture", map[string]string{"RELS": rel("image", "$FILE.png"), "BODY": slidePicture(`r:link="r$N"`)}},
	{"an embedded picture", map[string]string{"RELS": rel("image", "$FILE.png"),
		"BODY": slidePicture(`r:embed="r$N"`)}},
	{"a picture of a server", map[string]string{"RELS": rel("image", "$HTTP.png"),
		"BODY": slidePicture(`r:link="r$N"`)}},
	{"the background", map[string]string{"RELS": rel("image", "$FILE.png"), "BACK": `<p:bg><p:bgPr><a:blipFill>` +
		`<a:blip r:link="r$N"/><a:stretch><a:fillRect/></a:stretch></a:blipFill><a:effectLst/></p:bgPr></p:bg>`}},
	{"a shape's filling", map[string]string{"RELS": rel("image", "$FILE.png"), "BODY": `<p:sp><p:nvSpPr><p:cNvPr ` +
		`id="9$N" name="s"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x="3000000" y="3000000"/><a:ext ` +
		`cx="900000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"/><a:blipFill><a:blip r:link="r$N"/><a:stretch>` +
		`<a:fillRect/></a:stretch></a:blipFill></p:spPr></p:sp>`}},
	{"a bullet", map[string]string{"RELS": rel("image", "$FILE.png"), "BODY": `<p:sp><p:nvSpPr><p:cNvPr id="9$N" ` +
		`name="s"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x="100000" y="4500000"/><a:ext ` +
		`cx="5000000" ` +
		`cy="900000"/></a:xfrm><a:prstGeom prst="rect"/></p:spPr><p:txBody><a:bodyPr/><a:p><a:pPr marL="500000" ` +
		`indent="-500000"><a:buSzPct val="400000"/><a:buBlip><a:blip r:link="r$N"/></a:buBlip></a:pPr><a:r><a:rPr ` +
		`sz="4000"/><a:t>bullet</a:t></a:r></a:p></p:txBody></p:sp>`}},
	{"an object", map[string]string{"RELS": rel("oleObject", "$FILE.fodt"), "BODY": `<p:graphicFrame>` +
		`<p:nvGraphicFramePr><p:cNvPr id="9$N" ` +
		`name="o"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm>` +
		`<a:off x="100000" y="5500000"/><a:ext cx="900000" cy="900000"/></p:xfrm><a:graphic><a:graphicData ` +
		`uri="http://schemas.openxmlformats.org/presentationml/2006/ole"><p:oleObj name="x" r:id="r$N" ` +
		`progId="Word.Document.12"><p:link ` +
		`updateAutomatic="1"/></p:oleObj></a:graphicData></a:graphic></p:graphicFrame>`}},
	{"a film", map[string]string{"RELS": rel("video", "$HTTP.mp4"), "BODY": strings.Replace(slidePicture(`r:embed=""`),
		"<p:nvPr/>", `<p:nvPr><a:videoFile r:link="r$N"/></p:nvPr>`, 1)}},
}

// slidePicture is a picture on a slide, each in a place of its own.
func slidePicture(blip string) string {
	return `<p:pic><p:nvPicPr><p:cNvPr id="8$N" name="p"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill><a:blip ` +
		blip + `/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr><a:xfrm><a:off x="${N}000000" ` +
		`y="100000"/>` +
		`<a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"/></p:spPr></p:pic>`
}

var rtfTricks = []trick{
	{"INCLUDEPICTURE", map[string]string{"BODY": `{\field{\*\fldinst INCLUDEPICTURE "$PATH.png" \\d}{\fldrslt ` +
		`x}}\par `}},
	{"INCLUDEPICTURE in pieces", map[string]string{"BODY": `{\field{\*\fldinst {INCLU}{DEPICTURE}{ "$PATH.png" ` +
		`\\d}}` +
		`{\fldrslt x}}\par `}},
	{"INCLUDEPICTURE of a server", map[string]string{"BODY": `{\field{\*\fldinst INCLUDEPICTURE "$HTTP.png" \\d}` +
		`{\fldrslt x}}\par `}},
	{"INCLUDETEXT", map[string]string{"BODY": `{\field{\*\fldinst INCLUDETEXT "$PATH.fodt"}{\fldrslt x}}\par `}},
	{"a template", map[string]string{"BODY": `{\*\template $HTTP.dot}`}},
	{"a linked object", map[string]string{"BODY": `{\object\objautlink\objw2000\objh2000{\*\objclass ` +
		`Word.Document.12}` +
		`{\*\objdata 0105000001000000}{\result x}}\par `}},
	{"a picture in SVG that has another", map[string]string{"BODY": `{\pict\pngblip\picwgoal1000\pichgoal1000 ` +
		`$SVGHEX}\par `}},
}

func tricksOf(kind string) []trick {
	return map[string][]trick{"odt": odtTricks, "ods": odsTricks, "odp": odpTricks, "docx": docxTricks,
		"xlsx": xlsxTricks, "pptx": pptxTricks, "rtf": rtfTricks}[kind]
}
