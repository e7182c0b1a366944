package extract

import (
	"bytes"
	"context"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/archive"
	"github.com/footnote/footnote/corpus/extract/docx"
	"github.com/footnote/footnote/corpus/extract/odf"
	"github.com/footnote/footnote/corpus/extract/pptx"
	"github.com/footnote/footnote/corpus/extract/rtf"
	"github.com/footnote/footnote/corpus/extract/sheet"
)

// Formats lists all supported file formats. Text that matches no other format is of the last one. The order matters
// twice: of several formats whose Magic matches, the first one is used, and lists for people keep this order. "txt"
// has to be last, as the fallback.
//
// To add a format, write its entry here and its reader. TestFormatsAreCompleteAndDistinct then reports missing
// fields. Paged formats need a renderer of their pages as well. A format that holds files fills
// corpus.Extracted.Members.
var Formats = Registry{
	// ISO 32000. PDFium extracts its text, boxes and drawings, see package pdf.
	{
		Name: "pdf", Label: "PDF", MIME: "application/pdf", Extensions: []string{".pdf"},
		Magic: isPDF, Paged: true, Inert: true,
		file: func(
			ctx context.Context, e *Extractor, f corpus.File, report func(done, total int),
		) (corpus.Extracted, error) {
			return e.pdf.Extract(ctx, f, report)
		},
	},
	// CommonMark with tables. Only the file extension distinguishes it from plain text, since any text is valid
	// Markdown.
	{
		Name: "md", Label: "Markdown", MIME: "text/markdown", Aliases: []string{"text/x-markdown"},
		Extensions: []string{".md", ".markdown", ".mdown", ".mkd"}, Inert: true, text: readMarkdown, bare: plainText,
	},
	// HTML is the only format that a browser could execute, hence not Inert. The server serves the original with a
	// generic content type, see inertType in package api.
	{
		Name: "html", Label: "HTML", Kind: "web pages", MIME: "text/html", Aliases: []string{"application/xhtml+xml"},
		Extensions: []string{".html", ".htm", ".xhtml"}, Words: []string{"web page"},
		Begins: isHTML, text: readPage, bare: strippedPage,
	},
	// WordprocessingML, ECMA-376 part 1 §17. The aliases are templates and files with macros, which are ignored.
	{
		Name: "docx", Label: "Word", Called: "a Word file",
		MIME: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		Aliases: []string{
			"application/vnd.ms-word.document.macroenabled.12",
			"application/vnd.openxmlformats-officedocument.wordprocessingml.template",
			"application/vnd.ms-word.template.macroenabled.12",
		},
		Extensions: []string{".docx", ".docm", ".dotx", ".dotm"}, Words: []string{"word document"},
		Magic: zipped("word/", ".docx", ".docm", ".dotx", ".dotm"), Inert: true, Office: true,
		file: wholeFile(docx.Reader(readEmbedded)),
	},
	// PresentationML, ECMA-376 part 1 §19. Each slide is a page.
	{
		Name: "pptx", Label: "PowerPoint", Called: "a PowerPoint file",
		MIME: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
		Aliases: []string{
			"application/vnd.ms-powerpoint.presentation.macroenabled.12",
			"application/vnd.openxmlformats-officedocument.presentationml.slideshow",
			"application/vnd.openxmlformats-officedocument.presentationml.template",
		},
		Extensions: []string{".pptx", ".pptm", ".ppsx", ".potx"}, Words: []string{"slides", "presentation"},
		Magic: zipped("ppt/", ".pptx", ".pptm", ".ppsx", ".potx"), Inert: true, Office: true, PageWord: "slide",
		file: wholeFile(pptx.Read),
	},
	// RFC 4180 and lenient variants of it.
	{
		Name: "csv", Label: "CSV", Kind: "CSV tables", MIME: "text/csv", Aliases: []string{"text/tab-separated-values"},
		Extensions: []string{".csv", ".tsv"}, Words: []string{"spreadsheet", "table"}, Inert: true, text: readCSV,
		bare: plainText,
	},
	// SpreadsheetML, ECMA-376 part 1 §18. Each sheet becomes a table, with the cached values of its formulas.
	{
		Name: "xlsx", Label: "Excel", Called: "an Excel file",
		MIME: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		Aliases: []string{
			"application/vnd.ms-excel.sheet.macroenabled.12",
			"application/vnd.openxmlformats-officedocument.spreadsheetml.template",
		},
		Extensions: []string{".xlsx", ".xlsm", ".xltx"}, Words: []string{"workbook"},
		Magic: zipped("xl/", ".xlsx", ".xlsm", ".xltx"), Inert: true, Office: true, file: wholeFile(sheet.ReadExcel),
	},
	// OpenDocument 1.3. The first member of the file holds its type, as in the next two formats.
	{
		Name: "ods", Label: "OpenDocument spreadsheets", Called: "an OpenDocument spreadsheet",
		MIME: "application/vnd.oasis.opendocument.spreadsheet", Extensions: []string{".ods"},
		Magic: zipped("mimetypeapplication/vnd.oasis.opendocument.spreadsheet", ".ods"), Inert: true, Office: true,
		file: wholeFile(sheet.ReadOpenDocument),
	},
	{
		Name:       "odt",
		Label:      "OpenDocument",
		Called:     "an OpenDocument text",
		MIME:       "application/vnd.oasis.opendocument.text",
		Aliases:    []string{"application/vnd.oasis.opendocument.text-template"},
		Extensions: []string{".odt", ".ott"},
		Magic:      zipped("mimetypeapplication/vnd.oasis.opendocument.text", ".odt", ".ott"),
		Inert:      true,
		Office:     true,
		file:       wholeFile(odf.Read),
	},
	{
		Name: "odp", Label: "OpenDocument presentations", Kind: "OpenDocument", Called: "an OpenDocument presentation",
		MIME: "application/vnd.oasis.opendocument.presentation", Extensions: []string{".odp"}, PageWord: "slide",
		Magic: zipped("mimetypeapplication/vnd.oasis.opendocument.presentation", ".odp"), Inert: true, Office: true,
		file: wholeFile(odf.Read),
	},
	// Rich Text Format 1.9.1: text with control words, in 8-bit characters.
	{
		Name:       "rtf",
		Label:      "rich text",
		Called:     "a rich text file",
		MIME:       "application/rtf",
		Aliases:    []string{"text/rtf"},
		Extensions: []string{".rtf"},
		Magic:      isRTF,
		Inert:      true,
		Office:     true,
		file:       wholeFile(rtf.Read),
	},
	// EPUB 3.3, a ZIP archive of HTML pages. The same reader parses EPUB 2.
	{
		Name:       "epub",
		Label:      "EPUB",
		Called:     "an EPUB book",
		MIME:       "application/epub+zip",
		Extensions: []string{".epub"},
		Words:      []string{"e-book", "ebook", "book"},
		Magic:      zipped("mimetypeapplication/epub+zip", ".epub"),
		Inert:      true,
		file:       wholeFile(readEPUB),
	},
	// RFC 2557: a web page with its pictures as a mail. Not Inert, since browsers open it as HTML.
	{
		Name: "mhtml", Label: "MHTML", Kind: "web pages", Called: "an MHTML file", MIME: "multipart/related",
		Aliases: []string{"application/x-mimearchive"}, Extensions: []string{".mhtml", ".mht"},
		Words: []string{"web archive", "saved web page"}, Magic: isMHTML, file: wholeFile(readMHTML),
	},
	// RFC 5322 with MIME, RFC 2045 to 2047. Attachments become separate documents.
	{
		Name:       "eml",
		Label:      "mail",
		Called:     "a mail",
		MIME:       "message/rfc822",
		Extensions: []string{".eml", ".mail"},
		Words:      []string{"e-mail", "email", "message"},
		Magic:      isMail,
		Holds:      true,
		Inert:      true,
		file:       wholeFile(readMail),
	},
	// RFC 4155: concatenated mails, each after a line that begins with "From ".
	{
		Name: "mbox", Label: "mailbox", Kind: "mail", Called: "a mailbox", MIME: "application/mbox",
		Extensions: []string{".mbox", ".mbx"}, Magic: isMailbox, Holds: true, Inert: true, file: wholeFile(readMailbox),
	},
	// An Outlook mail: [MS-OXMSG] in an OLE compound file, or [MS-OXTNEF].
	{
		Name:       "msg",
		Label:      "Outlook message",
		Kind:       "mail",
		Called:     "an Outlook message",
		MIME:       "application/vnd.ms-outlook",
		Aliases:    []string{"application/ms-tnef", "application/vnd.ms-tnef"},
		Extensions: []string{".msg"},
		Words:      []string{"outlook"},
		Magic: func(head []byte, name string) bool {
			return bytes.HasPrefix(head, tnefMagic) || compound(".msg")(head, name)
		},
		Holds: true,
		Inert: true,
		file:  wholeFile(readOutlook),
	},
	// An archive has no text. Its document lists its files, and each file becomes a document. The entry follows all
	// ZIP-based formats, which take precedence.
	{
		Name: "zip", Label: "ZIP", Kind: "ZIP archives", Called: "a ZIP archive", MIME: "application/zip",
		Aliases: []string{"application/x-zip-compressed"}, Extensions: []string{".zip"}, Words: []string{"archive"},
		Magic: isZIP, Holds: true, Inert: true, file: wholeFile(archive.Read),
	},
	// Pictures hold no text. OCR recognises it where it is installed. Each picture in a file is a page.
	{
		Name: "png", Label: "PNG", Kind: "images", MIME: "image/png", Extensions: []string{".png"},
		Words: []string{"picture", "image", "screenshot"}, Magic: begunWith("\x89PNG\r\n\x1a\n"),
		Paged: true, Picture: true, Inert: true, file: readPicture,
	},
	{
		Name: "jpeg", Label: "JPEG", Kind: "images", MIME: "image/jpeg", Aliases: []string{"image/jpg"},
		Extensions: []string{".jpg", ".jpeg", ".jpe", ".jfif"}, Words: []string{"photo", "photograph"},
		Magic: begunWith("\xff\xd8\xff"), Paged: true, Picture: true, Inert: true, file: readPicture,
	},
	{
		Name: "tiff", Label: "TIFF", Kind: "images", MIME: "image/tiff", Extensions: []string{".tif", ".tiff"},
		Words: []string{"scan"}, Magic: isTIFF, Paged: true, Picture: true, Inert: true, file: readPicture,
	},
	{
		Name: "webp", Label: "WebP", Kind: "images", MIME: "image/webp", Extensions: []string{".webp"},
		Magic: isWebP, Paged: true, Picture: true, Inert: true, file: readPicture,
	},
	// The JSON of Jupyter (nbformat 4). Each cell is a page.
	{
		Name: "ipynb", Label: "notebook", Kind: "notebooks", Called: "a notebook", MIME: "application/x-ipynb+json",
		Extensions: []string{".ipynb"}, Inert: true, PageWord: "cell", text: readNotebook, bare: readSource,
	},
	// RFC 5545, and RFC 6350 in the next entry.
	{
		Name:       "ics",
		Label:      "calendar",
		Kind:       "calendars",
		Called:     "a calendar",
		MIME:       "text/calendar",
		Extensions: []string{".ics", ".ical"},
		Begins:     begins("begin:vcalendar"),
		Inert:      true,
		text:       readCards,
		bare:       plainText,
	},
	{
		Name:       "vcf",
		Label:      "contacts",
		Called:     "an address book",
		MIME:       "text/vcard",
		Aliases:    []string{"text/x-vcard"},
		Extensions: []string{".vcf", ".vcard"},
		Begins:     begins("begin:vcard"),
		Inert:      true,
		text:       readCards,
		bare:       plainText,
	},
	// Text with line numbers. Only the extension identifies it and the language for syntax highlighting.
	{
		Name: "code", Label: "code and data", Called: "a file of lines", MIME: "text/x-source",
		Aliases: []string{"application/json", "application/xml", "text/xml", "application/yaml", "application/toml"},
		Extensions: []string{
			".json", ".jsonl", ".ndjson", ".geojson", ".xml", ".xsd", ".xsl", ".svg", ".yaml", ".yml", ".toml",
			".ini", ".cfg", ".conf", ".properties", ".env", ".sql", ".go", ".py", ".pyi", ".js", ".mjs", ".cjs",
			".jsx", ".ts", ".tsx", ".java", ".kt", ".scala", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".rs", ".rb",
			".php", ".pl", ".lua", ".r", ".m", ".swift", ".sh", ".bash", ".zsh", ".ps1", ".bat", ".css", ".scss",
			".less", ".vue", ".svelte", ".graphql", ".proto", ".tf", ".gradle", ".cmake", ".mk", ".diff", ".patch",
			".tex", ".bib",
		},
		Words: []string{"source code", "json", "xml", "yaml"}, Inert: true, text: readSource, bare: readSource,
	},
	// The fallback, which has to be last.
	{
		Name: "txt", Label: "Text", Kind: "text", MIME: "text/plain",
		Extensions: []string{".txt", ".text", ".log"}, Words: []string{"plain text"},
		Inert: true, text: plainText,
	},
}

