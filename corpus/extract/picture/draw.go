package picture

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"

	xdraw "golang.org/x/image/draw"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/text/locale"
)

const (
	maxDrawn = 16 << 20 // pixels of a rendered page; a longer one is rendered narrower than requested
	maxPNG   = 16 << 20 // bytes of a PNG; a page with a larger one is rendered narrower
)

// Render renders picture n of a file, from 1, upright and turned by f.Turn, at a width in pixels, as PNG. It fails
// with worker.NoPage for a page after the last, and with a *corpus.Failure for a picture that can't be decoded.
func (Reader) Render(ctx context.Context, f corpus.File, n, width int) ([]byte, error) {
	file, frames, err := open(f)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if n > len(frames) {
		return nil, &corpus.Failure{Code: worker.NoPage, Detail: locale.Say("This file has no image {1}.", n)}
	}
	img, err := decodeFrame(file, frames[n-1])
	if err != nil {
		return nil, err
	}
	w, h := sizeDrawn(frames[n-1], f.Turn, width)
	out, err := encode(drawPicture(img, frames[n-1].orientation, f.Turn, w, h), f.Grey)
	// Two thirds of each side are less than half of the pixels: photographs need one or two rounds.
	for err == nil && len(out) > maxPNG && w > 1 && h > 1 {
		w, h = w*2/3, h*2/3
		out, err = encode(drawPicture(img, frames[n-1].orientation, f.Turn, w, h), f.Grey)
	}
	if err != nil {
		return nil, err
	}
	return out, ctx.Err()
}

// sizeDrawn returns the rendered size for a width in pixels. It keeps the aspect ratio within maxDrawn pixels and a
// height of 65,536 pixels.
func sizeDrawn(fr frame, turn, width int) (w, h int) {
	pw, ph := fr.upright()
	if turn%2 != 0 {
		pw, ph = ph, pw
	}
	tall := float64(width) * float64(ph) / float64(pw)
	scale := min(1, math.Sqrt(maxDrawn/(float64(width)*tall)), (1<<16)/tall)
	return max(1, int(float64(width)*scale)), max(1, int(math.Round(tall*scale)))
}

// drawPicture renders a picture on white. w × h pixels is the size after it is upright and turned. It scales first,
// in the stored orientation, because turning a small picture is cheaper.
func drawPicture(img image.Image, orientation, turn, w, h int) *image.RGBA {
	side := turn%2 != 0
	if orientation >= 5 {
		side = !side
	}
	if side {
		w, h = h, w
	}
	var out *image.RGBA
	// Only shrinking needs the mean; enlarging interpolates between pixels.
	if b := img.Bounds(); w < b.Dx() || h < b.Dy() {
		out = shrink(img, w, h)
	} else {
		out = image.NewRGBA(image.Rect(0, 0, w, h))
		draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
		xdraw.ApproxBiLinear.Scale(out, out.Rect, img, img.Bounds(), xdraw.Over, nil)
	}
	mirrored, quarters := uprightBy(orientation)
	if mirrored {
		mirror(out)
	}
	for range (quarters + turn) & 3 {
		out = turned(out)
	}
	return out
}

// uprightBy returns the transformation for an Exif orientation: whether to mirror the picture horizontally, and then
// by how many quarters to turn it clockwise. The eight orientations are those of Exif 2.3, tag 274; 1 is upright.
func uprightBy(orientation int) (mirrored bool, quarters int) {
	switch orientation {
	case 2:
		return true, 0
	case 3:
		return false, 2
	case 4:
		return true, 2
	case 5:
		return true, 3
	case 6:
		return false, 1
	case 7:
		return true, 1
	case 8:
		return false, 3
	}
	return false, 0
}

// mirror flips a picture horizontally, in place.
func mirror(img *image.RGBA) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	for y := range h {
		row := img.Pix[y*img.Stride : y*img.Stride+4*w]
		for a, b := 0, 4*(w-1); a < b; a, b = a+4, b-4 {
			for c := range 4 {
				row[a+c], row[b+c] = row[b+c], row[a+c]
			}
		}
	}
}

