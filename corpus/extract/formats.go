package extract

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"footnote/corpus"
	"footnote/corpus/extract/archive"
	"footnote/corpus/extract/docx"
	"footnote/corpus/extract/odf"
	"footnote/corpus/extract/pptx"
	"footnote/corpus/extract/rtf"
	"footnote/corpus/extract/sheet"
)

// Format is a kind of file that is read. A new one is an entry in Formats and a file beside this one.
type Format struct {
	Name       string   // in addresses and filters; in capitals beside titles
	Label      string   // for people
	Called     string   // one file of it: "a Word file"; empty: "a" and the label
	Kind       string   // in a list of what can be added, where several formats may be one: "web pages"; empty: Label
	MIME       string   // what documents of it are stored with
	Aliases    []string // MIME types that servers send for it, beside MIME
	Extensions []string // lower case, with the dot; the usual one first
	Words      []string // further names that people and models use for it, lower case

	// Magic recognises a format that is not text, by its first bytes, and by its name where those are the same for
	// several formats. nil: it is text.
	Magic func(head []byte, name string) bool
	// Begins recognises text that is of this format whatever it is called, by how it begins: lower case, without
	// white space. nil: the name alone tells.
	Begins func(start string) bool

	Paged bool // the viewer draws pictures of its pages; else it draws its blocks
	// PageWord stands before a page's number where that is not "p.": "slide".
	PageWord string
	Holds    bool // files inside it become documents
	Inert    bool // no browser runs anything of the original

	// file reads a format that is not text, text one that is. bare reads text without its markup, in little memory;
	// nil: text does.
	file fileReader
	text textReader
	bare textReader
}

type (
	// fileReader reads a file from disk. report is called with pages done and in all.
	fileReader func(
		ctx context.Context, e *Extractor, f corpus.File, report func(done, total int),
	) (corpus.Extracted, error)
	// textReader reads a text that is UTF-8 with line feeds by now.
	textReader func(ctx context.Context, src string, f corpus.File) (corpus.Extracted, error)
)

// HasMarkup reports whether a text of this format can also be read without its markup, see Extractor.ExtractPlain.
func (f Format) HasMarkup() bool { return f.bare != nil }

