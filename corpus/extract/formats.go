package extract

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus"
)

// Format is a kind of file that is read. A new one is an entry in Formats and a file beside this one. Everything that
// the rest of the program must know about a kind of file stands in its fields, so that neither the pages nor the tools
// ask for a format by its name.
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

	Paged   bool // the viewer draws pictures of its pages; else it draws its blocks
	Picture bool // its pages are pictures themselves
	Office  bool // an office's programs print it: package office can make its pages
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

// Registry is a list of formats. It implements corpus.Formats. Its order counts: of several formats that fit, the first
// one is taken. It is never changed after the program's start, so that any number of goroutines may read it.
type Registry []Format

// ByMIME returns the format of a MIME type, parameters apart. Case makes no difference, and neither do parameters such
// as "; charset=utf-8" (RFC 9110 §8.3.1).
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

// findFormat returns the first format that fits, and false where none does.
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

// PageWord implements corpus.Formats. A name tells the format where there is no MIME type.
func (r Registry) PageWord(mime, name string) string {
	f, known := r.ByMIME(mime)
	if !known {
		f, _ = r.ByExtension(name)
	}
	return cmp.Or(f.PageWord, "p.")
}

// Extensions are those of all formats. A browser's file picker offers these.
func (r Registry) Extensions() []string {
	var all []string
	for _, f := range r {
		all = append(all, f.Extensions...)
	}
	return all
}

// Kinds says in words what can be added, each kind once: "PDF, web pages and text".
func (r Registry) Kinds() string {
	return r.kinds().listWords("and", func(f Format) string { return f.Kind })
}

// KindList are the kinds that Kinds names.
func (r Registry) KindList() []string {
	var list []string
	for _, f := range r.kinds() {
		list = append(list, f.Kind)
	}
	return list
}

// kinds are the formats of different kinds.
func (r Registry) kinds() (once Registry) {
	for _, f := range r {
		f.Kind = cmp.Or(f.Kind, f.Label)
		if _, twice := once.findFormat(func(o Format) bool { return o.Kind == f.Kind }); !twice {
			once = append(once, f)
		}
	}
	return once
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

// listWords joins one word of each format with commas, and puts the conjunction before the last one. Lists for programs
// have no conjunction, and a comma there instead.
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
// the MIME type says where there is none. A file of program code shows its own extension, "GO" or "TOML", although all
// code is of one format. An extension longer than five letters is no badge: there is no room for it beside a title, and
// it is most often a part of the name. It returns "" if nothing is known.
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
