// Package docx reads Word files (ECMA-376, WordprocessingML) as doctext: headings by their styles, lists with the
// numbers that Word shows, tables, text boxes, notes, and the text as it is when all tracked changes are accepted.
package docx

import (
	"cmp"
	"context"

	"footnote/corpus"
	"footnote/corpus/extract/doctext"
	"footnote/corpus/extract/ooxml"
)

// Read reads a Word file. It fails with a *corpus.Failure for one that is damaged, encrypted or too large.
func Read(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	p, err := ooxml.Open(f.Path)
	if err != nil {
		return corpus.Extracted{}, err
	}
	defer p.Close()
	r := reader{ctx: ctx, pack: p, noted: map[string]int{}, margins: map[string]bool{}}
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

// reader reads one file.
type reader struct {
	ctx       context.Context
	pack      *ooxml.Package
	main      string
	relations ooxml.Relations // of the part at work
	styles    styles
	lists     numbering
	w         doctext.Writer
	notes     map[noteID][]string // paragraphs of foot- and endnotes
	waiting   []note              // notes that the block at work refers to
	noted     map[string]int      // how many notes of a kind were referred to
	margins   map[string]bool     // lines of headers and footers that are written
	title     string              // the text in the style Title
	comments  int
	deleted   int // tracked deletions
}

// load reads what the body refers to.
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

func (r *reader) result() (corpus.Extracted, error) {
	properties, err := r.pack.Properties()
	if err != nil {
		return corpus.Extracted{}, err
	}
	x := r.w.Result()
	x.Title = cmp.Or(r.title, properties["title"], firstHeading(x))
	x.Language = properties["language"]
	for _, key := range []string{"author", "subject", "keywords", "date"} {
		if properties[key] != "" {
			x.Meta[key] = properties[key]
		}
	}
	r.pack.NoteLeftOut(&x, ooxml.Count{N: r.comments, What: "comment"},
		ooxml.Count{N: r.deleted, What: "deleted passage"})
	return x, nil
}

// firstHeading is the text of a heading that the document begins with.
func firstHeading(x corpus.Extracted) string {
	for _, b := range x.Blocks[:min(len(x.Blocks), 5)] {
		if b.Kind == corpus.BlockHeading && b.Level == 1 {
			return doctext.Line(doctext.Slice(x.Text, b.Start, b.End))
		}
	}
	return ""
}