// Formats are all kinds of file that are read. Text that no other format claims is of the last one.
var Formats = Registry{
	{
		Name: "pdf", Label: "PDF", MIME: "application/pdf", Extensions: []string{".pdf"},
		Magic: isPDF, Paged: true, Inert: true,
		file: func(
			ctx context.Context, e *Extractor, f corpus.File, report func(done, total int),
		) (corpus.Extracted, error) {
			return e.pdf.Extract(ctx, f, report)
		},
	},
	{
		Name: "md", Label: "Markdown", MIME: "text/markdown", Aliases: []string{"text/x-markdown"},
		Extensions: []string{".md", ".markdown", ".mdown", ".mkd"}, Inert: true, text: readMarkdown, bare: plainText,
	},
	{
		Name: "html", Label: "HTML", Kind: "web pages", MIME: "text/html", Aliases: []string{"application/xhtml+xml"},
		Extensions: []string{".html", ".htm", ".xhtml"}, Words: []string{"web page"},
		Begins: isHTML, text: readPage, bare: strippedPage,
	},
	{
		Name: "docx", Label: "Word", Called: "a Word file",
		MIME: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		Aliases: []string{
			"application/vnd.ms-word.document.macroenabled.12",
			"application/vnd.openxmlformats-officedocument.wordprocessingml.template",
			"application/vnd.ms-word.template.macroenabled.12",
		},
		Extensions: []string{".docx", ".docm", ".dotx", ".dotm"}, Words: []string{"word document"},
		Magic: zipped("word/", ".docx", ".docm", ".dotx", ".dotm"), Inert: true, file: wholeFile(docx.Read),
	},
	{
		Name: "pptx", Label: "PowerPoint", Called: "a PowerPoint file",
		MIME: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
		Aliases: []string{
			"application/vnd.ms-powerpoint.presentation.macroenabled.12",
			"application/vnd.openxmlformats-officedocument.presentationml.slideshow",
			"application/vnd.openxmlformats-officedocument.presentationml.template",
		},
		Extensions: []string{".pptx", ".pptm", ".ppsx", ".potx"}, Words: []string{"slides", "presentation"},
		Magic: zipped("ppt/", ".pptx", ".pptm", ".ppsx", ".potx"), Inert: true, PageWord: "slide",
		file: wholeFile(pptx.Read),
	},
	{
		Name: "csv", Label: "CSV", Kind: "CSV tables", MIME: "text/csv", Aliases: []string{"text/tab-separated-values"},
		Extensions: []string{".csv", ".tsv"}, Words: []string{"spreadsheet", "table"}, Inert: true, text: readCSV,
		bare: plainText,
	},
	{
		Name: "xlsx", Label: "Excel", Called: "an Excel file",
		MIME: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		Aliases: []string{
			"application/vnd.ms-excel.sheet.macroenabled.12",
			"application/vnd.openxmlformats-officedocument.spreadsheetml.template",
		},
		Extensions: []string{".xlsx", ".xlsm", ".xltx"}, Words: []string{"workbook"},
		Magic: zipped("xl/", ".xlsx", ".xlsm", ".xltx"), Inert: true, file: wholeFile(sheet.ReadExcel),
	},
	{
		Name: "ods", Label: "OpenDocument sheets", Called: "an OpenDocument spreadsheet",
		MIME: "application/vnd.oasis.opendocument.spreadsheet", Extensions: []string{".ods"},
		Magic: zipped("mimetypeapplication/vnd.oasis.opendocument.spreadsheet", ".ods"), Inert: true,
		file: wholeFile(sheet.ReadOpenDocument),
	},
	{
		Name: "odt", Label: "OpenDocument", Called: "an OpenDocument text", MIME: "application/vnd.oasis.opendocument.text",
		Aliases:    []string{"application/vnd.oasis.opendocument.text-template"},
		Extensions: []string{".odt", ".ott"}, Magic: zipped("mimetypeapplication/vnd.oasis.opendocument.text", ".odt", ".ott"),
		Inert: true, file: wholeFile(odf.Read),
	},
	{
		Name: "odp", Label: "OpenDocument slides", Kind: "OpenDocument", Called: "an OpenDocument presentation",
		MIME: "application/vnd.oasis.opendocument.presentation", Extensions: []string{".odp"}, PageWord: "slide",
		Magic: zipped("mimetypeapplication/vnd.oasis.opendocument.presentation", ".odp"), Inert: true,
		file: wholeFile(odf.Read),
	},
	{
		Name: "rtf", Label: "rich text", Called: "a rich text file", MIME: "application/rtf", Aliases: []string{"text/rtf"},
		Extensions: []string{".rtf"}, Magic: isRTF, Inert: true, file: wholeFile(rtf.Read),
	},
	{
		Name: "epub", Label: "EPUB", Called: "an EPUB book", MIME: "application/epub+zip", Extensions: []string{".epub"},
		Words: []string{"e-book", "ebook", "book"}, Magic: zipped("mimetypeapplication/epub+zip", ".epub"), Inert: true,
		file: wholeFile(readEPUB),
	},
	{
		Name: "eml", Label: "mail", Called: "a mail", MIME: "message/rfc822", Extensions: []string{".eml", ".mail"},
		Words: []string{"e-mail", "email", "message"}, Magic: isMail, Holds: true, Inert: true, file: wholeFile(readMail),
	},
	{
		Name: "mbox", Label: "mailbox", Kind: "mail", Called: "a mailbox", MIME: "application/mbox",
		Extensions: []string{".mbox", ".mbx"}, Magic: isMailbox, Holds: true, Inert: true, file: wholeFile(readMailbox),
	},
	{
		Name: "msg", Label: "Outlook message", Kind: "mail", Called: "an Outlook message", MIME: "application/vnd.ms-outlook",
		Extensions: []string{".msg"}, Words: []string{"outlook"}, Magic: compound(".msg"), Holds: true, Inert: true,
		file: wholeFile(readOutlook),
	},
	{
		Name: "zip", Label: "ZIP", Kind: "ZIP archives", Called: "a ZIP archive", MIME: "application/zip",
		Aliases: []string{"application/x-zip-compressed"}, Extensions: []string{".zip"}, Words: []string{"archive"},
		Magic: isZIP, Holds: true, Inert: true, file: wholeFile(archive.Read),
	},
	{
		Name: "ipynb", Label: "notebook", Kind: "notebooks", Called: "a notebook", MIME: "application/x-ipynb+json",
		Extensions: []string{".ipynb"}, Inert: true, text: readNotebook, bare: readSource,
	},
	{
		Name: "ics", Label: "calendar", Kind: "calendars", Called: "a calendar", MIME: "text/calendar",
		Extensions: []string{".ics", ".ical"}, Begins: begins("begin:vcalendar"), Inert: true, text: readCards, bare: plainText,
	},
	{
		Name: "vcf", Label: "contacts", Called: "an address book", MIME: "text/vcard", Aliases: []string{"text/x-vcard"},
		Extensions: []string{".vcf", ".vcard"}, Begins: begins("begin:vcard"), Inert: true, text: readCards, bare: plainText,
	},
	{
		Name: "code", Label: "code and data", Called: "a file of lines", MIME: "text/x-source",
		Aliases: []string{"application/json", "application/xml", "text/xml", "application/yaml", "application/toml"},
		Extensions: []string{
			".json", ".jsonl", ".ndjson", ".geojson", ".xml", ".xsd", ".xsl", ".svg", ".yaml", ".yml", ".toml", ".ini", ".cfg",
			".conf", ".properties", ".env", ".sql", ".go", ".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".java",
			".kt", ".scala", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".rs", ".rb", ".php", ".pl", ".lua", ".r", ".m", ".swift",
			".sh", ".bash", ".zsh", ".ps1", ".bat", ".css", ".scss", ".less", ".vue", ".svelte", ".graphql", ".proto", ".tf",
			".gradle", ".cmake", ".mk", ".diff", ".patch", ".tex", ".bib",
		},
		Words: []string{"source code", "json", "xml", "yaml"}, Inert: true, text: readSource, bare: readSource,
	},
	{
		Name: "txt", Label: "Text", Kind: "text", MIME: "text/plain",
		Extensions: []string{".txt", ".text", ".log"}, Words: []string{"plain text"},
		Inert: true, text: plainText,
	},
}

