package pdf_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/corpus/extract/worker"
)

// drawPage renders a page and decodes the picture.
func drawPage(t *testing.T, r *worker.Pool, f corpus.File, n, width int) image.Image {
	t.Helper()
	data, err := r.Render(t.Context(), f, n, width)
	if err != nil {
		t.Fatalf("Render: %v, want no error", err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("decode the picture: %v, want no error", err)
	}
	return img
}

// dark returns the share of dark pixels of img inside, and whether there is any outside, of the boxes.
func dark(img image.Image, boxes []chat.Box) (inside []float64, outside int) {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	covered := make([]bool, w*h)
	for _, b := range boxes {
		n, all := 0, 0
		for y := int(b[2] * float64(h)); y < min(h, int(b[4]*float64(h))+1); y++ {
			for x := int(b[1] * float64(w)); x < min(w, int(b[3]*float64(w))+1); x++ {
				covered[y*w+x] = true
				all++
				if r, _, _, _ := img.At(x, y).RGBA(); r < 0x8000 {
					n++
				}
			}
		}
		inside = append(inside, float64(n)/float64(max(all, 1)))
	}
	for i, c := range covered {
		if r, _, _, _ := img.At(i%w, i/w).RGBA(); !c && r < 0x8000 {
			outside++
		}
	}
	return inside, outside
}

func TestWordBoxesLieOverTheWords(t *testing.T) {
	text := pdftest.Para(100, 600, "Words stand where their boxes are,", "in every turn of the page.") +
		pdftest.At(150, 500, 30, "B", "Large ones too") +
		pdftest.Para(100, 400, "Everything that the program keeps lies in one directory,") +
		pdftest.At(100, 386, 10, "C", "FOOTNOTE_DATA.")
	reader := newReader(t, nil)
	for _, turn := range []int{0, 90, 180, 270} {
		for _, crop := range []string{"", "40 100 500 700"} {
			t.Run(fmt.Sprintf("turned by %d, cut to %q", turn, crop), func(t *testing.T) {
				data := pdftest.Document("", pdftest.Sheet{Content: text, Rotate: turn, Crop: crop})
				x := mustExtract(t, reader, data)
				runes := []rune(x.Text)
				words, boxes := wordsOf(t, x)
				if len(boxes) != 25 {
					t.Fatalf("%d words, want 25: %q", len(boxes), words)
				}
				const joined = "Everything that the program keeps lies in one directory, FOOTNOTE_DATA."
				last := x.Blocks[len(x.Blocks)-1]
				if text := string(runes[last.Start:last.End]); last.Kind != corpus.BlockParagraph || text != joined {
					t.Errorf("the line of code is no part of its paragraph: %s %q", last.Kind, text)
				}
				img := drawPage(t, reader, pdftest.Write(t, data), 1, 1200)
				if got, want := img.Bounds().Dy()*1000/img.Bounds().Dx(),
					int(x.Sizes[0][1]*1000/x.Sizes[0][0]); got < want-5 || got > want+5 {
					t.Errorf("the picture is %v, the page %v", img.Bounds(), x.Sizes[0])
				}
				inside, outside := dark(img, boxes)
				for i, share := range inside {
					if share < 0.05 {
						t.Errorf("%.1f %% of the box %v of %q is dark", share*100, boxes[i], words[i])
					}
				}
				if outside > 60 {
					t.Errorf("%d dark pixels lie outside of all boxes, want at most 60", outside)
				}
			})
		}
	}
}

func TestRenderRefusesWhatItCannotDraw(t *testing.T) {
	reader := newReader(t, nil)
	file := pdftest.Write(t, pdftest.Document("", pdftest.Sheet{Content: pdftest.At(50, 700, 12, "F", "One page")}))
	for _, tt := range []struct {
		name     string
		n, width int
		code     chat.Code
	}{
		{"page 0", 0, 800, chat.CodeInvalid}, {"a page behind the last", 2, 800, chat.CodeNotFound},
		{"a narrow picture", 1, 99, chat.CodeInvalid}, {"a wide picture", 1, 4001, chat.CodeInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := reader.Render(t.Context(), file, tt.n, tt.width); err == nil || chat.CodeOf(err) != tt.code {
				t.Errorf("error = %v, want %s", err, tt.code)
			}
		})
	}
	if got := drawPage(t, reader, file, 1, 700).Bounds(); got != image.Rect(0, 0, 700, 933) {
		t.Errorf("the picture is %v, want 700 × 933 pixels", got)
	}
}
