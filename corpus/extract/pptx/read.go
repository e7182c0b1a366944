// Package pptx reads PowerPoint files (ECMA-376, PresentationML) as doctext. A slide is a page, with its title as a
// heading and its text in reading order. Tables, the words of charts and diagrams, and the notes follow.
//
// read.go iterates over the slides, slide.go writes one, shape.go and graphic.go parse its shapes, text.go parses
// text. Section names in this package are those of ECMA-376 part 1. Pictures are not read, macros and comments are
// only counted.
package pptx

import (
	"context"
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
	"github.com/footnote/footnote/text/english"
)

// Read reads a PowerPoint file. It fails with a *corpus.Failure for one that is damaged, encrypted or too large.
// Hidden slides are read like the others, and listed in the metadata: their text is in the file, and people search
// for it.
func Read(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	p, err := ooxml.Open(f.Path)
	if err != nil {
		return corpus.Extracted{}, err
	}
	defer p.Close()
	r := reader{pack: p, layouts: map[string]layout{}, margins: map[string]bool{}}
	slides, err := r.listSlides()
	if err != nil {
		return corpus.Extracted{}, err
	}
	for i, part := range slides {
		if err := ctx.Err(); err != nil {
			return corpus.Extracted{}, err
		}
		if err := r.readSlide(part, i+1); err != nil {
			return corpus.Extracted{}, err
		}
	}
	return r.result(len(slides))
}

// reader reads one file. layouts caches the layouts, which many slides share. It is single-use and not safe for
// concurrent use.
type reader struct {
	pack          *ooxml.Package
	width, height float64 // of slides, in EMU
	layouts       map[string]layout
	margins       map[string]bool // footers already written
	w             doctext.Writer
	hidden        []string // numbers of hidden slides
	title         string   // of the first slide
}

// listSlides returns the parts of the slides in the order of sldIdLst in the presentation part. The numbers in part
// names have no meaning. Missing slides are skipped.
func (r *reader) listSlides() (parts []string, err error) {
	main, relations, err := r.pack.Main()
	if err != nil {
		return nil, err
	}
	err = r.pack.Decode(main, func(d *ooxml.Decoder) error {
		return d.Children(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "sldSz":
				r.width, r.height = number(e, "cx"), number(e, "cy")
			case "sldIdLst":
				return d.Children(func(e xml.StartElement) error {
					if slide := relations[ooxml.RelationID(e)]; slide.Type == "slide" && r.pack.Has(slide.Target) {
						parts = append(parts, slide.Target)
					}
					return d.Skip()
				})
			}
			return d.Skip()
		})
	})
	return parts, err
}

// number parses an attribute as a number, 0 without one.
func number(e xml.StartElement, name string) float64 {
	n, err := strconv.ParseFloat(ooxml.Attr(e, name), 64)
	if err != nil {
		return 0
	}
	return n
}

// result returns the document with a page for each slide.
func (r *reader) result(slides int) (corpus.Extracted, error) {
	x := r.w.Result()
	title, err := r.pack.Describe(&x, ooxml.Count{N: len(r.pack.Names("ppt/comments/")), What: "commented slide"})
	x.Pages, x.Title = slides, doctext.Title(title, r.title, x.Text)
	if len(r.hidden) > 0 {
		x.Meta[corpus.MetaHidden] = english.Choose(len(r.hidden) == 1, "slide ", "slides ") +
			strings.Join(r.hidden, ", ")
	}
	return x, err
}
