package export

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// XML names of Office Open XML.
const (
	xmlHead       = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	wordSpace     = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
	relationTypes = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	packageSpace  = "http://schemas.openxmlformats.org/package/2006"
	spaces        = `xmlns:w="` + wordSpace + `" xmlns:r="` + relationTypes + `"`
	relationsOpen = `<Relationships xmlns="` + packageSpace + `/relationships">`
	wordKinds     = "application/vnd.openxmlformats-officedocument.wordprocessingml."
)

// contentTypes declares the media type of each part; a package without it can't be opened (ECMA-376, part 2).
const contentTypes = `<Types xmlns="` + packageSpace + `/content-types">` +
	`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
	`<Default Extension="xml" ContentType="application/xml"/>` +
	`<Override PartName="/word/document.xml" ContentType="` + wordKinds + `document.main+xml"/>` +
	`<Override PartName="/word/footnotes.xml" ContentType="` + wordKinds + `footnotes+xml"/>` +
	`<Override PartName="/word/styles.xml" ContentType="` + wordKinds + `styles+xml"/>` +
	`<Override PartName="/word/settings.xml" ContentType="` + wordKinds + `settings+xml"/>` +
	`<Override PartName="/word/numbering.xml" ContentType="` + wordKinds + `numbering+xml"/>` +
	`<Override PartName="/docProps/core.xml" ` +
	`ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>` +
	`</Types>`

// packageRelations refers from the package to its document and properties.
const packageRelations = relationsOpen +
	`<Relationship Id="r1" Type="` + relationTypes + `/officeDocument" Target="word/document.xml"/>` +
	`<Relationship Id="r2" Type="` + packageSpace + `/relationships/metadata/core-properties" ` +
	`Target="docProps/core.xml"/></Relationships>`

// documentRelations are the document's fixed relations, followed by those of links.
const documentRelations = `<Relationship Id="r1" Type="` + relationTypes + `/styles" Target="styles.xml"/>` +
	`<Relationship Id="r2" Type="` + relationTypes + `/footnotes" Target="footnotes.xml"/>` +
	`<Relationship Id="r3" Type="` + relationTypes + `/settings" Target="settings.xml"/>` +
	`<Relationship Id="r4" Type="` + relationTypes + `/numbering" Target="numbering.xml"/>`

// The page is A4, 11,906 by 16,838 twentieths of a point, with margins of 2.5 cm.
const (
	documentOpen  = `<w:document ` + spaces + `><w:body>`
	documentClose = `<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1417" w:right="1417" w:bottom="1417" ` +
		`w:left="1417" w:header="708" w:footer="708" w:gutter="0"/></w:sectPr></w:body></w:document>`
	// Word requires the separators between text and footnotes as footnotes with ids of their own.
	footnotesOpen = `<w:footnotes ` + spaces + `><w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/>` +
		`</w:r>` +
		`</w:p></w:footnote><w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r>` +
		`<w:continuationSeparator/></w:r></w:p></w:footnote>`
	settings = `<w:settings ` + spaces + `><w:footnotePr><w:footnote w:id="-1"/><w:footnote w:id="0"/></w:footnotePr>` +
		`<w:compat><w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" ` +
		`w:val="15"/></w:compat></w:settings>`
)

// styles are the document's styles.
var styles = `<w:styles ` + spaces + `><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" ` +
	`w:hAnsi="Calibri" w:cs="Calibri"/><w:sz w:val="22"/></w:rPr></w:rPrDefault><w:pPrDefault><w:pPr>` +
	`<w:spacing w:after="120" w:line="264" w:lineRule="auto"/></w:pPr></w:pPrDefault></w:docDefaults>` +
	`<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>` +
	headings() +
	paragraphStyle("Quote", "Quote", `<w:pBdr><w:left w:val="single" w:sz="12" w:space="8" w:color="C99B1D"/></w:pBdr>`+
		`<w:ind w:left="284"/>`, "") +
	paragraphStyle("Quiet", "Quiet", "", `<w:color w:val="666666"/><w:sz w:val="18"/>`) +
	paragraphStyle("Code", "Code", `<w:shd w:val="clear" w:color="auto" w:fill="F2F2EE"/>`,
		`<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Consolas"/><w:sz w:val="19"/>`) +
	paragraphStyle("FootnoteText", "footnote text", `<w:spacing w:after="40" w:line="240" w:lineRule="auto"/>`,
		`<w:sz w:val="18"/>`) +
	wordStyle("FootnoteReference", "footnote reference", `<w:vertAlign w:val="superscript"/>`) +
	wordStyle("Hyperlink", "Hyperlink", `<w:color w:val="2450BE"/><w:u w:val="single"/>`) +
	wordStyle("CodeWords", "Code words", `<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Consolas"/>`) +
	`<w:style w:type="table" w:styleId="Table"><w:name w:val="Table Grid"/><w:tblPr><w:tblBorders>` +
	borders("top", "left", "bottom", "right", "insideH", "insideV") + `</w:tblBorders></w:tblPr></w:style></w:styles>`

