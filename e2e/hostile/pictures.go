//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// The limits of docs/security.md for a page that can't be rendered. The first is twice the timeout of a page after
// its worker has started: on a new data directory PDFium is compiled before. The other is short since the failure
// is cached and no page is rendered.
const (
	mostOfPicture = 20 * time.Second
	mostOfRefusal = 500 * time.Millisecond // for a repeated request of the same image
)

// pictureCells add each hostile PDF and request its first page twice, while the bystander opens a page as well.
//
// A page must be rendered or refused, and a second request for a refused one must be refused at once. Another
// user's page must be rendered meanwhile, since a hostile page must not block the only worker.
func pictureCells() []cell {
	var cells []cell
	for _, f := range append(hostilePDFs(), hostileDrawings()...) {
		cells = append(cells, cell{name: strings.Replace(f.name, "PDF", "picture", 1), keys: true,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				content := f.make()
				r.input = int64(len(content))
				d, err := s.uploadFile(ctx, s.attack, f.file, content)
				if err != nil {
					return d.describeOutcome(), err
				}
				return s.openPictures(ctx, d, r, 1)
			}})
	}
	// Different widths are different images, so a cached one does not help the next.
	return append(cells, cell{name: "picture, 20,000 see-through layers, 20 widths at once", keys: true,
		act: func(ctx context.Context, s *site, r *result) (string, error) {
			content := layers()
			r.input = int64(len(content))
			d, err := s.uploadFile(ctx, s.attack, "layers.pdf", content)
			if err != nil {
				return d.describeOutcome(), err
			}
			return s.openPictures(ctx, d, r, 20)
		}})
}

// pageText is one line of text, so that the page has something to search for.
const pageText = "BT /F 12 Tf 72 700 Td (A page of text.) Tj ET "

// layers returns a page that needs little memory and minutes to render.
//
// Each of the 20,000 layers covers the page and is blended with those below it. A memory limit does not stop it;
// only a timeout does.
func layers() []byte {
	return onePage(deflatedStream("", pageText+strings.Repeat("/G gs /X Do ", 20_000)),
		"/ExtGState << /G << /ca 0.5 /BM /Multiply >> >> /XObject << /X 6 0 R >>",
		pdfStream("/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Group << /S /Transparency /I true >>",
			"1 0 0 rg 0 0 612 792 re f"))
}

// hostileDrawings are PDFs that are quick to parse: only rendering them is expensive. Their text is a line, and the
// rest is ignored by a text parser.
func hostileDrawings() []hostileFile {
	return []hostileFile{
		{"PDF, a note of forms in forms: 12 levels × 10 calls", "note.pdf", func() []byte {
			return annotated(12, 10)
		}},
		{"PDF, patterns in patterns: 8 levels × 100 tiles", "tiles.pdf", func() []byte {
			const levels = 8
			var more []string
			// Each pattern fills the page with about a hundred tiles of the next one.
			for level := range levels {
				draw, resources := "0 0 1 1 re f", ""
				if level < levels-1 {
					draw = "/Pattern cs /P scn 0 0 612 792 re f"
					resources = fmt.Sprintf("/Pattern << /P %d 0 R >>", 7+level)
				}
				more = append(more, pdfStream(fmt.Sprintf("/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 "+
					"/BBox [0 0 612 792] /XStep 61 /YStep 79 /Resources << %s >>", resources), draw))
			}
			return onePage(
				pdfStream("", pageText+"/Pattern cs /P scn 0 0 612 792 re f"), "/Pattern << /P 6 0 R >>", more...,
			)
		}},
		{"PDF, 20,000 see-through layers", "layers.pdf", layers},
		{"PDF, a line of four million curves", "curves.pdf", func() []byte {
			// Text extraction skips a path; rendering follows all its curves.
			return onePage(
				deflatedStream("", pageText+"0 0 m "+strings.Repeat("9 800 600 0 1 1 c ", 4_000_000)+"S"), "",
			)
		}},
	}
}

