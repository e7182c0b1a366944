// Package odf reads OpenDocument files (ISO 26300) as doctext: text documents with headings, numbered lists, tables
// and notes, and presentations, whose slides are pages.
//
// read.go opens the file, content.go writes blocks, inline.go parses paragraphs, lists.go numbers list items and
// chart.go reads charts, also for spreadsheets in package sheet. Element names are those of OpenDocument 1.3 part 3.
// Package ooxml opens the archive. Macros and scripts are ignored, comments are only counted.
package odf

import (
	"cmp"
	"context"
	"encoding/xml"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
	"github.com/footnote/footnote/text/english"
)

// Read reads a text or a presentation. It fails with a *corpus.Failure for one that is damaged, encrypted or too
// large. It parses styles first, because the content refers to them: named styles are in styles.xml, automatic ones
// in content.xml. Headers and footers are written last. A text in the style Title is the fallback for the title in
// the metadata.
func Read(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	p, err := ooxml.Open(f.Path)
	if err != nil {
		return corpus.Extracted{}, err
	}
	defer p.Close()
	if err := CheckPackage(p); err != nil {
		return corpus.Extracted{}, err
	}
	r := reader{
		ctx: ctx, pack: p, lists: map[string]listStyle{}, margins: map[string]bool{}, parents: map[string]string{},
		counters: map[string]*counters{},
	}
	for _, part := range []string{"styles.xml", "content.xml"} {
		if err := p.Decode(part, r.readStyles); err != nil {
			return corpus.Extracted{}, err
		}
	}
	if err := p.Decode("content.xml", r.readContent); err != nil {
		return corpus.Extracted{}, err
	}
	if err := p.Decode("styles.xml", r.readMargins); err != nil {
		return corpus.Extracted{}, err
	}
	return r.result(p)
}

// CheckPackage fails with a *corpus.Failure for an OpenDocument file that is encrypted or without content. An
// encrypted file has an entry with "encryption-data" in the manifest (OpenDocument 1.3 part 2, "Packages"). It has a
// content.xml as well, which can't be parsed.
func CheckPackage(p *ooxml.Package) error {
	if !p.Has("content.xml") {
		return ooxml.Damaged
	}
	return p.Decode("META-INF/manifest.xml", func(d *ooxml.Decoder) error {
		return d.Children(func(e xml.StartElement) error {
			encrypted := false
			err := d.Children(func(e xml.StartElement) error {
				encrypted = encrypted || e.Name.Local == "encryption-data"
				return d.Skip()
			})
			if encrypted {
				return ooxml.Encrypted
			}
			return err
		})
	})
}

// reader reads one file. It is single-use and not safe for concurrent use.
type reader struct {
	ctx      context.Context
	pack     *ooxml.Package
	w        doctext.Writer
	lists    map[string]listStyle
	parents  map[string]string // parent styles by style
	margins  map[string]bool
	notes    int
	page     int // slide number of a presentation
	title    string
	comments int
	counters map[string]*counters // of the last list of each style, and by "#" and id
	headings counters             // of headings outside of lists
}

// result returns the document with the metadata of meta.xml. The modification date takes precedence over the
// creation date.
func (r *reader) result(p *ooxml.Package) (corpus.Extracted, error) {
	x := r.w.Result()
	x.Pages = r.page
	about := map[string]string{}
	err := p.Decode("meta.xml", func(d *ooxml.Decoder) error {
		return d.Children(func(e xml.StartElement) error { // office:meta
			return d.Children(func(e xml.StartElement) error {
				text, err := d.Text()
				about[e.Name.Local] = cmp.Or(about[e.Name.Local], doctext.Line(text))
				return err
			})
		})
	})
	if err != nil {
		return corpus.Extracted{}, err
	}
	x.Title = doctext.Title(about["title"], cmp.Or(r.title, doctext.FirstHeading(x)), x.Text)
	x.Language = about["language"]
	for from, to := range map[string]string{"creator": "author", "subject": "subject", "keyword": "keywords"} {
		if about[from] != "" {
			x.Meta[to] = about[from]
		}
	}
	if date := cmp.Or(about["date"], about["creation-date"]); len(date) >= len(time.DateOnly) {
		x.Meta["date"] = date[:len(time.DateOnly)]
	}
	if r.comments > 0 {
		x.Meta[corpus.MetaLeftOut] = english.Count(r.comments, "comment")
	}
	return x, nil
}