// headings returns the styles of six levels. Word identifies them by name for its outline and table of contents. The
// first is the question's; the answer's start at the second.
func headings() string {
	var b strings.Builder
	for level := 1; level <= 6; level++ {
		b.WriteString(paragraphStyle(fmt.Sprintf("Heading%d", level), fmt.Sprintf("heading %d", level),
			fmt.Sprintf(`<w:keepNext/><w:spacing w:before="240" w:after="80"/><w:outlineLvl w:val="%d"/>`, level-1),
			fmt.Sprintf(`<w:b/><w:sz w:val="%d"/>`, max(22, 36-4*level))))
	}
	return b.String()
}

// paragraphStyle returns a paragraph style, with properties of the paragraph and of its text.
func paragraphStyle(id, name, paragraph, words string) string {
	return `<w:style w:type="paragraph" w:styleId="` + id + `"><w:name w:val="` + name +
		`"/><w:basedOn w:val="Normal"/><w:pPr>` + paragraph + `</w:pPr><w:rPr>` + words + `</w:rPr></w:style>`
}

// wordStyle returns a character style.
func wordStyle(id, name, words string) string {
	return `<w:style w:type="character" w:styleId="` + id + `"><w:name w:val="` + name + `"/><w:rPr>` + words +
		`</w:rPr></w:style>`
}

// borders returns thin grey lines at the given sides.
func borders(sides ...string) string {
	var b strings.Builder
	for _, side := range sides {
		b.WriteString(`<w:` + side + ` w:val="single" w:sz="4" w:space="0" w:color="BBBBBB"/>`)
	}
	return b.String()
}

// numbering defines the lists: one with bullets, and each numbered one with its own start. Word supports at most
// nine levels.
func (d *document) numbering() string {
	var b strings.Builder
	b.WriteString(`<w:numbering ` + spaces + `>`)
	for kind, mark := range []string{`<w:numFmt w:val="bullet"/><w:lvlText w:val="•"/>`,
		`<w:numFmt w:val="decimal"/>`} {
		fmt.Fprintf(&b, `<w:abstractNum w:abstractNumId="%d">`, kind)
		for level := range maxListLevel + 1 {
			// A number is followed by a full stop: “%1.” is the number of the first level.
			form := mark
			if kind == 1 {
				form += fmt.Sprintf(`<w:lvlText w:val="%%%d."/>`, level+1)
			}
			fmt.Fprintf(
				&b,
				`<w:lvl w:ilvl="%d"><w:start w:val="1"/>%s<w:pPr><w:ind w:left="%d" w:hanging="360"/></w:pPr>`+
					`</w:lvl>`,
				level,
				form,
				720*(level+1),
			)
		}
		b.WriteString(`</w:abstractNum>`)
	}
	for i, numbered := range d.lists {
		kind := 0
		if numbered {
			kind = 1
		}
		fmt.Fprintf(&b, `<w:num w:numId="%d"><w:abstractNumId w:val="%d"/>`, i+1, kind)
		for level := range maxListLevel + 1 {
			if numbered {
				fmt.Fprintf(&b, `<w:lvlOverride w:ilvl="%d"><w:startOverride w:val="%d"/></w:lvlOverride>`, level,
					d.starts[i])
			}
		}
		b.WriteString(`</w:num>`)
	}
	b.WriteString(`</w:numbering>`)
	return b.String()
}

// coreProperties returns the part with title and time.
func coreProperties(title string, created time.Time) string {
	at := created.Format(time.RFC3339)
	return `<cp:coreProperties xmlns:cp="` + packageSpace + `/metadata/core-properties" ` +
		`xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" ` +
		`xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><dc:title>` + escape(title) + `</dc:title>` +
		`<dc:creator>Footnote</dc:creator><dcterms:created xsi:type="dcterms:W3CDTF">` + at +
		`</dcterms:created></cp:coreProperties>`
}

// escape escapes text for XML.
//
// All text of documents, models and users must be escaped: a title could otherwise be markup.
func escape(words string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(shown(words))); err != nil {
		return "" // a strings.Builder never fails
	}
	return b.String()
}

// shown replaces characters that XML can't represent and bidirectional control characters by U+FFFD. The latter are
// those of Unicode's bidirectional algorithm (U+202A–202E, U+2066–2069), which can disguise a name. U+FFFE and
// U+FFFF are no characters of XML 1.0.
func shown(words string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || unicode.IsControl(r) && r != '\n' && r != '\t' ||
			r == 0xFFFE || r == 0xFFFF {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(words, "\uFFFD"))
}
