package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/text/locale"
)

const (
	// The pixels are in PDFium's memory, four bytes each, together with the document.
	maxPixels  = 32 << 20 // per image; an extremely long page is rendered narrower than requested
	maxPicture = 16 << 20 // bytes of a PNG; a page with a larger one is rendered narrower
)

// Flags of FPDF_RenderPageBitmap.
const (
	drawAnnotations = 0x01
	drawRGB         = 0x10
)

// drawn keeps the document of the last rendered page open, because the next page is likely of the same. Its zero
// value holds none.
type drawn struct {
	m    *module
	doc  uint64
	path string
	info os.FileInfo
}

// close closes the instance of PDFium with its document. On the zero value it does nothing.
func (d *drawn) close() error {
	if d.m == nil {
		return nil
	}
	err := d.m.close()
	*d = drawn{}
	return err
}

// isSame reports whether the open document is that file, unchanged.
func (d *drawn) isSame(path string, info os.FileInfo) bool {
	return d.m != nil && d.path == path && d.info.Size() == info.Size() && d.info.ModTime().Equal(info.ModTime())
}

// renderPage renders page n of f, from 1, at a width in pixels. The height follows from the page's aspect ratio;
// f.Turn turns it clockwise by quarters. If the PNG exceeds maxPicture, both sides are reduced to two thirds until
// it fits.
func (m *module) renderPage(doc uint64, f corpus.File, n, width int) ([]byte, error) {
	total, err := m.callCount("FPDF_GetPageCount", doc)
	if err != nil {
		return nil, err
	}
	if n > total {
		return nil, &corpus.Failure{
			Code: worker.NoPage, Detail: locale.Say("This PDF has no page {1}. The last page is {2}.", n, total),
		}
	}
	pg, err := m.callFunction("FPDF_LoadPage", doc, uint64(n-1))
	if err != nil {
		return nil, err
	}
	if pg == 0 {
		return nil, broken
	}
	g, err := m.readGeometry(pg)
	if err != nil {
		return nil, errors.Join(broken, err)
	}
	if f.Turn%2 != 0 {
		g.width, g.height = g.height, g.width
	}
	w := width
	h := max(1, int(math.Round(float64(width)*g.height/g.width)))
	// The aspect ratio stays: both sides shrink by the same factor.
	if w*h > maxPixels || h > 1<<16 {
		scale := min(math.Sqrt(maxPixels/(float64(w)*float64(h))), float64(1<<16)/float64(h))
		w, h = max(1, int(float64(w)*scale)), max(1, int(float64(h)*scale))
	}
	picture, err := m.drawPage(pg, f, w, h)
	for err == nil && len(picture) > maxPicture && w > 1 && h > 1 {
		w, h = w*2/3, h*2/3
		picture, err = m.drawPage(pg, f, w, h)
	}
	if err != nil {
		return nil, err
	}
	if _, err := m.callFunction("FPDF_ClosePage", pg); err != nil {
		return nil, err
	}
	return picture, nil
}

// drawPage renders a page of f as PNG. The background is white, since PDFs have none. drawRGB makes PDFium write
// red, green, blue instead of the reverse order.
func (m *module) drawPage(pg uint64, f corpus.File, w, h int) ([]byte, error) {
	bitmap, err := m.callFunction("FPDFBitmap_Create", uint64(w), uint64(h), 0)
	if err != nil {
		return nil, err
	}
	if bitmap == 0 {
		return nil, &crash{memory: true, err: fmt.Errorf("no memory for %d × %d pixels", w, h)}
	}
	if _, err = m.callFunction("FPDFBitmap_FillRect", bitmap, 0, 0, uint64(w), uint64(h), 0xFFFFFFFF); err != nil {
		return nil, err
	}
	if _, err = m.callFunction(
		"FPDF_RenderPageBitmap", bitmap, pg, 0, 0, uint64(w), uint64(h), uint64(f.Turn&3),
		drawAnnotations|drawRGB,
	); err != nil {
		return nil, err
	}
	stride, err := m.callCount("FPDFBitmap_GetStride", bitmap)
	if err != nil {
		return nil, err
	}
	at, err := m.callFunction("FPDFBitmap_GetBuffer", bitmap)
	if err != nil {
		return nil, err
	}
	pix, ok := m.mod.Memory().Read(uint32(at), uint32(stride*h))
	if !ok {
		return nil, errors.New("PDFium returned an address outside its memory")
	}
	var out bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	// before the next call of PDFium, whose memory holds the pixels
	if err := enc.Encode(&out, makePicture(pix, stride, w, h, f.Grey)); err != nil {
		return nil, fmt.Errorf("encode the picture: %w", err)
	}
	_, err = m.callFunction("FPDFBitmap_Destroy", bitmap)
	return out.Bytes(), err
}

// makePicture converts pixels to an image. A page without colours, as most are, becomes a grey image with a quarter
// of the bytes. withoutColours converts any page. An image with colours shares PDFium's memory. The weights of grey
// are those of Go's color.GrayModel, ITU-R BT.601 in 16 bits.
func makePicture(pix []byte, stride, w, h int, withoutColours bool) image.Image {
	grey := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		row, out := pix[y*stride:y*stride+4*w], grey.Pix[y*w:(y+1)*w]
		for x := range out {
			r, g, b := row[4*x], row[4*x+1], row[4*x+2]
			if withoutColours {
				r = uint8((19595*uint32(r) + 38470*uint32(g) + 7471*uint32(b) + 1<<15) >> 16) // as color.GrayModel
			} else if r != g || g != b {
				return colourPicture(pix, stride, w, h)
			}
			out[x] = r
		}
	}
	return grey
}

// colourPicture returns an image of the pixels without copying them. It sets the fourth byte, which is the opacity
// and which PDFium leaves undefined.
func colourPicture(pix []byte, stride, w, h int) image.Image {
	for y := range h {
		row := pix[y*stride : y*stride+4*w]
		for x := 3; x < len(row); x += 4 {
			row[x] = 0xFF
		}
	}
	return &image.NRGBA{Pix: pix, Stride: stride, Rect: image.Rect(0, 0, w, h)}
}
