package pdf

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

const (
	maxPages   = 5000 // beyond any book: a larger file is a collection
	maxOutline = 5000 // bookmarks that are read
	maxDepth   = 8    // nesting depth of bookmarks
)

// extractDocument reads a whole document. It calls report, if not nil, after every ten pages. f.Read has the
// recognised text of pages that are pictures. Without it, such pages are returned as Scans, for the caller to run
// OCR and to call again. Headers and footers are dropped, except for a PDF that this server rendered from another
// file (f.Printed): its text must match that file's, which includes them. read reads the annotations.
func (m *module) extractDocument(
	f corpus.File, read *marks, report func(done, total int),
) (corpus.Extracted, error) {
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
		return corpus.Extracted{}, &corpus.Failure{Code: "too_many_pages", Detail: locale.Say(
			"This PDF's {1} pages exceed the limit of {2}. Split it and add the parts.",
			english.Digits(total), english.Digits(maxPages))}
	}
	pages := pages{m: m, doc: doc, read: f.Read, marks: read}
	xfa := false
	if pages.marks.form, xfa, err = m.openForm(doc); err != nil {
		return corpus.Extracted{}, err
	}
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
	for i := range pages.sheets {
		pages.sheets[i].addMarks()
	}
	outline, err := m.readOutline(doc)
	if err != nil {
		return corpus.Extracted{}, err
	}
	// Sizes are levelled before anything is compared by them. Running heads are found before paragraphs are joined
	// across pages, as they would separate them.
	levelSizes(pages.sheets)
	var left leftOut
	if !f.Printed {
		left.findRecurring(pages.sheets, total)
	}
	x := assembleText(pages.sheets, outline)
	x.Scans = scans
	pages.marks.countLeftOut(&left, xfa)
	left.note(&x)
	// With scans, or OCR results, the text may be empty: the caller decides.
	if x.Text == "" && len(scans) == 0 && len(f.Read) == 0 {
		return corpus.Extracted{}, noText
	}
	return x, m.readAbout(doc, &x)
}

var (
	noText = &corpus.Failure{Code: "no_text", Detail: "No text found in this PDF. Add one that contains text."}
	// noLetters is the reason to run OCR on a PDF whose fonts have no mapping to characters.
	noLetters = &corpus.Failure{Code: "no_text", Detail: "This PDF's fonts can't be mapped to characters."}
)

// whyUnreadable returns the reason why a document's text is useless, nil if it is usable. A document of three or
// more pages with fewer than four letters a page has only stamps or page numbers. If more than half of the
// characters are garbage, or fewer than a quarter are letters, the fonts have no usable mapping to characters.
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

// readOutline reads the bookmarks, each one once even in a cycle. Titles of more than 4096 bytes are dropped. An
// entry without a destination, which may run an action, has no page.
func (m *module) readOutline(doc uint64) ([]outlineEntry, error) {
	var entries []outlineEntry
	seen := map[uint64]bool{}
	var walk func(parent uint64, depth int) error
	walk = func(parent uint64, depth int) error {
		at, err := m.callFunction("FPDFBookmark_GetFirstChild", doc, parent)
		for ; err == nil && at != 0 && !seen[at] &&
			len(entries) < maxOutline; at, err = m.callFunction("FPDFBookmark_GetNextSibling", doc, at) {
			seen[at] = true
			// PDFium encodes text as UTF-16LE, and first returns its length in bytes.
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

// destination returns the position of a destination on its page, in PDF user space. Missing coordinates are NaN.
// FPDFDest_GetLocationInPage writes three flags and then three numbers: x, y and the zoom.
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

// readAbout reads title, author, subject, keywords and date. The title in the file's properties takes precedence
// over the detected one, unless it is a placeholder.
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
			// x.Title was detected by assembleText from its letters.
			x.Title = doctext.Title(value, cmp.Or(doctext.FirstHeading(*x), x.Title), x.Text)
		default:
			x.Meta[entry.key] = value
		}
	}
	return nil
}

// isoDate parses a PDF date D:20240131… and formats it as 2024-01-31. It returns "" for anything else. The format is
// in PDF 32000-1:2008 §7.9.4; only the day is kept.
func isoDate(s string) string {
	s = strings.TrimPrefix(s, "D:")
	if len(s) < 8 || strings.Trim(s[:8], "0123456789") != "" {
		return ""
	}
	return s[:4] + "-" + s[4:6] + "-" + s[6:8]
}

// explainFailure converts an error of PDFium to a user-facing failure, nil for an internal error.
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
				Code: "encrypted", Detail: "This PDF is password-protected. Save a copy without the password and add " +
					"the copy.",
			}
		}
		return broken
	}
	return nil
}

var (
	broken = &corpus.Failure{Code: "broken",
		Detail: "This PDF is damaged. Open it in a PDF viewer, save it again and add the new file."}
	outOfMemory = &corpus.Failure{Code: "memory",
		Detail: "This PDF exceeds the memory limit of 256 MB. Split it, or save it with smaller images, and add the " +
			"result."}
)
