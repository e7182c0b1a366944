// Package picture reads and draws files that are pictures: PNG, JPEG, WebP and TIFF. A picture is a page, and one of
// several pictures in a TIFF is one of its pages. A file's header is held to limits before anything is decoded. The
// package belongs into a worker process, which bounds time and memory of all the rest: see corpus/extract/worker.
//
// picture.go tells the kinds apart and holds a file to limits, picture.go and tiff.go read of a header what Go's
// decoders don't tell, read.go says which pages there are and draw.go draws them. Letters are recognised elsewhere:
// package ocr has the pages drawn here and comes back with what it read.
//
// Decoders allocate by what a header says. That is why its sizes are multiplied out before any of them is called, with
// the bytes that a pixel takes in each.
package picture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"os"

	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

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

const (
	// A JPEG has a few dozen segments before its pixels; Exif data fit into one segment.
	maxMarkers = 2000 // of a JPEG that are looked at
	maxExif    = 64 << 10
)

// The markers of a JPEG.
const (
	// Their names in the standard (ITU-T T.81, table B.1) are SOS, EOI, APP1 and SOF2.
	jpegScan        = 0xDA
	jpegEnd         = 0xD9
	jpegApp1        = 0xE1
	jpegProgressive = 0xC2
)

// lookAtJPEG finds out how a photograph is turned, and how much memory a pixel of it takes. A damaged one is found out
// by the decoder. It goes from segment to segment, each of which has its length behind its marker. A progressive
// picture takes more, as all coefficients are kept until its last pass.
func lookAtJPEG(f *os.File, fr *frame) error {
	fr.perPixel = 3
	at := int64(2)
	head := make([]byte, 10)
	for range maxMarkers {
		if _, err := f.ReadAt(head[:4], at); err != nil {
			return atEnd(err)
		}
		marker, length := head[1], int64(binary.BigEndian.Uint16(head[2:]))
		switch {
		case head[0] != 0xFF:
			return nil
		case marker == 0xFF: // padding
			at++
			continue
		case marker == jpegScan || marker == jpegEnd || length < 2:
			return nil
		case marker == jpegProgressive:
			if _, err := f.ReadAt(head, at); err != nil {
				return atEnd(err)
			}
			fr.perPixel += 4 * int(head[9]) // of each colour, all coefficients of all passes
		case marker == jpegApp1:
			data := make([]byte, min(length-2, maxExif))
			if _, err := f.ReadAt(data, at+4); err != nil {
				return atEnd(err)
			}
			if len(data) > 6 && string(data[:6]) == "Exif\x00\x00" {
				fr.orientation = exifOrientation(data[6:])
			}
		}
		at += 2 + length
	}
	return nil
}

// atEnd leaves a file that ends too soon to the decoder.
func atEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// exifOrientation reads how a picture is turned from its Exif data, which are a TIFF without pixels. 1 is upright. The
// directory is that of the main picture, the first one.
func exifOrientation(data []byte) int {
	order, first := tiffOrder(data)
	if order == nil {
		return 1
	}
	entries, _ := readDirectory(bytesAt(data), order, first)
	return orientationOf(entries)
}

// orientationOf returns the orientation among a directory's entries, 1 where there is none.
func orientationOf(entries map[uint16]uint32) int {
	if o := entries[tagOrientation]; o >= 1 && o <= 8 {
		return int(o)
	}
	return 1
}

var (
	pngKind  = &kind{png.Decode, single(png.DecodeConfig, lookAtPNG)}
	jpegKind = &kind{jpeg.Decode, single(jpeg.DecodeConfig, lookAtJPEG)}
	webpKind = &kind{webp.Decode, single(webp.DecodeConfig, lookAtWebP)}
	tiffKind = &kind{tiff.Decode, lookAtTIFF}
)

// kindOf tells the kind of a file by its first 32 bytes.
func kindOf(head []byte) *kind {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return pngKind
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return jpegKind
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return webpKind
	case bytes.HasPrefix(head, []byte("II*\x00")), bytes.HasPrefix(head, []byte("MM\x00*")):
		return tiffKind
	}
	return nil
}

var (
	broken = &corpus.Failure{Code: "broken",
		Detail: "This picture is damaged and can't be read. Open it in a picture viewer, save it again and add the " +
			"new file."}
	unusual = &corpus.Failure{Code: "unsupported",
		Detail: "This picture is packed in a way that can't be read. Save it as PNG or JPEG and add that."}
	endless = &corpus.Failure{Code: "too_large",
		Detail: "This picture has more pixels than can be counted. Save it smaller and add that."}
	animated = &corpus.Failure{Code: "unsupported",
		Detail: "This picture is an animation. Save the picture of it that holds text as PNG or JPEG and add that."}
)

// explainError returns the failure of a picture that a decoder refused. A fault of the disk is no failure of the file.
// What the decoder doesn't know is told from what is damaged.
func explainError(err error) error {
	if _, ok := errors.AsType[*os.PathError](err); ok { // the disk, not the file
		return err
	}
	if _, ok := errors.AsType[jpeg.UnsupportedError](err); ok {
		return unusual
	}
	if u, ok := errors.AsType[png.UnsupportedError](err); ok {
		if u == "dimension overflow" {
			return endless
		}
		return unusual
	}
	if _, ok := errors.AsType[tiff.UnsupportedError](err); ok {
		return unusual
	}
	return broken
}

// lookAtPNG says how much memory a pixel takes: a PNG has no orientation that viewers heed.
func lookAtPNG(_ *os.File, fr *frame) error {
	fr.perPixel = 12 // 16 bits of four colours, and as much again for an interlaced one's parts
	return nil
}

// lookAtWebP refuses animations, whose first picture need not be the one that matters. Byte 20 has the flags of the
// extended form (RFC 9649 §2.7).
func lookAtWebP(f *os.File, fr *frame) error {
	head := make([]byte, 21)
	if _, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	const animation = 0x02
	if string(head[12:16]) == "VP8X" && head[20]&animation != 0 {
		return animated
	}
	fr.perPixel = 8 // of one without losses: its pixels, and its predictions
	return nil
}
