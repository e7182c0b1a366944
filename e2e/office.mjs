// Small files of the kinds that offices make, each with the same sentence somewhere inside, and more before it than a
// page holds.
import { crc32 } from 'node:zlib'

const fact = 'The slates of the north gable were fixed with copper nails in 1931.'
const filler = n => `In paragraph ${n} the survey describes a beam, its span and the timber that it is made of.`
const many = Array.from({ length: 40 }, (_, n) => filler(n + 1))

/** A ZIP archive whose members are stored as they are. */
function zip(files) {
  const parts = [], entries = []
  let at = 0
  for (const [name, body] of Object.entries(files)) {
    const path = Buffer.from(name), data = Buffer.from(body)
    const head = Buffer.alloc(26) // from the version up to the length of the extra field
    head.writeUInt16LE(20, 0)
    head.writeUInt32LE(crc32(data), 10)
    head.writeUInt32LE(data.length, 14)
    head.writeUInt32LE(data.length, 18)
    head.writeUInt16LE(path.length, 22)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(at, 10)
    parts.push(Buffer.from('PK\x03\x04'), head, path, data)
    entries.push(Buffer.from('PK\x01\x02\x14\0', 'latin1'), head, tail, path)
    at += 30 + path.length + data.length
  }
  const list = Buffer.concat(entries), end = Buffer.alloc(18)
  end.writeUInt16LE(Object.keys(files).length, 4)
  end.writeUInt16LE(Object.keys(files).length, 6)
  end.writeUInt32LE(list.length, 8)
  end.writeUInt32LE(at, 12)
  return Buffer.concat([...parts, list, Buffer.from('PK\x05\x06'), end])
}

const relations = (...all) => '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' + all.map(([id, type, target]) =>
  `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`).join('') + '</Relationships>'

const types = main => `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/${main[0]}" ContentType="application/vnd.openxmlformats-officedocument.${main[1]}.main+xml"/></Types>`

/** A Word file with a heading, paragraphs and the sentence in a list. */
export function letter() {
  const p = (s, more = '') => `<w:p>${more}<w:r><w:t>${s}</w:t></w:r></w:p>`
  return zip({
    '[Content_Types].xml': types(['word/document.xml', 'wordprocessingml.document']),
    '_rels/.rels': relations(['r1', 'officeDocument', 'word/document.xml']),
    'word/_rels/document.xml.rels': relations(['r1', 'numbering', 'numbering.xml'], ['r2', 'styles', 'styles.xml']),
    'word/styles.xml': '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 1"/></w:style></w:styles>',
    'word/numbering.xml': '<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>',
    'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${p('Survey of the roof', '<w:pPr><w:pStyle w:val="H"/></w:pPr>')}${many.map(s => p(s)).join('')}${[
      'The ridge was set in lime.', fact].map(s => p(s, '<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>')).join('')}</w:body></w:document>`,
  })
}

/** An OpenDocument text with the sentence in its last paragraph. */
export const text = () => zip({
  mimetype: 'application/vnd.oasis.opendocument.text',
  'META-INF/manifest.xml': '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>',
  'content.xml': `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text><text:h text:outline-level="1">Survey of the roof</text:h>${[...many, fact].map(s => `<text:p>${s}</text:p>`).join('')}</office:text></office:body></office:document-content>`,
})

/** Two slides; the second has the sentence. */
export function deck() {
  const slide = (title, body) => `<p:sld xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>${[['title', title], ['body', body]].map(([type, s]) =>
    `<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${s}</a:t></a:r></a:p></p:txBody></p:sp>`).join('')}</p:spTree></p:cSld></p:sld>`
  return zip({
    '[Content_Types].xml': types(['ppt/presentation.xml', 'presentationml.presentation']),
    '_rels/.rels': relations(['r1', 'officeDocument', 'ppt/presentation.xml']),
    'ppt/_rels/presentation.xml.rels': relations(['r1', 'slide', 'slides/slide1.xml'], ['r2', 'slide', 'slides/slide2.xml']),
    'ppt/presentation.xml': '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="r1"/><p:sldId id="257" r:id="r2"/></p:sldIdLst></p:presentation>',
    'ppt/slides/slide1.xml': slide('Timber', many.slice(0, 9).join(' ')),
    'ppt/slides/slide2.xml': slide('Roof', fact),
  })
}

/** A sheet of 60 rows of which the third has the sentence. */
export function workbook() {
  const rows = [['Part', 'Finding', 'Year'], ['Ridge', 'The ridge was set in lime.', '1928'], ['North gable', fact, '1931'],
    ...many.map((s, n) => [`Beam ${n + 1}`, s, String(1900 + n)])]
  return zip({
    '[Content_Types].xml': types(['xl/workbook.xml', 'spreadsheetml.sheet']),
    '_rels/.rels': relations(['r1', 'officeDocument', 'xl/workbook.xml']),
    'xl/_rels/workbook.xml.rels': relations(['r1', 'worksheet', 'worksheets/sheet1.xml']),
    'xl/workbook.xml': '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Roof" sheetId="1" r:id="r1"/></sheets></workbook>',
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${rows.map((cells, r) =>
      `<row r="${r + 1}">${cells.map((s, c) => `<c r="${'ABC'[c]}${r + 1}" t="inlineStr"><is><t>${s}</t></is></c>`).join('')}</row>`).join('')}</sheetData></worksheet>`,
  })
}

/** A book of two chapters; the second ends with the sentence. */
export const book = () => zip({
  mimetype: 'application/epub+zip',
  'META-INF/container.xml': '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
  'book.opf': '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The roof</dc:title></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="b" href="b.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
  'a.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Timber</h1>${many.map(s => `<p>${s}</p>`).join('')}</body></html>`,
  'b.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Slates</h1><p>The ridge was set in lime.</p><p>${fact}</p></body></html>`,
})

/** A mail that ends with the sentence. */
export const mail = () => Buffer.from(['From: Ada <ada@example.org>', 'To: Ben <ben@example.org>', 'Subject: Roof', 'Date: Wed, 04 Mar 2026 10:00:00 +0100',
  'Content-Type: text/plain; charset=utf-8', '', ...many.flatMap(s => [s, '']), fact, ''].join('\r\n'))
