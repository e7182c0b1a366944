package extract

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus"
)

// Format describes a supported file format. A new one is an entry in Formats and a file beside this one. Its fields
// hold everything that the rest of the program needs to know about it, so that no other code checks for a format by
// name.
type Format struct {
	Name       string   // in URLs and filters; in capitals beside titles
	Label      string   // display name
	Called     string   // a noun phrase for one file: "a Word file"; empty: "a" and the label
	Kind       string   // in the list of supported files; formats may share one: "web pages"; empty: Label
	MIME       string   // the MIME type stored with its documents
	Aliases    []string // other MIME types that servers send for it
	Extensions []string // lower case, with the dot; the canonical one first
	Words      []string // further names that people and models use for it, lower case

	// Magic detects a binary format by its first bytes, and by its file name where several formats share those. nil
	// for text formats.
	Magic func(head []byte, name string) bool
	// Begins detects a text format by the start of the text, in lower case and without white space. nil: only the
	// file name identifies the format.
	Begins func(start string) bool

	Paged   bool // the viewer renders images of its pages; else it renders its blocks
	Picture bool // its pages are images
	Office  bool // package office can render its pages
	// PageWord is the label of a page number where it is not "p.": "slide".
	PageWord string
	Holds    bool // files inside it become documents
	Inert    bool // no browser executes anything in the original

	// file reads a binary format, text a text format. bare reads a text format without parsing its markup, in little
	// memory; nil: use text.
	file fileReader
	text textReader
	bare textReader
}

type (
	// fileReader reads a file from disk. report is called with the number of finished pages and of all pages.
	fileReader func(
		ctx context.Context, e *Extractor, f corpus.File, report func(done, total int),
	) (corpus.Extracted, error)
	// textReader parses a decoded text: UTF-8 with line feeds.
	textReader func(ctx context.Context, src string, f corpus.File) (corpus.Extracted, error)
)

// HasMarkup reports whether a text of this format can also be read without parsing its markup, see
// Extractor.ExtractPlain.
func (f Format) HasMarkup() bool { return f.bare != nil }

// Registry is an ordered list of formats. It implements corpus.Formats. If several formats match, the first one is
// used. It is read-only after the program's start, and therefore safe for concurrent use.
type Registry []Format

// ByMIME returns the format of a MIME type. It ignores case and parameters such as "; charset=utf-8" (RFC 9110
// §8.3.1).
func (r Registry) ByMIME(mime string) (Format, bool) {
	mime, _, _ = strings.Cut(strings.ToLower(mime), ";")
	mime = strings.TrimSpace(mime)
	return r.findFormat(func(f Format) bool { return f.MIME == mime || slices.Contains(f.Aliases, mime) })
}

// ByExtension returns the format of a file name. Only the last extension counts: "a.tar.gz" is looked up as ".gz".
func (r Registry) ByExtension(name string) (Format, bool) {
	ext := strings.ToLower(path.Ext(name))
	return r.findFormat(func(f Format) bool { return slices.Contains(f.Extensions, ext) })
}

// ByName returns the format with this Name.
func (r Registry) ByName(name string) (Format, bool) {
	return r.findFormat(func(f Format) bool { return f.Name == name })
}

// ByWord returns the format that a person or a model refers to: by its name, its label, an extension or another
// word.
func (r Registry) ByWord(word string) (Format, bool) {
	word = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(word), "."))
	return r.findFormat(func(f Format) bool {
		return f.Name == word || strings.ToLower(f.Label) == word || slices.Contains(f.Words, word) ||
			slices.Contains(f.Extensions, "."+word)
	})
}

// findFormat returns the first format that matches, and false if no format does.
func (r Registry) findFormat(fits func(Format) bool) (Format, bool) {
	if i := slices.IndexFunc(r, fits); i >= 0 {
		return r[i], true
	}
	return Format{}, false
}

// IsPaged reports whether documents of a MIME type are rendered as images of their pages.
func (r Registry) IsPaged(mime string) bool {
	f, _ := r.ByMIME(mime)
	return f.Paged
}

// IsPicture reports whether files of a MIME type are pictures.
func (r Registry) IsPicture(mime string) bool {
	f, _ := r.ByMIME(mime)
	return f.Picture
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

// PageWord implements corpus.Formats. Without a known MIME type, the file extension identifies the format.
func (r Registry) PageWord(mime, name string) string {
	f, known := r.ByMIME(mime)
	if !known {
		f, _ = r.ByExtension(name)
	}
	return cmp.Or(f.PageWord, "p.")
}

// Extensions returns the extensions of all formats, for a browser's file picker.
func (r Registry) Extensions() []string {
	var all []string
	for _, f := range r {
		all = append(all, f.Extensions...)
	}
	return all
}

// Kinds returns the supported kinds as an English list, each once: "PDF, web pages and text".
func (r Registry) Kinds() string {
	return r.kinds().listWords("and", func(f Format) string { return f.Kind })
}

// KindList returns the kinds that Kinds lists.
func (r Registry) KindList() []string {
	var list []string
	for _, f := range r.kinds() {
		list = append(list, f.Kind)
	}
	return list
}

// kinds returns the first format of each kind, with Kind set.
func (r Registry) kinds() (once Registry) {
	for _, f := range r {
		f.Kind = cmp.Or(f.Kind, f.Label)
		if _, twice := once.findFormat(func(o Format) bool { return o.Kind == f.Kind }); !twice {
			once = append(once, f)
		}
	}
	return once
}

// Names returns the names of all formats as a list: "pdf, md or txt". The conjunction joins the last two names. If
// it is empty, a comma does.
func (r Registry) Names(conjunction string) string {
	return r.listWords(conjunction, func(f Format) string { return f.Name })
}

// Labels returns the labels of all formats as a list: "PDF, Markdown and Text". The conjunction joins the last two
// labels. If it is empty, a comma does.
func (r Registry) Labels(conjunction string) string {
	return r.listWords(conjunction, func(f Format) string { return f.Label })
}

// listWords joins one word of each format with commas, and the last two with the conjunction. Lists for programs
// pass no conjunction and get a comma there.
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

// Badge returns the short label beside a document's title: the name of a binary or markup format, else the file
// extension in capitals. The fallback is the name of the MIME type's format, and "" if that is unknown. A file of
// program code has its own extension, "GO" or "TOML", although all code is one format. An extension longer than five
// letters doesn't fit beside a title and is most often a part of the name.
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
