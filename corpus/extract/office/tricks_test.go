package office_test

import (
	"archive/zip"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
)

// trick is markup with an external reference, filled in by lures.add. parts maps the placeholders of the templates
// in trickFile to the markup.
type trick struct {
	name  string
	parts map[string]string
}

const para = "STYLES" // placeholder for automatic styles

// odfFrame returns a frame with a picture from a URL.
func odfFrame(address string) map[string]string {
	return map[string]string{"BODY": `<text:p><draw:frame text:anchor-type="as-char" svg:width="2cm" ` +
		`svg:height="2cm">` +
		`<draw:image xlink:href="` + address + `" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/>` +
		`</draw:frame></text:p>`}
}

// background returns a style of a family with a background picture.
func background(family, properties, address string) string {
	return `<style:style style:name="S$N" style:family="` + family + `"><style:` + properties + `>` +
		`<style:background-image xlink:href="` + address + `" xlink:type="simple" xlink:actuate="onLoad" ` +
		`style:repeat="repeat"/></style:` + properties + `></style:style>`
}

// fillImage returns a named picture for fills.
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

// pic returns a DrawingML picture with the reference blip.
func pic(blip string) string {
	return `<w:p><w:r><w:drawing><wp:inline><wp:extent cx="900000" cy="900000"/><wp:docPr id="1" name="p"/><a:graphic>
		<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr>
		<pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip ` + blip + `/><a:stretch>
		<a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/>
		</a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>
		</w:r></w:p>`
}

// rel returns a relationship of trick $N to an external URL.
func rel(kind, address string) string {
	return `<Relationship Id="r$N" TargetMode="External" Target="` + address + `" ` +
		`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/` + kind + `"/>`
}

func vml(inside string) string {
	return `<w:p><w:r><w:pict><v:shape style="width:70pt;height:70pt">` + inside + `</v:shape></w:pict></w:r></w:p>`
}

// field returns a Word field whose code is split into pieces.
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

// slidePicture returns a picture on a slide, each at another position.
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

// odfNames holds the namespaces of OpenDocument.
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

// odfContent returns the part content.xml with a body.
func odfContent(body string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><office:document-content` + odfNames + `><office:font-face-decls>FONTS
 </office:font-face-decls><office:automatic-styles>STYLES<style:style style:name="sl" style:family="drawing-page">
 <style:drawing-page-properties SLIDE/></style:style></office:automatic-styles><office:body>` + body +
		`</office:body></office:document-content>`
}

// odfParts returns the parts of an OpenDocument file.
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

// types returns the content types part: pairs of a part and the end of its type.
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

// relations returns a relationships part with a placeholder for more of them.
func relations(mark string, words ...string) string {
	return strings.Replace(ooxmltest.Relations(words...), "</Relationships>", mark+"</Relationships>", 1)
}

// templates returns files with placeholders for the markup of tricks.
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

// marks lists the placeholders for the markup of tricks.
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
	for name, text := range markup { // separate parts
		parts[name] = text
	}
	if kind == "rtf" {
		path := filepath.Join(t.TempDir(), "tricks.rtf")
		if err := os.WriteFile(path, []byte(parts[""]), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, ok := parts["Pictures/a.svg"]; ok { // LibreOffice rejects files outside of the manifest
		parts["META-INF/manifest.xml"] = strings.Replace(parts["META-INF/manifest.xml"], "</manifest:manifest>",
			`<manifest:file-entry manifest:full-path="Pictures/a.svg" manifest:media-type="image/svg+xml"/>`+
				`</manifest:manifest>`, 1)
	}
	return ooxmltest.Write(t, "tricks."+kind, main, parts)
}

const word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

// wordFile writes a Word file with a body and the relationships of its document.
func wordFile(t testing.TB, body, relationships string) corpus.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bad.docx")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(file)
	const office = "http://schemas.openxmlformats.org/"
	for name, content := range map[string]string{
		"[Content_Types].xml": `<Types xmlns="` + office + `package/2006/content-types">
			<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
			<Override PartName="/word/document.xml" ContentType="` + word + `.main+xml"/></Types>`,
		"_rels/.rels": `<Relationships xmlns="` + office + `package/2006/relationships"><Relationship Id="r1"
			Type="` + office + `officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>
			</Relationships>`,
		"word/_rels/document.xml.rels": `<Relationships xmlns="` + office + `package/2006/relationships">` +
			relationships + `</Relationships>`,
		"word/document.xml": `<w:document xmlns:w="` + office + `wordprocessingml/2006/main"
			xmlns:r="` + office + `officeDocument/2006/relationships" xmlns:a="` + office + `drawingml/2006/main"
			xmlns:wp="` + office + `drawingml/2006/wordprocessingDrawing"
			xmlns:pic="` + office + `drawingml/2006/picture"><w:body>` + body + `</w:body></w:document>`,
	} {
		w, err := archive.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return corpus.File{Path: path, Filename: "bad.docx", MIME: word}
}

func TestRenderRunsNoActiveContent(t *testing.T) {
	needOffice(t)
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(server.Close)
	picture := `<w:p><w:r><w:drawing><wp:inline><wp:extent cx="900000" cy="900000"/><wp:docPr id="1" name="p"/>
		<a:graphic>
		<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr>
		<pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:link="r2"/></pic:blipFill>
		<pic:spPr/></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`
	field := `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>INCLUDETEXT "` + server.URL +
		`/text.docx"</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`
	outside := func(id, kind, name string) string {
		return `<Relationship Id="` + id + `" TargetMode="External" Target="` + server.URL + name + `"
			Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/` + kind + `"/>`
	}
	f := wordFile(t, `<w:p><w:r><w:t>The roof is dry.</w:t></w:r></w:p>`+picture+field,
		outside("r2", "image", "/picture.png")+outside("r3", "attachedTemplate", "/template.dotm"))
	to := filepath.Join(t.TempDir(), "drawn.pdf")
	if err := newOffice(t).PDF(t.Context(), f, to); err != nil {
		t.Fatalf("PDF: %v", err)
	}
	if head, err := os.ReadFile(to); err != nil || !strings.HasPrefix(string(head), "%PDF-") {
		t.Errorf("it made %.20q, %v; want a PDF", head, err)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the server that the file names was asked %d times, want never", n)
	}
}

func TestRenderErrorIsReported(t *testing.T) {
	needOffice(t)
	broken := filepath.Join(t.TempDir(), "broken.docx")
	if err := os.WriteFile(broken, []byte("PK\x03\x04 not an archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "drawn.pdf")
	err := newOffice(t).PDF(t.Context(), corpus.File{Path: broken, MIME: word}, to)
	if failure, ok := errors.AsType[*chat.Error](
		err,
	); !ok || failure.Code != chat.CodeUndrawable ||
		failure.Message == "" {
		t.Errorf("PDF: %v, want a sentence that it can't be drawn", err)
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("file exists after a failed render")
	}
}

func TestRenderEndsWithCaller(t *testing.T) {
	needOffice(t)
	t.Setenv("TMPDIR", t.TempDir())
	rows := strings.Repeat(`<w:p><w:r><w:t>The roof is dry, and the cellar is not.</w:t></w:r></w:p>`, 200_000)
	f := wordFile(t, rows, "")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	err := newOffice(t).PDF(ctx, f, filepath.Join(t.TempDir(), "drawn.pdf"))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("PDF: %v, want the end of the context", err)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "footnote-office-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v; want nothing", left, err)
	}
}
