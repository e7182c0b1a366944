// Package docx reads Word files (ECMA-376, WordprocessingML) as doctext. It reads headings by their styles, lists
// with displayed numbers, tables, text boxes and notes. All tracked changes count as accepted.
//
// Each paragraph and table is handled in two steps: parse.go, paragraph.go and field.go parse XML into nodes, and
// write.go writes a node as blocks. Only one node is in memory at a time. styles.go, numbering.go and notes.go are
// parsed before the body, which refers to them by ids. chunk.go reads embedded documents. symbols.go maps the
// characters of symbol fonts.
//
// Section numbers in this package are those of ECMA-376 part 1. Macros and embedded objects are counted and never
// opened, comments and deleted text are counted and never read.
package docx

import (
	"cmp"
	"context"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// Read reads a Word file. It fails with a *corpus.Failure for one that is damaged, encrypted or too large. Embedded
// documents other than Word files are counted, see Reader.
func Read(ctx context.Context, f corpus.File) (corpus.Extracted, error) { return Reader(nil)(ctx, f) }

// Reader returns Read with a reader of embedded documents in other formats.
func Reader(embedded Embedded) func(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	return func(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
		p, err := ooxml.Open(f.Path)
		if err != nil {
			return corpus.Extracted{}, err
		}
		defer p.Close()
		return read(ctx, p, &chunks{read: embedded, left: maxChunks})
	}
}

// read reads an open Word file. Headers and footers follow the body, each text once: a letterhead is part of a
// letter, but not of each of its pages.
func read(ctx context.Context, p *ooxml.Package, embedded *chunks) (corpus.Extracted, error) {
	r := reader{ctx: ctx, pack: p, chunks: embedded, noted: map[string]int{}, margins: map[string]bool{}}
	if err := r.load(); err != nil {
		return corpus.Extracted{}, err
	}
	if err := r.readPart(r.main, r.relations, "body"); err != nil {
		return corpus.Extracted{}, err
	}
	for _, margin := range []string{"header", "footer"} {
		if err := r.readMargins(margin); err != nil {
			return corpus.Extracted{}, err
		}
	}
	return r.result()
}

// reader reads one file. It is single-use and not safe for concurrent use.
type reader struct {
	ctx       context.Context
	pack      *ooxml.Package
	main      string
	relations ooxml.Relations // of the main part
	styles    styles
	lists     numbering
	w         doctext.Writer
	notes     map[noteID][]string // paragraphs of foot- and endnotes
	waiting   []note              // notes that the current block refers to
	noted     map[string]int      // number of referenced notes, by kind
	margins   map[string]bool     // lines of headers and footers already written
	title     string              // the text in the style Title
	chunks    *chunks
	comments  int
	deleted   int // tracked deletions
}

// load parses the parts that the body refers to. Each of them may be missing.
func (r *reader) load() (err error) {
	if r.main, r.relations, err = r.pack.Main(); err != nil {
		return err
	}
	if r.styles, err = readStyles(r.pack, r.relations.ByType("styles")); err != nil {
		return err
	}
	if r.lists, err = readNumbering(r.pack, r.relations.ByType("numbering")); err != nil {
		return err
	}
	return r.readNotes()
}

// result returns the document with its title. That is the text in the style Title, else the title in the file's
// properties, else the first heading. The style takes precedence, because properties are often left over from a
// copied file.
func (r *reader) result() (corpus.Extracted, error) {
	x := r.w.Result()
	title, err := r.pack.Describe(&x, ooxml.Count{N: r.comments, What: "comment"},
		ooxml.Count{N: r.deleted, What: "deleted passage"}, ooxml.Count{N: r.chunks.unread, What: "embedded document"})
	x.Title = cmp.Or(r.title, doctext.Title(title, doctext.FirstHeading(x), x.Text))
	return x, err
}
