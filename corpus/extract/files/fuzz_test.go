package files_test

import (
	"archive/zip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
)

// fuzzed holds files whose parts refer to all other kinds of parts that their readers parse.
var fuzzed = []pack{
	{word.file, append([]string{"word/_rels/document.xml.rels", ooxmltest.Relations("s", "styles", "styles.xml", "n",
		"numbering", "numbering.xml", "f", "footnotes", "footnotes.xml", "h", "header", "header1.xml", "d",
		"diagramData", "diagrams/data1.xml", "c", "chart", "charts/chart1.xml")}, word.parts...), word.main},
	{slides.file, append([]string{"ppt/slides/_rels/slide1.xml.rels", ooxmltest.Relations("l", "slideLayout",
		"../slideLayouts/slideLayout1.xml", "n", "notesSlide", "../notesSlides/notesSlide1.xml", "c", "chart",
		"../charts/chart1.xml")}, slides.parts...), slides.main},
	{excel.file, append([]string{"xl/worksheets/_rels/sheet1.xml.rels", ooxmltest.Relations("d", "drawing",
		"../drawings/drawing1.xml"), "xl/drawings/_rels/drawing1.xml.rels", ooxmltest.Relations("c", "chart",
		"../charts/chart1.xml"), "xl/drawings/drawing1.xml", `<x><chart xmlns:r="r" r:id="c"/></x>`}, excel.parts...),
		excel.main},
	openSheet, openText, openSlides, book,
}

// FuzzPackages reads files with one part changed. Its seeds include the parts of real files, if they were
// downloaded.
func FuzzPackages(f *testing.F) {
	for kind, p := range fuzzed {
		for i := 0; i < len(p.parts); i += 2 {
			f.Add(byte(kind), p.parts[i], p.parts[i+1])
		}
		real, _ := filepath.Glob("../../../.cache/files/documents/*" + filepath.Ext(p.file))
		for _, name := range real {
			addParts(f, byte(kind), name)
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, name, content string) {
		p := fuzzed[int(kind)%len(fuzzed)]
		if len(content) > 64<<10 || len(name) > 60 || strings.HasSuffix(name, "/") { // a directory has no content
			return
		}
		mustEnd(t, p.file, p.with(t, name, content))
	})
}

// FuzzOutlook reads OLE files with a sector changed.
func FuzzOutlook(f *testing.F) {
	for _, one := range badOutlook() {
		if len(one.data) < 32<<10 {
			f.Add(one.data)
		}
	}
	f.Fuzz(func(t *testing.T, data string) {
		if len(data) < 64<<10 {
			mustEnd(t, "a.msg", data)
		}
	})
}

// addParts adds the small parts of a real file as seeds.
func addParts(f *testing.F, kind byte, name string) {
	archive, err := zip.OpenReader(name)
	if err != nil {
		return
	}
	defer archive.Close()
	for _, part := range archive.File {
		if ext := filepath.Ext(part.Name); part.UncompressedSize64 > 20_000 || ext != ".xml" && ext != ".opf" {
			continue
		}
		r, err := part.Open()
		if err != nil {
			continue
		}
		content, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err == nil {
			f.Add(kind, part.Name, string(content))
		}
	}
}

// mustEnd reads a file in this process. It must return a valid text or a failure with a message.
func mustEnd(t *testing.T, name, data string) {
	path := filepath.Join(t.TempDir(), "original")
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := extract.New(nil, nil).Extract(t.Context(), corpus.File{
		Path: path, Filename: name, Bytes: int64(len(data)), Members: t.TempDir(),
	}, nil)
	if err == nil {
		err = doctext.Check(x)
	} else if failure, ok := errors.AsType[*corpus.Failure](err); ok && failure.Detail != "" &&
		!strings.Contains(err.Error(), "panic:") {
		return
	}
	if err != nil {
		t.Errorf("%s fails with %v, want a sentence", name, err)
	}
}
