package ocr_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/ocr"
	"github.com/footnote/footnote/corpus/extract/picture/picturetest"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
)

func TestBadPicturesFailWithMessage(t *testing.T) {
	small := picturetest.Noise(200, 100)
	asPNG, asJPG := picturetest.PNG(small), asJPEG(t, small)
	flipped := bytes.Clone(asPNG)
	flipped[len(flipped)/2] ^= 0xFF
	crc := bytes.Clone(asPNG)
	crc[29] ^= 0xFF
	arithmetic := bytes.Replace(asJPG, []byte{0xFF, 0xC0}, []byte{0xFF, 0xC9}, 1)
	many := make([]picturetest.Frame, 501)
	for i := range many {
		many[i].Picture = image.NewGray(image.Rect(0, 0, 16, 16))
	}
	one := picturetest.Frame{Picture: small}
	const png, jpg, tif, webp = "image/png", "image/jpeg", "image/tiff", "image/webp"
	reader, _ := newReader(t, &ocr.Tesseract{})
	for _, tt := range []struct {
		name, mime string
		file       []byte
		code, says string
	}{
		{"a PNG that ends after its signature", png, asPNG[:8], "broken", "damaged"},
		{"half a PNG", png, asPNG[:len(asPNG)/2], "broken", "damaged"},
		{"a PNG with a flipped bit", png, flipped, "broken", "damaged"},
		{"a PNG with a wrong checksum", png, crc, "broken", "damaged"},
		{"a PNG of no width", png, picturetest.Resized(asPNG, 0, 100), "broken", "damaged"},
		{"a PNG that says it is larger than it is", png, picturetest.Resized(asPNG, 2000, 2000), "broken", "damaged"},
		{"a PNG of 60,000 by 60,000", png, picturetest.Resized(asPNG, 60_000, 60_000), "too_large", "60,000 × 60,000"},
		{"a PNG of 2³¹ by 2³¹", png, picturetest.Resized(asPNG, 1<<31-1, 1<<31-1), "too_large", "Save it smaller"},
		{"a PNG of 1 by 65,535", png, picturetest.Resized(asPNG, 1, 65_535), "no_text", "too small"},
		{"half a JPEG", jpg, asJPG[:len(asJPG)/2], "broken", "damaged"},
		{"a JPEG that ends after its first marker", jpg, asJPG[:3], "broken", "damaged"},
		{"a JPEG of 65,535 by 65,535", jpg, picturetest.Resize(asJPG, 65_535, 65_535), "too_large", "65,535 × 65,535"},
		{"a JPEG of no height", jpg, picturetest.Resize(asJPG, 200, 0), "broken", "damaged"},
		{"a JPEG with arithmetic coding", jpg, arithmetic, "unsupported", "Save it as PNG or JPEG"},
		{"a JPEG of segments alone", jpg,
			append([]byte("\xff\xd8"), bytes.Repeat([]byte("\xff\xe1\x00\x02"), 1<<20)...),
			"broken", "damaged"},
		{"a TIFF without pictures", tif, []byte("II*\x00\x00\x00\x00\x00"), "broken", "damaged"},
		{"a TIFF whose directory is outside", tif, []byte("MM\x00*\x7f\xff\xff\xff"), "broken", "damaged"},
		{"a TIFF of 100,000 by 100,000", tif, picturetest.TIFF(0,
			picturetest.Frame{Picture: small, Width: 100_000, Height: 100_000}), "too_large", "100,000 × 100,000"},
		{"a TIFF whose pixels are missing", tif, picturetest.TIFF(0,
			picturetest.Frame{Picture: small, Width: 2000, Height: 2000}), "broken", "damaged"},
		{"a TIFF packed as JPEG", tif, picturetest.TIFF(0, picturetest.Frame{Picture: small, Compression: 7}),
			"unsupported", "Save it as PNG or JPEG"},
		{"a TIFF of 501 pictures", tif, picturetest.TIFF(0, many...), "too_many_pages", "500"},
		{"a TIFF with one picture that is too large", tif, picturetest.TIFF(0, one,
			picturetest.Frame{Picture: small, Width: 90_000, Height: 90_000}), "too_large", "90,000 × 90,000"},
		{"an animated WebP", webp, picturetest.WebP(2, 200, 100, "ANIM\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
			"unsupported", "Animated images are not supported."},
		{"a WebP that ends after its header", webp, picturetest.WebP(0, 200, 100, ""), "broken", "damaged"},
		{"a WebP with a chunk that is too long", webp, picturetest.WebP(0, 200, 100, "VP8 \xff\xff\xff\x7f"), "broken",
			"damaged"},
		{"a WebP of 16 million by 16 million", webp,
			picturetest.WebP(0, 1<<24, 1<<24, "VP8L\x05\x00\x00\x00\x2f\xff\xff\xff\x0f"), "broken", "damaged"},
		{"a HEIC", "image/heic", append([]byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00"), asJPG...), "unsupported",
			"Save it as JPEG"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := reader.Extract(t.Context(), store(t, tt.mime, tt.file), nil)
			f, ok := errors.AsType[*corpus.Failure](err)
			if !ok || f.Code != tt.code || !strings.Contains(f.Detail.String(), tt.says) ||
				!strings.HasSuffix(f.Detail.String(), ".") {
				t.Errorf("error = %v, want %s and a sentence with %q", err, tt.code, tt.says)
			}
		})
	}
	t.Run("a file over the picture limit", func(t *testing.T) {
		file := store(t, png, asPNG)
		if err := os.Truncate(file.Path, 101<<20); err != nil {
			t.Fatal(err)
		}
		_, err := reader.Extract(t.Context(), file, nil)
		if f, ok := errors.AsType[*corpus.Failure](err); !ok || f.Code != "too_large" {
			t.Errorf("error = %v, want too_large", err)
		}
	})
}

func TestCyclicPictureChainEnds(t *testing.T) {
	_, pool := newReader(t, &ocr.Tesseract{})
	frame := picturetest.Frame{Picture: picturetest.Noise(64, 48)}
	for last, want := range map[uint32]int{0: 2, 1: 2, 1 << 30: 2} { // it ends, is a cycle, points outside
		x, err := pool.Extract(t.Context(), store(t, "image/tiff", picturetest.TIFF(last, frame, frame)), nil)
		if err != nil || x.Pages != want || len(x.Scans) != want {
			t.Errorf("a chain that ends with %d: %v, %d pages, scans %v; want %d", last, err, x.Pages, x.Scans, want)
		}
	}
}

// TestPicturesAreRenderedUpright renders a picture of each kind in each orientation that its file can declare.
func TestPicturesAreRenderedUpright(t *testing.T) {
	_, pool := newReader(t, &ocr.Tesseract{})
	upright := picturetest.Corners(240, 160)
	for orientation := 1; orientation <= 8; orientation++ {
		stored := turnedBack(upright, orientation)
		grey := image.NewGray(stored.Bounds())
		for y := range grey.Rect.Dy() {
			for x := range grey.Rect.Dx() {
				grey.Set(x, y, stored.At(x, y))
			}
		}
		for name, file := range map[string]corpus.File{
			"JPEG": store(t, "image/jpeg", picturetest.WithExif(asJPEG(t, grey), uint16(orientation), 8)), // a cycle
			"TIFF": store(t, "image/tiff",
				picturetest.TIFF(0, picturetest.Frame{Picture: grey, Orientation: orientation})),
		} {
			t.Run(fmt.Sprintf("%s, orientation %d", name, orientation), func(t *testing.T) {
				for _, width := range []int{120, 240, 600} { // smaller, original, larger
					drawn, err := pool.Render(t.Context(), file, 1, width)
					if err != nil {
						t.Fatal(err)
					}
					img, err := png.Decode(bytes.NewReader(drawn))
					if err != nil {
						t.Fatal(err)
					}
					b := img.Bounds()
					if b.Dx() != width || b.Dy() != width*2/3 {
						t.Errorf("it is %v large, want %d × %d", b, width, width*2/3)
					}
					for i, at := range []image.Point{{1, 1}, {3, 1}, {3, 3}, {1, 3}} {
						got, _, _, _ := img.At(at.X*b.Dx()/4, at.Y*b.Dy()/4).RGBA()
						if want := []uint32{0, 80, 160, 255}[i]; got>>8 > want+8 || got>>8+8 < want {
							t.Errorf("%d wide, corner %d is %d, want %d", width, i, got>>8, want)
						}
					}
				}
			})
		}
	}
}

// TestLargestPicturesAreRendered renders pictures just within the limits, at the maximum size and turned. A worker
// that exceeds its memory limit would be ended.
func TestLargestPicturesAreRendered(t *testing.T) {
	pool := newPool(t, workertest.Plain(t))
	deep, wide := image.NewNRGBA64(image.Rect(0, 0, 4300, 4300)), image.NewRGBA(image.Rect(0, 0, 8600, 8600))
	for name, file := range map[string]corpus.File{
		"a PNG of four colours of 16 bits": store(t, "image/png", asPNG(t, deep)),
		"a JPEG with colours":              store(t, "image/jpeg", asJPEG(t, wide)),
	} {
		t.Run(name, func(t *testing.T) {
			file.Turn = 1
			drawn, err := pool.Render(t.Context(), file, 1, 4000)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := png.Decode(bytes.NewReader(drawn)); err != nil {
				t.Error(err)
			}
		})
	}
}