// annotated returns a page with text and an annotation whose appearance is nested forms.
//
// An annotation's appearance is rendered with the page but is not in the page's content. A check of the content
// alone would miss it.
func annotated(levels, calls int) []byte {
	more := []string{
		"<< /Type /Annot /Subtype /Stamp /Rect [0 0 612 792] /F 4 /AP << /N 7 0 R >> >>",
	}
	for level := range levels {
		draw, resources := "0 0 9 9 re f", ""
		if level < levels-1 {
			draw = strings.Repeat("/X Do ", calls)
			resources = fmt.Sprintf("/XObject << /X %d 0 R >>", 8+level)
		}
		more = append(more, pdfStream(
			"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << "+resources+" >>", draw,
		))
	}
	return pdfFile(append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [6 0 R] " +
			"/Resources << /Font << /F 5 0 R >> >> >>",
		pdfStream("", pageText), helvetica,
	}, more...))
}

// openPictures requests the first page of a document, in several widths concurrently, and opens all pages with it.
//
// It notes a problem if an image exceeds its time limit. A ready document must have its image or the error 422 with
// the code undrawable, whose text its page must show; one that is not ready has none, 404. The second response must
// be the same.
func (s *site) openPictures(ctx context.Context, d document, r *result, widths int) (string, error) {
	small, err := s.uploadFile(ctx, s.bystand, "small.pdf", onePage(pdfStream(
		"", "BT /F 12 Tf 72 700 Td (A small page.) Tj ET"), ""))
	if err != nil {
		return d.describeOutcome(), err
	}
	path := "/documents/" + d.ID + "/pages/1.png?width=1000"
	asked := make(chan error, widths)
	for more := 1; more < widths; more++ {
		// Each ends with its response, which is received below.
		go func() {
			_, err := s.getPath(ctx, s.attack, fmt.Sprintf("%s%d", path[:len(path)-2], 10+more), "application/json")
			asked <- err
		}()
	}
	go func() { // one worker renders for all
		asked <- s.wantPicture(ctx, s.bystand, small.ID)
	}()
	first, err := s.getPath(ctx, s.attack, path, "application/json")
	for range widths {
		err = errors.Join(err, <-asked)
	}
	if err != nil {
		return d.describeOutcome(), err
	}
	again, err := s.getPath(ctx, s.attack, path, "application/json")
	if err != nil {
		return d.describeOutcome(), err
	}
	if first.took > mostOfPicture || again.took > mostOfRefusal {
		r.noteProblem("the picture was answered after %v, then %v, want at most %v and %v",
			first.took, again.took, mostOfPicture, mostOfRefusal)
	}
	outcome := fmt.Sprintf("%s; picture %d in %d ms, again %d in %d ms", d.describeOutcome(), first.status,
		first.took.Milliseconds(), again.status, again.took.Milliseconds())
	if d.State != "ready" || first.status == http.StatusOK {
		return outcome, wantStatuses(first, again, map[bool]int{true: 200, false: 404}[d.State == "ready"])
	}
	var said struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	}
	if err := json.Unmarshal(first.body, &said); err != nil || said.Code != "undrawable" {
		r.noteProblem("the picture's failure is %s, want the code undrawable", clipBytes(first.body))
	}
	page, err := s.getPath(ctx, s.attack, "/d/"+d.ID, "text/html")
	if err != nil {
		return outcome, err
	}
	if said.Detail == "" || !strings.Contains(string(page.body), said.Detail) {
		r.noteProblem("the document's page does not say %q", said.Detail)
	}
	return outcome + ": " + said.Detail, wantStatuses(first, again, http.StatusUnprocessableEntity)
}

// wantStatuses returns an error unless both have the status.
func wantStatuses(first, again answer, want int) error {
	if first.status != want || again.status != want {
		return fmt.Errorf("the picture's status = %d, then %d, want %d: %s", first.status, again.status, want,
			clipBytes(first.body))
	}
	return nil
}

// wantPicture requests the first page of a small document of the bystander. It has the same time limit as the
// hostile one.
func (s *site) wantPicture(ctx context.Context, key, id string) error {
	got, err := s.getPath(ctx, key, "/documents/"+id+"/pages/1.png", "image/png")
	if err != nil {
		return fmt.Errorf("the bystander's page: %w", err)
	}
	if got.status != http.StatusOK || got.took > mostOfPicture {
		return fmt.Errorf("the bystander's page: status = %d after %v, want 200 after at most %v: %s", got.status,
			got.took, mostOfPicture, clipBytes(got.body))
	}
	return nil
}
