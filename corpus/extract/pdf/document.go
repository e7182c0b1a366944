package pdf

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/text/english"
)

const (
	maxPages   = 5000 // beyond any book: a file of more is a collection
	maxOutline = 5000 // bookmarks that are read
	maxDepth   = 8    // how deep bookmarks may lie in each other
)

// extractDocument reads a whole document. report, if it is not nil, is called after every few pages. Pages whose
// pictures were read already come with f.Read. Without them, pages that are pictures come back as scans, for the caller
// to have them read and to call again. Headers and footers are dropped, but not of a PDF that was made here of another
// file (f.Printed): its text must fit that file's, which has them.
func (m *module) extractDocument(f corpus.File, report func(done, total int)) (corpus.Extracted, error) {
	doc, err := m.openFile(f.Path)
	if err != nil {
		return corpus.Extracted{}, err
	}
	total, err := m.callCount("FPDF_GetPageCount", doc)
	if err != nil {
		return corpus.Extracted{}, err
	}
	if total <= 0 {
		return corpus.Extracted{}, &openFailed{}
	}
	if total > maxPages {
		return corpus.Extracted{}, &corpus.Failure{Code: "too_many_pages", Detail: fmt.Sprintf(
			"This PDF has %s pages, more than the %s that can be read. Split it and add the parts.",
			english.Digits(total), english.Digits(maxPages))}
	}
	pages := pages{m: m, doc: doc, read: f.Read}
	for i := range total {
		if err := pages.readNext(i); err != nil {
			return corpus.Extracted{}, err
		}
		// Each report is a message between two processes.
		if report != nil && ((i+1)%10 == 0 || i+1 == total) {
			report(i+1, total)
		}
	}
	var scans []int
	if len(f.Read) == 0 {
		var failure *corpus.Failure
		if scans, failure = pages.scans(); failure != nil {
			return corpus.Extracted{}, failure
		}
	}
	outline, err := m.readOutline(doc)
	if err != nil {
		return corpus.Extracted{}, err
	}
	// Sizes are made even before anything is compared by them; running heads go before paragraphs are joined over
	// pages, as they would stand between.
	levelSizes(pages.sheets)
	if !f.Printed {
		dropRunning(pages.sheets, total)
		dropRepeated(pages.sheets, total)
	}
	x := assembleText(pages.sheets, outline)
	x.Scans = scans
	// Pages that are to be read as pictures, or were, may still have no text: the caller decides then.
	if x.Text == "" && len(scans) == 0 && len(f.Read) == 0 {
		return corpus.Extracted{}, noText
	}
	return x, m.readAbout(doc, &x)
}

var (
	noText = &corpus.Failure{Code: "no_text", Detail: "This PDF holds no text. Add one that does."}
	// noLetters is why a PDF is read as pictures whose fonts don't say which letters they show.
	noLetters = &corpus.Failure{Code: "no_text", Detail: "This PDF's fonts don't say which letters they show."}
)

// whyUnreadable returns why the text of a document is of no use, nil if it is. A document of three or more pages with
// less than four letters a page has only stamps or page numbers. Where more than half of the characters mean nothing,
// or less than a quarter are letters, the fonts hide what they show.
func whyUnreadable(sheets []sheet, pages, letters, garbage int) *corpus.Failure {
	visible := garbage
	for _, s := range sheets {
		for i := range s.lines {
			for _, w := range s.lines[i].words {
				visible += len([]rune(w.text))
			}
		}
	}
	switch {
	case letters == 0 || pages >= 3 && letters < 4*pages:
		return noText
	case garbage*2 > visible || letters*4 < visible:
		return noLetters
	}
	return nil
}