func isPDF(head []byte, _ string) bool {
	return bytes.Contains(head[:min(len(head), 1024)], []byte("%PDF-"))
}

func isRTF(head []byte, _ string) bool { return bytes.HasPrefix(head, []byte(`{\rtf`)) }

func begins(with string) func(start string) bool {
	return func(start string) bool { return strings.HasPrefix(start, with) }
}

func isHTML(start string) bool {
	return strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html")
}

// Registry is a list of formats. It implements corpus.Formats.
type Registry []Format

// ByMIME returns the format of a MIME type, parameters apart.
func (r Registry) ByMIME(mime string) (Format, bool) {
	mime, _, _ = strings.Cut(strings.ToLower(mime), ";")
	mime = strings.TrimSpace(mime)
	return r.findFormat(func(f Format) bool { return f.MIME == mime || slices.Contains(f.Aliases, mime) })
}

// ByExtension returns the format of a file name.
func (r Registry) ByExtension(name string) (Format, bool) {
	ext := strings.ToLower(path.Ext(name))
	return r.findFormat(func(f Format) bool { return slices.Contains(f.Extensions, ext) })
}

// ByName returns the format of that name.
func (r Registry) ByName(name string) (Format, bool) {
	return r.findFormat(func(f Format) bool { return f.Name == name })
}

// ByWord returns the format that a person or a model names: by its name, its label, an extension or another word.
func (r Registry) ByWord(word string) (Format, bool) {
	word = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(word), "."))
	return r.findFormat(func(f Format) bool {
		return f.Name == word || strings.ToLower(f.Label) == word || slices.Contains(f.Words, word) ||
			slices.Contains(f.Extensions, "."+word)
	})
}

func (r Registry) findFormat(fits func(Format) bool) (Format, bool) {
	if i := slices.IndexFunc(r, fits); i >= 0 {
		return r[i], true
	}
	return Format{}, false
}

// IsPaged reports whether documents of a MIME type are shown as pictures of their pages.
func (r Registry) IsPaged(mime string) bool {
	f, _ := r.ByMIME(mime)
	return f.Paged
}

// Paged implements corpus.Formats.
func (r Registry) Paged() (types []string) {
	for _, f := range r {
		if f.Paged {
			types = append(types, f.MIME)
		}
	}
	return types
}

// Holds implements corpus.Formats.
func (r Registry) Holds(mime string) bool {
	f, _ := r.ByMIME(mime)
	return f.Holds
}

// PageWord implements corpus.Formats. A name tells the format where there is no MIME type.
func (r Registry) PageWord(mime, name string) string {
	f, known := r.ByMIME(mime)
	if !known {
		f, _ = r.ByExtension(name)
	}
	return cmp.Or(f.PageWord, "p.")
}

// Extensions are those of all formats.
func (r Registry) Extensions() []string {
	var all []string
	for _, f := range r {
		all = append(all, f.Extensions...)
	}
	return all
}

// Kinds says in words what can be added, each kind once: "PDF, web pages and text".
func (r Registry) Kinds() string {
	var once Registry
	for _, f := range r {
		f.Kind = cmp.Or(f.Kind, f.Label)
		if _, twice := once.findFormat(func(o Format) bool { return o.Kind == f.Kind }); !twice {
			once = append(once, f)
		}
	}
	return once.listWords("and", func(f Format) string { return f.Kind })
}

// Names are the names of all formats: "pdf, md or txt", with the conjunction
// that is given, with none as a list.
func (r Registry) Names(conjunction string) string {
	return r.listWords(conjunction, func(f Format) string { return f.Name })
}

// Labels are the labels of all formats: "PDF, Markdown and Text", with the conjunction
// that is given, with none as a list.
func (r Registry) Labels(conjunction string) string {
	return r.listWords(conjunction, func(f Format) string { return f.Label })
}

func (r Registry) listWords(conjunction string, word func(Format) string) string {
	var b strings.Builder
	for i, f := range r {
		switch {
		case i == 0:
		case i == len(r)-1 && conjunction != "":
			b.WriteString(" " + conjunction + " ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(word(f))
	}
	return b.String()
}

// Badge is the short word beside a document's title: its extension in capitals, of markup that of the format, or what
// the MIME type says where there is none.
func (r Registry) Badge(filename, mime string) string {
	ext := path.Ext(filename)
	f, known := r.ByExtension(filename)
	switch {
	case known && (f.Magic != nil || f.HasMarkup()):
		return strings.ToUpper(f.Name)
	case len(ext) > 1 && len(ext) <= 6 && len(ext) < len(filename) && strings.ContainsFunc(ext, isLetter):
		return strings.ToUpper(ext[1:])
	}
	if f, known = r.ByMIME(mime); !known {
		return ""
	}
	return strings.ToUpper(f.Name)
}