// turned returns a picture turned clockwise by a quarter.
func turned(img *image.RGBA) *image.RGBA {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := image.NewRGBA(image.Rect(0, 0, h, w))
	for y := range h {
		from := img.Pix[y*img.Stride:]
		for x := range w {
			copy(out.Pix[x*out.Stride+4*(h-1-y):], from[4*x:4*x+4])
		}
	}
	return out
}

// shrink scales a picture down on white. Each pixel is the weighted mean of the source pixels it covers, which keeps
// thin strokes grey. Sampling would lose them, and OCR needs them. Only one row of the source is buffered.
func shrink(img image.Image, w, h int) *image.RGBA {
	b := img.Bounds()
	across, down := shares(b.Dx(), w), shares(b.Dy(), h)
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	sums := make([]float32, 3*w)
	row := image.NewRGBA(image.Rect(0, 0, b.Dx(), 1))
	drawnRow := -1
	for y, part := range down {
		clear(sums)
		for i := part.from; i < part.to; i++ {
			// A row that two target rows share in part is decoded once.
			if i != drawnRow {
				draw.Draw(row, row.Rect, image.White, image.Point{}, draw.Src)
				draw.Draw(row, row.Rect, img, image.Pt(b.Min.X, b.Min.Y+i), draw.Over)
				drawnRow = i
			}
			addRow(sums, row.Pix, across, part.share(i))
		}
		to := out.Pix[y*out.Stride:]
		for x := range w {
			for c := range 3 {
				to[4*x+c] = uint8(min(sums[3*x+c]+0.5, 255))
			}
			to[4*x+3] = 0xFF
		}
	}
	return out
}

// addRow adds a row of pixels to the sums of a target row, with the row's weight.
func addRow(sums []float32, pix []uint8, across []stretch, weight float32) {
	for x, part := range across {
		var r, g, b float32
		for i := part.from; i < part.to; i++ {
			share := part.share(i)
			r += share * float32(pix[4*i])
			g += share * float32(pix[4*i+1])
			b += share * float32(pix[4*i+2])
		}
		sums[3*x] += weight * r
		sums[3*x+1] += weight * g
		sums[3*x+2] += weight * b
	}
}

// stretch is the range of source pixels [from, to) of a target pixel in one direction. The first and the last count
// in part.
type stretch struct {
	from, to          int
	first, full, last float32 // weights, with the sum 1
}

// share returns the weight of pixel i.
func (s stretch) share(i int) float32 {
	switch i {
	case s.from:
		return s.first
	case s.to - 1:
		return s.last
	}
	return s.full
}

// shares divides n source pixels among drawn target ones. If drawn is larger than n, a target pixel takes the
// nearest source pixel. The weights of a target pixel add up to 1.
func shares(n, drawn int) []stretch {
	out := make([]stretch, drawn)
	step := float64(n) / float64(drawn)
	for i := range out {
		a, b := float64(i)*step, float64(i+1)*step
		// 1e-9 compensates rounding errors just above a whole number, which would add a pixel.
		s := stretch{from: int(a), to: min(int(math.Ceil(b-1e-9)), n)}
		s.to = max(s.to, s.from+1)
		if s.to-s.from == 1 {
			s.first, s.last = 1, 1
		} else {
			s.full = float32(1 / step)
			s.first = float32((float64(s.from+1) - a) / step)
			s.last = float32((b - float64(s.to-1)) / step)
		}
		out[i] = s
	}
	return out
}

// encode encodes a PNG. A picture without colours, or with withoutColours, is encoded as grey.
func encode(img *image.RGBA, withoutColours bool) ([]byte, error) {
	var out bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	var err error
	if grey := greyOf(img, withoutColours); grey != nil {
		err = enc.Encode(&out, grey)
	} else {
		err = enc.Encode(&out, img)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the picture: %w", err)
	}
	return out.Bytes(), nil
}

// greyOf converts a picture to grey; nil if it has colours and withoutColours is false.
func greyOf(img *image.RGBA, withoutColours bool) *image.Gray {
	grey := image.NewGray(img.Rect)
	for i := range grey.Pix {
		p := img.Pix[4*i : 4*i+4]
		if !withoutColours && (p[0] != p[1] || p[1] != p[2]) {
			return nil
		}
		grey.Pix[i] = color.GrayModel.Convert(color.RGBA{p[0], p[1], p[2], 0xFF}).(color.Gray).Y
	}
	return grey
}
