// Package picture reads and draws files that are pictures: PNG, JPEG, WebP and TIFF. A picture is a page, and one of
// several pictures in a TIFF is one of its pages. A file's header is held to limits before anything is decoded. The
// package belongs into a worker process, which bounds time and memory of all the rest: see corpus/extract/worker.
//
// picture.go looks at a file and holds it to limits, kinds.go tells the kinds apart, jpeg.go and tiff.go read of a
// header what Go's decoders don't tell, read.go says which pages there are and draw.go draws them. Letters are
// recognised elsewhere: package ocr has the pages drawn here and comes back with what it read.
//
// Decoders allocate by what a header says. That is why its sizes are multiplied out before any of them is called, with
// the bytes that a pixel takes in each.
package picture

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"io"
	"os"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/english"
)

// The limits of a picture.
const (
	maxBytes  = 100 << 20 // of a file
	maxMemory = 224 << 20 // bytes that a picture takes while it is decoded
	minSide   = 16        // pixels
	maxPages  = 500       // pictures in one file
)

// kind is a kind of picture: how one of its files is looked at, and how a picture in it is decoded.
type kind struct {
	decode func(r io.Reader) (image.Image, error)
	// look finds the pictures in a file, without decoding them.
	look func(f *os.File, size int64) ([]frame, error)
}

// frame is a picture in a file. perPixel is an estimate from above, by which maxMemory is held.
type frame struct {
	kind          *kind
	width, height int   // in pixels, as they are stored
	orientation   int   // 1 to 8, as Exif counts them
	perPixel      int   // bytes of memory that a pixel takes while it is decoded
	at            int64 // where it begins, in a TIFF
}

// upright returns width and height of the picture as it is to be seen. Orientations 5 to 8 lie on their side.
func (f frame) upright() (width, height int) {
	if f.orientation >= 5 {
		return f.height, f.width
	}
	return f.width, f.height
}

// open looks at a file and returns the pictures in it, each within the limits. The caller closes the file. Nothing is
// decoded yet.
func open(file corpus.File) (*os.File, []frame, error) {
	f, err := os.Open(file.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("open the original: %w", err)
	}
	frames, err := lookAt(f)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, frames, nil
}

// lookAt finds the pictures in an open file and checks each. One that is too large or too small refuses the whole file.
func lookAt(f *os.File) ([]frame, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at the original: %w", err)
	}
	if info.Size() > maxBytes {
		return nil, &corpus.Failure{Code: "too_large", Detail: fmt.Sprintf(
			"This picture has %d MB, more than the %d MB that can be read. Save it smaller and add that.",
			info.Size()>>20, maxBytes>>20)}
	}
	head := make([]byte, 32)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the original: %w", err)
	}
	k := kindOf(head[:n])
	if k == nil {
		return nil, broken
	}
	frames, err := k.look(f, info.Size())
	if err != nil {
		return nil, err
	}
	if len(frames) == 0 {
		return nil, broken
	}
	if len(frames) > maxPages {
		return nil, &corpus.Failure{Code: "too_many_pages", Detail: fmt.Sprintf(
			"This file holds more than %d pictures. Split it and add the parts.", maxPages)}
	}
	for i := range frames {
		frames[i].kind = k
		if err := frames[i].check(); err != nil {
			return nil, err
		}
	}
	return frames, nil
}

// check holds the size of a picture to the limits. A side of 131,072 pixels or more is refused by itself, so that the
// product can't overflow.
func (f *frame) check() error {
	pixels, most := int64(f.width)*int64(f.height), int64(maxMemory/max(f.perPixel, 1))
	switch {
	case f.width <= 0 || f.height <= 0:
		return broken
	case f.width < minSide || f.height < minSide:
		return &corpus.Failure{Code: "no_text", Detail: fmt.Sprintf(
			"This picture has %s × %s pixels: it is too small to hold text.", english.Digits(f.width),
			english.Digits(f.height))}
	case f.width >= 1<<17 || f.height >= 1<<17 || pixels > most:
		return &corpus.Failure{Code: "too_large", Detail: fmt.Sprintf(
			"This picture has %s × %s pixels, more than the %d million that can be read of its kind. Save it smaller "+
				"and add that.", english.Digits(f.width), english.Digits(f.height), most/1e6)}
	}
	return nil
}

// decodeFrame decodes one picture. A picture whose size turns out to be another one than its header's is damaged.
func decodeFrame(f *os.File, fr frame) (image.Image, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read the original: %w", err)
	}
	var r io.Reader = bufio.NewReaderSize(f, 64<<10)
	if fr.at > 0 {
		r = &fromFrame{f: f, at: uint32(fr.at)}
	}
	img, err := fr.kind.decode(r)
	if err != nil {
		return nil, explainError(err)
	}
	if b := img.Bounds(); b.Dx() != fr.width || b.Dy() != fr.height {
		return nil, broken
	}
	return img, nil
}

// single makes the look of a kind whose files hold one picture. config is the decoder's function for headers; about
// adds what it doesn't tell.
func single(
	config func(r io.Reader) (image.Config, error), about func(f *os.File, fr *frame) error,
) func(f *os.File, size int64) ([]frame, error) {
	return func(f *os.File, _ int64) ([]frame, error) {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, fmt.Errorf("read the original: %w", err)
		}
		c, err := config(bufio.NewReader(f))
		if err != nil {
			return nil, explainError(err)
		}
		fr := frame{width: c.Width, height: c.Height, orientation: 1}
		if err := about(f, &fr); err != nil {
			return nil, err
		}
		return []frame{fr}, nil
	}
}