// readOutline reads the bookmarks, each one once even if they go round in circles. Titles of more than 4096 bytes are
// left out. An entry without a destination, which may run an action, leads nowhere.
func (m *module) readOutline(doc uint64) ([]outlineEntry, error) {
	var entries []outlineEntry
	seen := map[uint64]bool{}
	var walk func(parent uint64, depth int) error
	walk = func(parent uint64, depth int) error {
		at, err := m.callFunction("FPDFBookmark_GetFirstChild", doc, parent)
		for ; err == nil && at != 0 && !seen[at] &&
			len(entries) < maxOutline; at, err = m.callFunction("FPDFBookmark_GetNextSibling", doc, at) {
			seen[at] = true
			// PDFium gives texts as UTF-16LE, and says first how many bytes they take.
			title, err := m.readUTF16(4096, "FPDFBookmark_GetTitle", at)
			if err != nil {
				return err
			}
			dest, err := m.callFunction("FPDFBookmark_GetDest", doc, at)
			if err != nil {
				return err
			}
			entry := outlineEntry{title: doctext.Line(title), page: -1, depth: depth, x: math.NaN(), y: math.NaN()}
			if dest != 0 {
				if entry.page, err = m.callCount("FPDFDest_GetDestPageIndex", doc, dest); err != nil {
					return err
				}
				if entry.x, entry.y, err = m.destination(dest); err != nil {
					return err
				}
			}
			entries = append(entries, entry)
			if depth < maxDepth {
				if err := walk(at, depth+1); err != nil {
					return err
				}
			}
		}
		return err
	}
	return entries, walk(0, 1)
}

// destination returns where on its page a destination is, in the PDF's own measure. What it does not say is not a
// number. FPDFDest_GetLocationInPage writes three flags and then three numbers: x, y and the zoom.
func (m *module) destination(dest uint64) (x, y float64, err error) {
	at := uint64(m.scratch)
	found, err := m.callCount("FPDFDest_GetLocationInPage", dest, at, at+4, at+8, at+12, at+16, at+20)
	b, inside := m.mod.Memory().Read(m.scratch, 24)
	given := func(flag, value int) float64 {
		if found == 0 || !inside || binary.LittleEndian.Uint32(b[flag:]) == 0 {
			return math.NaN()
		}
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[value:])))
	}
	return given(0, 12), given(4, 16), err
}

// readAbout reads title, author, subject, keywords and date. The title of the file's properties goes before that of its
// letters, if somebody wrote it.
func (m *module) readAbout(doc uint64, x *corpus.Extracted) error {
	for _, entry := range []struct{ tag, key string }{
		{"Title", "title"}, {"Author", "author"}, {"Subject", "subject"}, {"Keywords", "keywords"},
		{"CreationDate", "date"},
	} {
		tag, err := m.copyString(entry.tag)
		if err != nil {
			return err
		}
		value, err := m.readUTF16(16<<10, "FPDF_GetMetaText", doc, uint64(tag))
		if err != nil {
			return err
		}
		value = doctext.Line(value)
		if entry.key == "date" {
			value = isoDate(value)
		}
		switch {
		case value == "":
		case entry.key == "title":
			// x.Title is the one that assembleText found by its letters.
			x.Title = doctext.Title(value, cmp.Or(doctext.FirstHeading(*x), x.Title), x.Text)
		default:
			x.Meta[entry.key] = value
		}
	}
	return nil
}

// isoDate turns a PDF's D:20240131… into 2024-01-31, anything else into nothing. PDF 32000-1:2008 §7.9.4 has the form;
// only the day is kept.
func isoDate(s string) string {
	s = strings.TrimPrefix(s, "D:")
	if len(s) < 8 || strings.Trim(s[:8], "0123456789") != "" {
		return ""
	}
	return s[:4] + "-" + s[4:6] + "-" + s[6:8]
}

// explainFailure turns what went wrong inside PDFium into a sentence for people; nil if it is our own mistake.
func explainFailure(err error) *corpus.Failure {
	if f, ok := errors.AsType[*corpus.Failure](err); ok {
		return f
	}
	if c, ok := errors.AsType[*crash](err); ok {
		if c.memory {
			return outOfMemory
		}
		return broken
	}
	if o, ok := errors.AsType[*openFailed](err); ok {
		if o.reason == errPassword || o.reason == errSecurity {
			return &corpus.Failure{
				Code: "encrypted", Detail: "This PDF needs a password. Save a copy without one and add that.",
			}
		}
		return broken
	}
	return nil
}

var (
	broken = &corpus.Failure{Code: "broken",
		Detail: "This PDF is damaged and can't be read. Open it in a PDF viewer, save it again and add the new file."}
	outOfMemory = &corpus.Failure{Code: "memory",
		Detail: "Reading this PDF takes more than 256 MB of memory. Split it, or save it with smaller pictures, and " +
			"add that."}
)