// readPicture delegates to the picture reader, which renders the pages and recognises their text, see package
// picture.
func readPicture(
	ctx context.Context, e *Extractor, f corpus.File, report func(done, total int),
) (corpus.Extracted, error) {
	return e.pictures.Extract(ctx, f, report)
}

// isTIFF checks for the byte order, "II" or "MM", and the number 42 in that order (TIFF 6.0, section 2).
func isTIFF(head []byte, _ string) bool {
	return bytes.HasPrefix(head, []byte("II*\x00")) || bytes.HasPrefix(head, []byte("MM\x00*"))
}

// isWebP checks for a RIFF file of the form WEBP (RFC 9649 §2.4). Bytes 4 to 7 are the file's size.
func isWebP(head []byte, _ string) bool {
	return len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP"
}

// begunWith returns the Magic of a format with a fixed magic number.
func begunWith(magic string) func(head []byte, _ string) bool {
	return func(head []byte, _ string) bool { return bytes.HasPrefix(head, []byte(magic)) }
}

// isRTF ignores the version after the prefix: all programs write 1, and readers accept any.
func isRTF(head []byte, _ string) bool { return bytes.HasPrefix(head, []byte(`{\rtf`)) }

// begins returns the Begins of a format whose texts start with a fixed prefix.
func begins(with string) func(start string) bool {
	return func(start string) bool { return strings.HasPrefix(start, with) }
}

// isHTML requires a doctype or an html element. A text that begins with another tag may be Markdown, or a text about
// HTML.
func isHTML(start string) bool {
	return strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html")
}
