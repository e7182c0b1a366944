// Package picture reads and renders files that are pictures: PNG, JPEG, WebP and TIFF. A picture is a page, and each
// of several pictures in a TIFF is one. A file's header is validated against limits before anything is decoded. The
// package is meant for a worker process, which limits time and memory of everything else: see corpus/extract/worker.
//
// picture.go detects the kind and enforces the limits, picture.go and tiff.go parse header fields that Go's decoders
// don't expose, read.go lists the pages and draw.go renders them. Text is recognised elsewhere: package ocr has the
// pages rendered here and returns the recognised text.
//
// Decoders allocate by the sizes in a header. That is why its sizes are multiplied by the bytes per pixel of the
// kind before a decoder is called.
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
	"github.com/footnote/footnote/text/locale"
)

// Limits of a picture.
const (
	maxBytes  = 100 << 20 // bytes of a file
	maxMemory = 224 << 20 // bytes that a picture takes while it is decoded
	minSide   = 16        // pixels
	maxPages  = 500       // pictures in one file
)

// kind is a picture format: how to inspect a file, and how to decode a picture in it.
type kind struct {
	decode func(r io.Reader) (image.Image, error)
	// look lists the pictures in a file without decoding them.
	look func(f *os.File, size int64) ([]frame, error)
}

// frame is a picture in a file. perPixel is an upper bound, for enforcing maxMemory.
type frame struct {
	kind          *kind
	width, height int   // in pixels, as stored
	orientation   int   // 1 to 8, in Exif's numbering
	perPixel      int   // bytes of memory per pixel while it is decoded
	at            int64 // offset of its directory in a TIFF
}

// upright returns the width and height of the upright picture. Orientations 5 to 8 are on their side.
func (f frame) upright() (width, height int) {
	if f.orientation >= 5 {
		return f.height, f.width
	}
	return f.width, f.height
}

// open opens a file and returns its pictures, each validated against the limits. The caller closes the file. It
// decodes nothing.
func open(file corpus.File) (*os.File, []frame, error) {
	f, err := os.Open(file.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("open the original: %w", err)
	}
	frames, err := inspect(f)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, frames, nil
}

// inspect lists and validates the pictures in an open file. One that is too large or too small fails the whole file.
func inspect(f *os.File) ([]frame, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at the original: %w", err)
	}
	if info.Size() > maxBytes {
		return nil, &corpus.Failure{Code: "too_large", Detail: locale.Say(
			"This image ({1} MB) exceeds the limit of {2} MB. Save it smaller and add the new file.",
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
		return nil, &corpus.Failure{Code: "too_many_pages", Detail: locale.Say(
			"This file exceeds the limit of {1} images. Split it and add the parts.", maxPages)}
	}
	for i := range frames {
		frames[i].kind = k
		if err := frames[i].check(); err != nil {
			return nil, err
		}
	}
	return frames, nil
}

// check validates the size of a picture. A side of 131,072 pixels or more is rejected separately, so that the
// product can't overflow.
func (f *frame) check() error {
	pixels, most := int64(f.width)*int64(f.height), int64(maxMemory/max(f.perPixel, 1))
	switch {
	case f.width <= 0 || f.height <= 0:
		return broken
	case f.width < minSide || f.height < minSide:
		return &corpus.Failure{Code: "no_text", Detail: locale.Say(
			"This image ({1} × {2} pixels) is too small to contain text.", english.Digits(f.width),
			english.Digits(f.height))}
	case f.width >= 1<<17 || f.height >= 1<<17 || pixels > most:
		return &corpus.Failure{Code: "too_large", Detail: locale.Say(
			"This image ({1} × {2} pixels) exceeds the limit of {3} million pixels for its type. Save it smaller and "+
				"add the new file.",
			english.Digits(f.width),
			english.Digits(f.height),
			most/1e6,
		)}
	}
	return nil
}

// decodeFrame decodes one picture. It fails if the decoded size differs from the header's.
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

// single returns the look function of a format with one picture per file. config decodes the header; about adds the
// remaining fields.
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
	maxMarkers = 2000 // segments of a JPEG that are inspected
	maxExif    = 64 << 10
)

// Markers of a JPEG.
const (
	// Their names in the standard (ITU-T T.81, table B.1) are SOS, EOI, APP1 and SOF2.
	jpegScan        = 0xDA
	jpegEnd         = 0xD9
	jpegApp1        = 0xE1
	jpegProgressive = 0xC2
)

// inspectJPEG reads the orientation of a photograph, and estimates its memory per pixel. It skips from segment to
// segment, each with its length after its marker. A progressive picture takes more, as all coefficients are kept
// until its last pass. Damage is left to the decoder.
func inspectJPEG(f *os.File, fr *frame) error {
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
			fr.perPixel += 4 * int(head[9]) // all coefficients of each colour, for all passes
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

// atEnd ignores the end of the file, so that the decoder reports a truncated one.
func atEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// exifOrientation parses the orientation in Exif data, which are a TIFF without pixels. 1 is upright. It reads the
// first directory, that of the main picture.
func exifOrientation(data []byte) int {
	order, first := tiffOrder(data)
	if order == nil {
		return 1
	}
	entries, _ := readDirectory(bytesAt(data), order, first)
	return orientationOf(entries)
}

// orientationOf returns the orientation among a directory's entries, 1 by default.
func orientationOf(entries map[uint16]uint32) int {
	if o := entries[tagOrientation]; o >= 1 && o <= 8 {
		return int(o)
	}
	return 1
}

var (
	pngKind  = &kind{png.Decode, single(png.DecodeConfig, inspectPNG)}
	jpegKind = &kind{jpeg.Decode, single(jpeg.DecodeConfig, inspectJPEG)}
	webpKind = &kind{webp.Decode, single(webp.DecodeConfig, inspectWebP)}
	tiffKind = &kind{tiff.Decode, inspectTIFF}
)

// kindOf detects the kind of a file by its first 32 bytes.
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
		Detail: "This image is damaged. Open it in an image viewer, save it again and add the new file."}
	unusual = &corpus.Failure{Code: "unsupported",
		Detail: "This image's encoding is not supported. Save it as PNG or JPEG and add the new file."}
	endless = &corpus.Failure{Code: "too_large",
		Detail: "This image has too many pixels. Save it smaller and add the new file."}
	animated = &corpus.Failure{Code: "unsupported",
		Detail: "Animated images are not supported. Save the frame that contains text as PNG or JPEG and add it."}
)

// explainError converts a decoder's error to a failure. It distinguishes unsupported from damaged pictures. I/O
// errors are returned unchanged.
func explainError(err error) error {
	if _, ok := errors.AsType[*os.PathError](err); ok { // an I/O error, not the file
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

// inspectPNG sets the memory per pixel. Viewers ignore the orientation of a PNG.
func inspectPNG(_ *os.File, fr *frame) error {
	fr.perPixel = 12 // 16 bits of four colours, and half as much again for the parts of an interlaced one
	return nil
}

// inspectWebP rejects animations, whose first picture need not be the relevant one. Byte 20 has the flags of the
// extended form (RFC 9649 §2.7).
func inspectWebP(f *os.File, fr *frame) error {
	head := make([]byte, 21)
	if _, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	const animation = 0x02
	if string(head[12:16]) == "VP8X" && head[20]&animation != 0 {
		return animated
	}
	fr.perPixel = 8 // for a lossless one: its pixels, and its predictions
	return nil
}
